"""Every family of system calls, by their numbers, with the language layer off: the filter answers, not the kernel."""

import os
import sys
from pathlib import Path

import pytest

from panorama.sandbox.isolation.syscalls import find_machine
from tests.attacks.calls import FAMILIES, FORKING, RIGHTLESS, Call, answer, filtered_answer, plain_answer
from tests.attacks.kernel import needs_filter
from tests.sandbox.runs import Runs, nothing_is_left, unguarded

__all__ = ["nothing_is_left", "unguarded"]


def by_idea(*calls: Call) -> pytest.MarkDecorator:
    """Return a test's parameters, one call each, under its idea."""
    return pytest.mark.parametrize("call", [pytest.param(call, id=call.idea) for call in calls])


def needs_a_kernel_of_its_own() -> None:
    """Skip where calls have other numbers, or where a container filters what the tests themselves may call."""
    if sys.platform != "linux" or find_machine() is None:
        pytest.skip("this kernel has no seccomp")
    if "Seccomp:\t0" not in Path("/proc/self/status").read_text():
        pytest.skip("the tests themselves run under a seccomp filter")


@by_idea(*FAMILIES)
def test_the_filter_refuses(unguarded: Runs, call: Call):
    needs_filter(unguarded)

    assert answer(unguarded, call) == "EPERM"


@by_idea(*FAMILIES)
def test_the_kernel_itself_answers_otherwise(call: Call):
    needs_a_kernel_of_its_own()

    assert plain_answer(call) != "EPERM"


@by_idea(*RIGHTLESS)
def test_the_filter_alone_refuses_root(call: Call):
    needs_a_kernel_of_its_own()
    if os.getuid():
        pytest.skip("needs root")

    assert filtered_answer(call) == "EPERM"


def test_an_old_kernels_answer_is_given_for_a_new_way_to_fork(unguarded: Runs):
    needs_filter(unguarded)

    assert answer(unguarded, FORKING) == "ENOSYS"


def test_a_new_kernel_knows_that_way():
    needs_a_kernel_of_its_own()

    assert plain_answer(FORKING) != "ENOSYS"


def test_no_call_is_tried_under_two_names():
    calls = (*FAMILIES, *RIGHTLESS, FORKING)

    assert len({call.x86_64 for call in calls}) == len({call.aarch64 for call in calls}) == len(calls)
