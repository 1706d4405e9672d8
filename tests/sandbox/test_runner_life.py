"""The life of the runner's processes: started when needed, ready ahead, ended when nobody needs them."""

import errno
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from panorama.domain.scripts.scripts import ISOLATIONS, Limits, RunOutcome, Script
from panorama.errors import UnavailableError
from panorama.sandbox.host.template_process import TemplateProcess
from panorama.sandbox.host.worker_handle import WorkerHandle
from panorama.sandbox.host.worker_pool import WorkerPool
from panorama.sandbox.runner import ForkServer
from tests.sandbox.runs import Host, limits, packed

pytestmark = [
    pytest.mark.slow,  # each starts processes and waits for their end
    pytest.mark.usefixtures("no_template"),
]


@pytest.fixture
def runner() -> Iterator[ForkServer]:
    """A runner that nobody has used yet."""
    made = ForkServer()
    yield made
    made.close()


def run(
    runner: ForkServer,
    source: str = "return 1",
    host: Host | None = None,
    limits: Limits = limits(),  # noqa: B008 (frozen)
) -> RunOutcome:
    """Run a script."""
    host = host or Host()
    return runner.run(
        Script(source=source, limits=limits, operations=frozenset({"items.get"})),
        host.answered, host.progressed, host.stopped,
    )  # fmt: skip


def processes() -> list[psutil.Process]:
    """Return the processes below this one that live."""
    return [process for process in psutil.Process().children(recursive=True) if lives(process)]


def lives(process: psutil.Process) -> bool:
    """Tell whether a process goes on."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def until(condition: Callable[[], bool]) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it never came"
        threading.Event().wait(0.005)


def standby(runner: ForkServer) -> psutil.Process:
    """Return the worker that waits for the next script, of a runner that has run none yet.

    A worker that has run may live on for a moment, and so may the child on which a template that starts tries things
    out: neither is the one that waits.
    """
    assert runner.isolation
    runner.preload()
    until(lambda: len(processes()) == 2)
    return psutil.Process().children()[0].children()[0]


def test_a_new_runner_costs_nothing(runner: ForkServer):
    assert processes() == []


def test_one_worker_is_ready_after_a_run(runner: ForkServer):
    ran: set[int] = set()

    def looking(*_: object) -> bytes:
        ran.update(process.pid for process in psutil.Process().children()[0].children())
        return packed({"id": 1})

    run(runner, "sdk.items.get(1)", Host(answers=looking))

    until(lambda: len({process.pid for process in processes()} - ran) == 2)


def test_a_runner_that_is_warm_has_a_worker_ready(runner: ForkServer):
    assert lives(standby(runner))

    assert run(runner).result == b"1"


def test_warming_what_is_warm_changes_nothing(runner: ForkServer):
    standby(runner)
    before = {process.pid for process in processes()}

    runner.preload()
    runner.preload()

    assert {process.pid for process in processes()} == before


def test_each_run_has_a_process_of_its_own():
    runner = ForkServer(language=False)

    seen = {run(runner, "import os\ndef main(): return os.getpid()").result for _ in range(5)}

    runner.close()
    assert len(seen) == 5


def test_workers_leave_no_zombies(runner: ForkServer):
    for _ in range(10):
        run(runner)
    run(runner, "while True: pass", limits=limits(seconds=0.05))

    until(lambda: len(psutil.Process().children(recursive=True)) <= 3)


def test_a_template_that_was_killed_is_started_again(runner: ForkServer):
    run(runner)
    template = psutil.Process().children()[0]
    template.kill()
    template.wait()

    assert run(runner).result == b"1"


def test_workers_end_with_their_template(runner: ForkServer):
    worker = standby(runner)

    psutil.Process().children()[0].kill()

    until(lambda: not lives(worker))


def test_a_worker_that_was_killed_while_it_waited_is_not_used(runner: ForkServer):
    worker = standby(runner)
    worker.kill()
    until(lambda: not lives(worker))

    assert run(runner).result == b"1"


def test_a_script_has_crashed_whose_template_is_killed_as_it_begins(
    runner: ForkServer, monkeypatch: pytest.MonkeyPatch
):
    standby(runner)
    template = psutil.Process().children()[0]
    take = WorkerPool.acquire

    def killing(supply: WorkerPool, limits: Limits) -> tuple[TemplateProcess, WorkerHandle]:
        taken = take(supply, limits)
        template.kill()
        template.wait()
        return taken

    with monkeypatch.context() as patch:
        patch.setattr(WorkerPool, "acquire", killing)
        ended = run(runner, "while True: pass")

    assert ended.failure
    assert ended.failure.reason == "crashed"
    assert run(runner).result == b"1"


@pytest.mark.skipif(sys.platform != "linux", reason="pidfds exist on Linux only")
def test_a_script_is_ended_in_time_where_no_descriptor_is_left_for_its_process(
    runner: ForkServer, monkeypatch: pytest.MonkeyPatch
):
    def none_left(*_: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "pidfd_open", none_left)

    ended = run(runner, "while True: pass", limits=limits(seconds=0.05))

    assert ended.failure
    assert ended.failure.reason == "time"
    until(lambda: len(processes()) == 2)


def test_a_worker_that_is_killed_from_outside_has_crashed(runner: ForkServer):
    def killing(*_: object) -> bytes:
        for process in psutil.Process().children()[0].children():
            process.kill()
        return b"\x80"

    failure = run(runner, "sdk.items.get(1)", Host(answers=killing)).failure

    assert failure
    assert failure.reason == "crashed"
    assert run(runner).result == b"1"


def test_closing_ends_every_process(runner: ForkServer):
    standby(runner)

    runner.close()

    assert psutil.Process().children(recursive=True) == []


def test_closing_twice_is_harmless(runner: ForkServer):
    run(runner)

    runner.close()
    runner.close()


def test_closing_what_was_never_used_is_harmless(runner: ForkServer):
    runner.close()

    assert processes() == []


def test_closing_while_it_warms_is_harmless(runner: ForkServer):
    runner.preload()

    runner.close()

    assert psutil.Process().children(recursive=True) == []


def test_a_closed_runner_runs_nothing(runner: ForkServer):
    runner.close()

    with pytest.raises(UnavailableError) as caught:
        run(runner)

    assert caught.value.hint


def test_a_run_that_is_under_way_ends_as_cancelled_when_the_runner_closes(runner: ForkServer):
    begun = threading.Event()
    endings: list[RunOutcome] = []
    host = Host(answers=lambda *_: begun.set() or b"\x81\xa4data\xc0")
    source = "sdk.items.get(1)\nwhile True: pass"
    thread = threading.Thread(target=lambda: endings.append(run(runner, source, host)))
    thread.start()
    assert begun.wait(10)

    runner.close()

    thread.join(10)
    assert endings[0].failure
    assert endings[0].failure.reason == "cancelled"


def test_processes_that_nobody_needs_are_ended_and_started_again():
    runner = ForkServer(idle_seconds=0.05)
    run(runner)

    until(lambda: psutil.Process().children(recursive=True) == [])

    assert run(runner).result == b"1"
    runner.close()


def test_a_call_that_is_under_way_has_ended_when_the_run_has(runner: ForkServer):
    open_, done = threading.Event(), threading.Event()

    def slow(*_: object) -> bytes:
        open_.wait(0.2)
        done.set()
        return b"\x80"

    source = "sdk.parallel(lambda: sdk.items.get(1), lambda: 1 / 0)"
    run(runner, source + "\n", Host(answers=slow), limits(seconds=0.1))

    assert done.is_set()


def test_an_error_on_the_hosts_own_side_leaves_nothing_behind(runner: ForkServer):
    class StrangeError(BaseException):
        pass

    def strange(*_: object) -> bytes:
        raise StrangeError

    with pytest.raises(StrangeError):
        run(runner, "sdk.items.get(1)", Host(answers=strange))

    assert run(runner).result == b"1"


def test_more_runs_than_processors_are_forked_on_demand(runner: ForkServer):
    meet = threading.Barrier(6, timeout=20)
    endings: list[RunOutcome] = []
    host = Host(answers=lambda *_: bytes(meet.wait() * 0) or b"\x81\xa4data\xc0")
    threads = [
        threading.Thread(target=lambda: endings.append(run(runner, "sdk.items.get(1)\n7", host))) for _ in range(6)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [ending.result for ending in endings] == [b"7"] * 6


def test_what_stands_around_a_script_is_told_as_it_was_found(runner: ForkServer):
    assert runner.isolation in ISOLATIONS


@pytest.mark.skipif(sys.platform != "linux", reason="these isolation layers exist on Linux only")
def test_a_layer_that_is_left_out_is_not_told():
    without_files = ForkServer(landlock=False)
    without_both = ForkServer(seccomp=False)
    isolations = (without_files.isolation, without_both.isolation)
    without_files.close()
    without_both.close()

    assert isolations[0] in ("seccomp", "language-only")
    assert isolations[1] == "language-only"


def test_nothing_runs_with_less_around_it_than_asked_for():
    runner = ForkServer(least="seccomp", seccomp=False)

    with pytest.raises(UnavailableError) as caught:
        run(runner)

    runner.close()
    assert "language-only" in caught.value.message
    assert "seccomp" in caught.value.message
    assert caught.value.hint


def test_a_script_has_the_local_time_that_the_runner_was_given():
    runner = ForkServer(timezone="Asia/Tokyo")
    source = (
        "import time\nhour = time.localtime(0).tm_hour\ntime.mktime(time.localtime())\nhour, time.localtime(0).tm_hour"
    )

    ending = run(runner, source)

    runner.close()
    assert ending.result == b"[9,9]", ending.failure


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or sys.platform == "win32", reason="Windows has no SIGINT")
def test_an_interrupt_at_the_terminal_does_not_reach_the_processes(runner: ForkServer):
    run(runner)
    template = psutil.Process().children()[0]

    os.kill(template.pid, signal.SIGINT)

    assert os.getsid(template.pid) != os.getsid(0)
    assert run(runner).result == b"1"
