"""What everything after an escape from the language could reach: in plain Python all of it, in a worker nothing."""

import sys

import pytest

from tests.attacks.kernel import needs_filter
from tests.attacks.reach import FORBIDDEN, REACHABLE, Outside, Reach, opened, outside, reach, run_plainly
from tests.sandbox.runs import Host, Runs, nothing_is_left, runs, unguarded, used

__all__ = ["nothing_is_left", "outside", "reach", "runs", "unguarded"]


def test_a_plain_python_reaches_all_of_it(outside: Outside):
    with opened() as elsewhere:
        assert run_plainly(elsewhere) == [*REACHABLE]
        assert sorted(elsewhere.changes()) == ["a connection", "a killed process", "written"]


def test_a_script_that_is_all_of_python_reaches_nothing(reach: Reach):
    reach.check("no attack", "pass", is_escape=False)


def test_without_the_layers_of_the_kernel_it_would_reach_the_system(outside: Outside):
    if sys.platform != "linux":
        pytest.skip("these isolation layers exist on Linux only")
    for bare in used(language=False, seccomp=False, landlock=False):
        assert "folder" in bare.result(outside.payload("pass"))


def test_the_host_refuses_an_operation_that_the_run_may_not_call(unguarded: Runs):
    needs_filter(unguarded)
    host = Host()

    outcome = unguarded(
        f"def main():\n    from panorama.sdk import _wire\n    return _wire.call({FORBIDDEN!r}, note='n_1')", host=host
    )

    assert outcome.failure
    assert host.asked == []
