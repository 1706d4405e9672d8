"""The filter of system calls, run by a small machine for its instructions, for each kind of processor."""

import errno
from struct import Struct

import pytest

from panorama.sandbox.isolation.seccomp import (
    ALLOWED,
    CLOCK_CALLS,
    ENOSYS_CALLS,
    KILLED_CALLS,
    MSG_DONTWAIT,
    NON_EXECUTABLE_CALLS,
    PIPE_CALLS,
    PIPE_CALLS_WITHOUT_FLAGS,
    build_program,
)
from panorama.sandbox.isolation.syscalls import MACHINES, Machine

PIPE = 3
KILL, ALLOW = 0x8000_0000, 0x7FFF_0000
REFUSE = 0x0005_0000 | errno.EPERM
_STEP = Struct("HBBI")


def verdict(machine: Machine, number: int, *arguments: int, audit: int = 0) -> int:
    """Return what the filter says to a call."""
    data = {0: number, 4: audit or machine.audit} | {
        16 + 8 * i: argument & 0xFFFFFFFF for i, argument in enumerate(arguments)
    }
    steps = list(_STEP.iter_unpack(build_program(machine, PIPE)))
    at, held = 0, 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        match code:
            case 0x20:
                held = data.get(value, 0)
            case 0x06:
                return value
            case 0x15:
                at += if_true if held == value else if_false
            case 0x35:
                at += if_true if held >= value else if_false
            case 0x45:
                at += if_true if held & value else if_false
            case _:
                raise AssertionError(f"an instruction that is not used: {code:#x}")


PIPED = (*PIPE_CALLS, *PIPE_CALLS_WITHOUT_FLAGS)


@pytest.fixture(params=MACHINES.values(), ids=MACHINES.keys())
def machine(request: pytest.FixtureRequest) -> Machine:
    """Each kind of processor."""
    return request.param


def test_what_computing_needs_is_allowed(machine: Machine):
    assert {verdict(machine, machine.numbers[name]) for name in ALLOWED if name in machine.numbers} == {ALLOW}


def test_the_clocks_of_all_may_be_read_and_no_other_process_s(machine: Machine):
    numbers = [machine.numbers[name] for name in CLOCK_CALLS]
    of_others = [(~pid << 3 | kind) & 0xFFFFFFFF for pid in (0, 1, 4711) for kind in (2, 6)]

    assert {verdict(machine, number, clock) for number in numbers for clock in range(12)} == {ALLOW}
    assert {verdict(machine, number, clock) for number in numbers for clock in of_others} == {REFUSE}


def test_reading_and_writing_is_allowed_on_the_pipe_alone(machine: Machine):
    numbers = [machine.numbers[name] for name in PIPED]

    assert {verdict(machine, number, PIPE) for number in numbers} == {ALLOW}
    assert {verdict(machine, number, other) for number in numbers for other in (0, 1, 2, 4, 0xFFFFFFFF)} == {REFUSE}


def test_what_is_sent_and_taken_has_no_flag_but_that_of_who_does_not_wait(machine: Machine):
    numbers = [machine.numbers[name] for name in PIPE_CALLS_WITHOUT_FLAGS]
    others = (1, 2, 3, 0x20, 0x80, 0x4000, 1 << 31)

    assert {verdict(machine, number, PIPE, 0, 9, flags) for number in numbers for flags in (0, MSG_DONTWAIT)} == {ALLOW}
    assert {
        verdict(machine, number, PIPE, 0, 9, flags | more)
        for number in numbers
        for flags in others
        for more in (0, MSG_DONTWAIT)
    } == {REFUSE}


def test_memory_is_never_executable(machine: Machine):
    numbers = [machine.numbers[name] for name in NON_EXECUTABLE_CALLS]

    assert {verdict(machine, number, 0, 0, rights) for number in numbers for rights in (0, 1, 2, 3)} == {ALLOW}
    assert {verdict(machine, number, 0, 0, rights) for number in numbers for rights in (4, 5, 6, 7)} == {REFUSE}


def test_tripwires_kill(machine: Machine):
    assert {verdict(machine, machine.numbers[name]) for name in KILLED_CALLS} == {KILL}


def test_new_ways_to_fork_are_missing(machine: Machine):
    assert {verdict(machine, machine.numbers[name]) for name in ENOSYS_CALLS} == {0x0005_0000 | errno.ENOSYS}


def test_every_other_call_is_refused(machine: Machine):
    named = {
        machine.numbers.get(name)
        for name in (*ALLOWED, *CLOCK_CALLS, *PIPED, *NON_EXECUTABLE_CALLS, *KILLED_CALLS, *ENOSYS_CALLS)
    }

    assert {verdict(machine, number, PIPE) for number in range(600) if number not in named} == {REFUSE}


def test_the_calls_of_another_machine_kill(machine: Machine):
    assert verdict(machine, machine.numbers["getpid"], audit=0x40000003) == KILL


def test_the_calls_of_another_abi_kill(machine: Machine):
    assert verdict(machine, 0x4000_0000 + machine.numbers["getpid"]) == KILL
    assert verdict(machine, 0xFFFF_FFFF) == KILL


def test_no_number_is_given_twice(machine: Machine):
    assert len(set(machine.numbers.values())) == len(machine.numbers)


def test_no_call_has_two_verdicts():
    names = [*ALLOWED, *CLOCK_CALLS, *PIPED, *NON_EXECUTABLE_CALLS, *KILLED_CALLS, *ENOSYS_CALLS]

    assert len(set(names)) == len(names)
    assert set(names) <= set(MACHINES["x86_64"].numbers)
