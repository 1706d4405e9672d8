"""Attacks by texts that say one thing and hold another: what a script leaves is told as it is, and ends in peace."""

import json

import pytest

from panorama.sdk.core.encode import encode_arguments, exact_str
from panorama.sdk.core.rows import Row
from tests.sandbox.runs import Host, Runs, limits, nothing_is_left, runs

__all__ = ["nothing_is_left", "runs"]

LIAR = """
import enum
class Lie(str):
    def __format__(self, spec): raise ValueError("lied")
    def __getitem__(self, key): return "x" * 500_000
    def __len__(self): return 0
    def __str__(self): return self
    def __repr__(self): return self
    def __eq__(self, other): return True
    def __hash__(self): return 1
    def encode(self, *how): return b""
    def startswith(self, *what): return False
class Says:
    def __init__(self, text): self.text = text
    def __str__(self): return Lie(self.text)
    __repr__ = __str__
class Failing(Exception, enum.Enum): pass
"""


class Lie(str):
    """A text whose own methods tell something else."""

    __slots__ = ()

    def __str__(self) -> str:
        return self

    def __getitem__(self, key: object) -> str:
        return "lied"

    def encode(self, *_: object) -> bytes:
        """Return nothing."""
        return b""


class Says:
    """What is written as a `Lie`."""

    def __str__(self) -> str:
        return Lie("true")


def test_in_plain_python_str_gives_what_a_class_makes_of_it() -> None:
    assert type(str(Says())) is Lie
    assert str(Says())[:200] == "lied"


@pytest.mark.parametrize("value", ["true", Lie("true"), Says()])
def test_exact_gives_a_text_of_pythons_own(value: object) -> None:
    text = exact_str(value)

    assert type(text) is str
    assert text[:200] == "true"


@pytest.mark.parametrize(
    "value", [Lie("true"), [Lie("true")], {"k": Lie("true")}, {Lie("true"): 1}, Row(id=Lie("true"))]
)
def test_arguments_are_sent_as_texts_of_pythons_own(value: object) -> None:
    sent = encode_arguments({"value": value})["value"]

    texts = [*sent, *(sent.values() if isinstance(sent, dict) else ())] if isinstance(sent, list | dict) else [sent]
    assert [type(text) for text in texts if isinstance(text, str)] == [str] * len([t for t in texts if t != 1])


def test_the_name_of_an_enumeration_must_be_a_text_of_pythons_own(runs: Runs) -> None:
    for name in ("Says('X')", "Lie('X')", "3"):
        failure = runs.failure(f"{LIAR}Failing({name}, 'A')")

        assert failure.message == "TypeError: the name of an enumeration must be a string"


@pytest.mark.parametrize("raised", ["raise E.A", "raise ValueError('x') from E.A"])
def test_an_error_whose_class_would_lie_about_its_name_ends_in_peace(runs: Runs, raised: str) -> None:
    name = "class Name(str):\n    def __format__(self, spec): raise ValueError('lied')\n"
    says = "class Named:\n    def __str__(self): return Name('X')\n"

    failure = runs.failure(
        f"import enum\n{name}{says}class B(Exception, enum.Enum): pass\nE = B(Named(), 'A')\n{raised}"
    )

    assert failure.reason == "raised"


@pytest.mark.parametrize(
    "text",
    ["raise Exception(Says('true'))", "raise sdk.SdkError(Lie('true'))", "raise sdk.SdkError('true', hint=Lie('h'))",
     "class E(Exception):\n    def __str__(self): return Lie('true')\nraise E()",
     "raise ValueError('true') from Exception(Says('x'))",
     "raise NameError(Lie('true'), name=Lie('y'))",
     "raise AttributeError(Lie('true'), name=Lie('y'), obj=Lie('z'))"],
)  # fmt: skip
def test_what_an_error_says_is_told_as_it_is(runs: Runs, text: str) -> None:
    failure = runs.failure(LIAR + text)

    assert failure.reason == "raised"
    assert "true" in failure.message
    assert len(failure.message) < 100


@pytest.mark.parametrize("message", ["Says('true')", "Lie('true')"])
def test_a_report_of_progress_is_told_as_it_is(runs: Runs, message: str) -> None:
    host = Host()

    assert runs.result(f"{LIAR}sdk.progress(1, 2, {message})\nreturn 1", host=host) == 1
    assert host.reports == [(1.0, 2.0, "true")]


@pytest.mark.parametrize("key", ["Says('true')", "Lie('true')"])
def test_a_key_of_the_state_is_kept_as_it_is(runs: Runs, key: str) -> None:
    ending = runs(f"{LIAR}sdk.state[{key}] = {key}\nreturn 1")

    assert ending.failure is None, ending.failure
    kept = json.loads(ending.state)["set"]
    assert [*kept] == ["true"]


@pytest.mark.parametrize("key", ["Says('a' * 300_000)", "Lie('a' * 300_000)"])
def test_the_state_is_as_large_as_it_is(runs: Runs, key: str) -> None:
    failure = runs.failure(f"{LIAR}sdk.state[{key}] = 1", limits=limits(state_bytes=200_000))

    assert failure.reason == "state_size"


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("Lie('true')", "true"),
        ("[Lie('true')]", ["true"]),
        ("{Lie('true'): Lie('true')}", {"true": "true"}),
        ("{Says('true'): 1.5}", {"true": 1.5}),
        ("{(Lie('true'), Says('too')): 1}", {"true, too": 1}),
    ],
)
def test_a_result_and_its_shape_are_told_as_they_are(runs: Runs, result: str, expected: object) -> None:
    ending = runs(f"{LIAR}return {result}")

    assert ending.failure is None, ending.failure
    assert json.loads(ending.result) == expected
    assert len(ending.shape) < 200


def test_what_is_printed_is_told_as_it_is(runs: Runs) -> None:
    assert runs(f"{LIAR}print(Lie('true'))\nprint(Says('true'), Lie('too'))").output == "true\ntrue too\n"


def test_what_a_call_is_given_arrives_as_it_is(runs: Runs) -> None:
    host = Host()

    runs(f"{LIAR}sdk.items.get(Lie('true'))\nsdk.tasks.update(sdk.Row(id=Lie('t_1')), title=Lie('true'))", host=host)

    assert [dict(arguments) for _, arguments in host.asked] == [{"item": "true"}, {"task": "t_1", "title": "true"}]


def test_no_more_calls_are_under_way_than_places_because_a_number_lies(runs: Runs) -> None:
    number = """
class N:
    asked = 0
    def __ge__(self, other): return True
    def __gt__(self, other):
        N.asked += 1
        return N.asked > 1
"""

    result = runs.result(f"{number}return len(sdk.parallel([lambda: sdk.items.get('x')] * 30, at_most=N()))")

    assert result == 30
