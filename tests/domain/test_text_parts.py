"""Parts of long texts: where they are cut costs little, whatever the text."""

import zlib

import pytest

from panorama.domain.text.tokens import MAX_CUT_LOOKS, PART_CHARS, iter_parts


@pytest.mark.parametrize("line", ["\n", "# h\n", "\r\n", "- [ ] tea\n"], ids=repr)
def test_a_text_of_short_lines_is_cut_after_few_looks(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[bytes] = []
    real = zlib.crc32

    def counted(content: bytes) -> int:
        looks.append(content)
        return real(content)

    monkeypatch.setattr(zlib, "crc32", counted)
    text = line * (10 * PART_CHARS // len(line))

    parts = list(iter_parts(text))

    assert "".join(parts) == text
    assert len(looks) <= MAX_CUT_LOOKS * len(parts)
