"""The profile for macOS. On other systems only its text can be checked; no Mac has run it yet."""

import re
import sys

import pytest

from panorama.sandbox.isolation.seatbelt import PROFILE
from tests.sandbox.runs import Runs, nothing_is_left, runs, unguarded

__all__ = ["nothing_is_left", "runs", "unguarded"]

NEEDS_MACOS = pytest.mark.skipif(sys.platform != "darwin", reason="Seatbelt exists on macOS only")


def test_the_profile_denies_everything_that_it_does_not_name():
    lines = PROFILE.decode().split("\n")[1:-1]

    assert lines[:2] == ["(version 1)", "(deny default)"]
    assert {re.match(r"\(allow (\S+?)[ )]", line)[1] for line in lines[2:]} == {  # type: ignore[index] (all match)
        "process-fork", "process-info*", "signal", "sysctl-read",
    }  # fmt: skip


def test_no_rule_about_processes_reaches_another_one():
    rules = [line for line in PROFILE.decode().splitlines() if "signal" in line or "process-info" in line]

    assert all(line.endswith("(target self))") for line in rules)


@NEEDS_MACOS
def test_a_script_runs_under_the_profile(runs: Runs):
    assert runs.runner.isolation == "seatbelt"
    assert runs.result("sum(range(10))") == 45


@NEEDS_MACOS
@pytest.mark.parametrize(
    "act",
    ["open('/etc/hosts')", "os.listdir('/')", "os.fork()", "os.kill(os.getppid(), 0)", "os.execv('/bin/ls', [''])"],
)
def test_the_profile_refuses_what_leads_out_of_the_process(unguarded: Runs, act: str):
    assert unguarded.failure(f"import os\ndef main(): {act}").reason in ("raised", "blocked")
