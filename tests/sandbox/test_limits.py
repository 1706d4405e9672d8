"""What is said when a limit is reached."""

from datetime import timedelta
from typing import get_args

import pytest

from panorama.domain.scripts import Limits, Reason
from panorama.sandbox import limits

LIMITS: tuple[Reason, ...] = get_args(Reason)[3:12]


@pytest.mark.parametrize("reason", LIMITS)
def test_each_limit_is_told_in_a_sentence(reason: Reason):
    told = limits.message(reason, Limits())

    assert told.startswith(("The script", "A call", "The result", "sdk.state"))
    assert told.endswith(".")


@pytest.mark.parametrize(
    ("reason", "figure"),
    [
        ("time", "90 s"), ("cpu", "0.5 s"), ("memory", "512 MB"), ("calls", "10,000"), ("call_size", "1 MB"),
        ("result_size", "10 MB"), ("output_size", "256 KB"), ("state_size", "100 bytes"),
    ],
)  # fmt: skip
def test_a_limit_is_told_with_its_figure(reason: Reason, figure: str):
    given = Limits(wall=timedelta(seconds=90), cpu=timedelta(seconds=0.5), state_bytes=100)

    assert figure in limits.message(reason, given)


def test_whoever_reaches_a_limit_is_told_what_to_do():
    assert all(limits.hint(reason) for reason in LIMITS if reason != "cancelled")
