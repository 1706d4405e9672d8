"""JSON with comments: what is put looks like its neighbours, and what cannot be read is told with its line."""

import re

import pytest

from panorama.cli.clients import jsonc


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "s": {\n    "p": 1\n  }\n}\n'),
        ("// mine\n", '// mine\n{\n  "s": {\n    "p": 1\n  }\n}\n'),
        ("{}", '{\n  "s": {\n    "p": 1\n  }\n}'),
        ('{"a":2}', '{"a":2,"s":{"p":1}}'),
        ('{"a": 2}', '{"a": 2, "s": {"p": 1}}'),
        ('{"s": {}}\n', '{"s": {"p": 1}}\n'),
        ('{"s": {"a": 2,},}', '{"s": {"a": 2, "p": 1,},}'),
        ('{\n\t"s": {}\n}', '{\n\t"s": {\n\t\t"p": 1\n\t}\n}'),
        ('{\n   "s": {\n   }\n}', '{\n   "s": {\n      "p": 1\n   }\n}'),
        ('{\n  "s": {\n    // none yet\n  }\n}', '{\n  "s": {\n    // none yet\n    "p": 1\n  }\n}'),
        ('{\n  "s": {\n    "a": 2 // two\n  }\n}', '{\n  "s": {\n    "a": 2, // two\n    "p": 1\n  }\n}'),
        ('{\n  "s": {\n    "a": 2, // two\n  },\n}', '{\n  "s": {\n    "a": 2, // two\n    "p": 1,\n  },\n}'),
        ('{\r\n  "s": {\r\n    "a": 2\r\n  }\r\n}', '{\r\n  "s": {\r\n    "a": 2,\r\n    "p": 1\r\n  }\r\n}'),
        ('{\n  "s": {\n    "p": 3, // c\n    "a": 2\n  }\n}', '{\n  "s": {\n    "p": 1, // c\n    "a": 2\n  }\n}'),
        ('{"s": {"p": 2}, "s": {"p": 3}}', '{"s": {"p": 2}, "s": {"p": 1}}'),
    ],
)  # fmt: skip
def test_what_is_put_looks_like_its_neighbours(before: str, after: str) -> None:
    assert jsonc.set_value(before, ("s", "p"), 1) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"s": {"p": 1}}', '{"s": {}}'),
        ('{"s": {"p": 1, "a": 2}}', '{"s": {"a": 2}}'),
        ('{"s": {"a": 2, "p": 1}}', '{"s": {"a": 2}}'),
        ('{"s": {"a": 2, "p": 1,}}', '{"s": {"a": 2, }}'),
        ('{"s": {"p": 1, "a": 2, "p": 3}}', '{"s": {"a": 2}}'),
        ('{\n  "s": {\n    "p": 1,\n    "a": 2\n  }\n}', '{\n  "s": {\n    "a": 2\n  }\n}'),
        ('{\n  "s": {\n    "a": 2, // two\n    "p": 1\n  }\n}', '{\n  "s": {\n    "a": 2 // two\n  }\n}'),
        ('{\n  "s": {\n    // a\n    "p": 1, // b\n  }\n}', '{\n  "s": {\n    // a\n    // b\n  }\n}'),
        ('{\n  "s": {\n    "a": 2, // c\n    "p": 1, "b": 3\n  }}', '{\n  "s": {\n    "a": 2, // c\n    "b": 3\n  }}'),
        ('{\r\n  "s": {\r\n    "a": 2,\r\n    "p": 1\r\n  }\r\n}', '{\r\n  "s": {\r\n    "a": 2\r\n  }\r\n}'),
        ('{"s": {"a": 2}}', '{"s": {"a": 2}}'),
        ("", ""),
    ],
)  # fmt: skip
def test_what_is_taken_out_leaves_no_gap(before: str, after: str) -> None:
    assert jsonc.delete_value(before, ("s", "p")) == after


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "line 3: “,” or “}” is expected here"),
        ('{\n  "a" 1\n}', "line 2: “:” is expected here"),
        ('{\n  "a": ,\n}', "line 2: a value is expected here"),
        ('{"a": 1,,}', "line 1: a key in quotes is expected here"),
        ('{"a": [1, 2}', "line 1: “,” or “]” is expected here"),
        ('{\n  "a": 1\n', "line 2: “,” or “}” is expected here"),
        ('{\n}\n{}', "line 3: the end of the file is expected here"),
        ("{\n  a: 1\n}", "line 2: 'a: 1\\n}' cannot be read"),
        ('{"a": "x\ny"}', "line 1: "),
        ('{"a": 01}', "line 1: “,” or “}” is expected here"),
        ('{"a": NaN}', "line 1: 'NaN}' cannot be read"),
        ("{ /* ", "line 1: '/* ' cannot be read"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_with_its_line(text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=re.escape(expected)):
        jsonc.parse(text)


@pytest.mark.parametrize("text", ['{"a": 1} // two', '{"a": 1,}', '{"a": [1,]}', "/* */ {}"])
def test_strictly_read_there_are_no_comments_and_no_spare_commas(text: str) -> None:
    jsonc.parse(text)

    with pytest.raises(ValueError, match="line 1"):
        jsonc.parse(text, strict=True)


@pytest.mark.parametrize("text", ["[]", "7", '{\n  "s": []\n}', '{"s": null}'])
def test_nothing_is_put_into_what_is_no_object(text: str) -> None:
    with pytest.raises(ValueError, match="object"):
        jsonc.set_value(text, ("s", "p"), 1)
