"""Attacks by errors of encoding, whose text tells a byte of the memory before a value, if they may be made freely.

Where Python has mended that (python/cpython#123378), it does not in plain Python either.
"""

import pytest

from tests.sandbox.running import ran

_CAUGHT = "import copy\ntry: b'\\xff'.decode()\nexcept UnicodeDecodeError as e:\n    "
_FAR = "'utf-8', b'x', -5, -4, 'r'"

MADE = {
    "made": f"return str(UnicodeDecodeError({_FAR}))",
    "made of a class that derives": f"class U(UnicodeDecodeError): pass\nreturn str(U({_FAR}))",
    "made of the class of one that was caught": f"{_CAUGHT}return str(type(e)({_FAR}))",
    "made by its class's own name for it": f"{_CAUGHT}return str(e.__class__({_FAR}))",
    "copied, its arguments changed": f"{_CAUGHT}Exception.__init__(e, {_FAR})\n    return str(copy.copy(e))",
    "copied deeply": f"{_CAUGHT}UnicodeError.__init__(e, {_FAR})\n    return str(copy.deepcopy(e))",
    "changed": f"{_CAUGHT}e.start, e.end = -5, -4\n    return str(e)",
    "begun anew": f"{_CAUGHT}e.__init__({_FAR})\n    return str(e)",
}


@pytest.mark.parametrize("source", MADE.values(), ids=MADE.keys())
def test_no_error_of_encoding_tells_what_lies_before_a_value(source: str) -> None:
    try:
        told = ran(source)
    except AttributeError:
        told = ""

    assert "position -5" not in told


def test_errors_of_encoding_are_caught_and_told_as_ever() -> None:
    assert ran(f"{_CAUGHT}return [e.start, e.reason, isinstance(e, UnicodeError), type(e) is UnicodeError]") == [
        0, "invalid start byte", True, True,
    ]  # fmt: skip
    assert ran(f"{_CAUGHT}return str(e)").startswith("'utf-8' codec can't decode byte 0xff in position 0")
    assert ran("try: '\\ud800'.encode()\nexcept UnicodeEncodeError as e: return repr(e)").startswith("UnicodeEncode")
