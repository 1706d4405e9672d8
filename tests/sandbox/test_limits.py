"""What is said when a limit is reached."""

from datetime import timedelta
from typing import get_args

import pytest

from panorama.domain.scripts.scripts import Limits, Reason
from panorama.sandbox.protocol import limits

LIMITS: tuple[Reason, ...] = get_args(Reason)[3:12]


@pytest.mark.parametrize("reason", LIMITS)
def test_each_limit_is_told_in_a_sentence(reason: Reason):
    message = limits.format_message(reason, Limits())

    assert message.startswith(("The script", "A call", "The result", "sdk.state"))
    assert message.endswith(".")


@pytest.mark.parametrize(
    ("reason", "figure"),
    [
        ("time", "90 s"), ("cpu", "0.5 s"), ("memory", "512 MB"), ("calls", "10,000"), ("call_size", "1 MB"),
        ("result_size", "10 MB"), ("output_size", "256 KB"), ("state_size", "100 bytes"),
    ],
)  # fmt: skip
def test_a_limit_is_told_with_its_figure(reason: Reason, figure: str):
    given = Limits(wall=timedelta(seconds=90), cpu=timedelta(seconds=0.5), state_bytes=100)

    assert figure in limits.format_message(reason, given)


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("time", "The script exceeded its time limit of 60 s."),
        ("cpu", "The script exceeded its processor time limit of 60 s."),
        ("memory", "The script exceeded its memory limit of 512 MB."),
        ("calls", "The script made more than 10,000 calls, the limit of a run."),
        ("call_size", "A call had more than 1 MB of arguments, the limit of a call."),
        ("result_size", "The result is larger than 10 MB, the limit."),
        ("output_size", "The script printed more than 256 KB, the limit."),
        ("sent_size", "The script sent more than 256 MB in its calls, the limit of a run."),
        ("state_size", "sdk.state is larger than 256 KB, the limit."),
    ],
)
def test_a_script_that_says_nothing_else_has_these_limits(reason: Reason, sentence: str):
    assert limits.format_message(reason, Limits()) == sentence


def test_a_size_is_what_its_unit_says():
    given = Limits()

    assert given.memory_bytes == 512 * 1024 * 1024
    assert (given.call_bytes, given.result_bytes) == (1024 * 1024, 10 * 1024 * 1024)
    assert given.sent_bytes == 256 * 1024 * 1024
    assert given.output_bytes == given.state_bytes == 256 * 1024


def test_whoever_reaches_a_limit_is_told_what_to_do():
    assert all(limits.get_hint(reason) for reason in LIMITS if reason != "cancelled")
