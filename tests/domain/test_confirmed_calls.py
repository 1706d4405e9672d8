"""Which calls of a script confirm for the user, as its text shows."""

import pytest

from panorama.domain.scripts.confirmed_calls import list_confirmed_calls


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sdk.undo(confirm=True)", ["line 1: sdk.undo(confirm=True)"]),
        ("x = 1\nsdk.items.delete(p,\n  confirm=yes)", ["line 2: sdk.items.delete(p, confirm=yes)"]),
        ("sdk.undo(confirm=False)\nsdk.undo(confirm=None)", []),
        ("sdk.undo(**{'confirm': True})", ["line 1: {'confirm': True}"]),
        ("sdk.batch([{'tool': 'undo', 'args': {'confirm': 1}}])", ["line 1: {'confirm': 1}"]),
        ("confirm = True\nsdk.undo()", []),
        ("this is no Python", []),
    ],
)
def test_the_calls_that_confirm_are_listed_with_their_lines(text: str, expected: list[str]) -> None:
    assert list_confirmed_calls(text) == expected


def test_a_long_call_is_cut() -> None:
    (only,) = list_confirmed_calls(f"sdk.undo({'x' * 500!r}, confirm=True)")

    assert len(only) < 120
    assert only.endswith("…")
