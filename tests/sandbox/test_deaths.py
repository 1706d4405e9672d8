"""What is said of a worker that ended without a word, and what another process used."""

import os
import signal
import sys

import pytest

from panorama.domain.scripts.scripts import Limits, Reason
from panorama.sandbox.host import exit_reasons
from panorama.sandbox.host.process_usage import ProcessUsage, measure_usage
from panorama.sandbox.protocol.control import Report

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill signals")

LIMITS = Limits(memory_bytes=100 << 20)
KILLED, FAULT = 9, 11


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        (Report(1, getattr(signal, "SIGSYS", 31)), "blocked"),
        (Report(1, getattr(signal, "SIGXCPU", 24)), "cpu"),
        (Report(1, KILLED, cpu_seconds=61.0), "cpu"),
        (Report(1, KILLED, peak_bytes=90 << 20), "memory"),
        (Report(1, KILLED), "crashed"),
        (Report(1, FAULT), "crashed"),
        (Report(1, 70 << 8), "crashed"),
        (None, "crashed"),
    ],
)
def test_the_way_in_which_a_worker_ended_tells_why(report: Report | None, reason: Reason):
    failure = exit_reasons.build_exit_outcome(report, LIMITS).failure

    assert failure
    assert failure.reason == reason
    assert failure.message.endswith(".")
    assert failure.hint


def test_a_crash_is_told_with_its_signal():
    failure = exit_reasons.build_exit_outcome(Report(1, FAULT), LIMITS).failure

    assert failure
    assert "SIGSEGV" in failure.message


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="only Linux and macOS report the cause of death")
def test_what_a_process_used_can_be_asked():
    assert measure_usage(os.getpid()).peak_bytes > 10 << 20


def test_a_process_that_is_gone_used_nothing():
    assert measure_usage(2**22 + 1) == ProcessUsage()
