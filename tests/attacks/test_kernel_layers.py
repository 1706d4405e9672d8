"""Each layer by itself: what stands between a script and the machine if the others do not hold."""

import os
import sys
from collections.abc import Iterator

import pytest

from panorama.sandbox.isolation.kernel import NOBODY
from panorama.sandbox.isolation.lockdown import PIPE_FD
from tests.attacks.kernel import assert_refused, script, works_plainly
from tests.sandbox.runs import Runs, limits, nothing_is_left
from tests.sandbox.runs import used as used_runner

__all__ = ["nothing_is_left"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these isolation layers exist on Linux only")


@pytest.fixture(scope="module")
def files_alone() -> Iterator[Runs]:
    """Scripts that are all of Python, without the filter of system calls."""
    yield from used_runner(language=False, seccomp=False)


@pytest.fixture(scope="module")
def bare() -> Iterator[Runs]:
    """Scripts that are all of Python, without filter and Landlock."""
    yield from used_runner(language=False, seccomp=False, landlock=False)


def _without_files(runs: Runs) -> Runs:
    if runs.result(script("os.stat('/')")) != "through":
        pytest.fail("the filter is there")
    if os.path.exists("/sys/kernel/security/lsm"):
        with open("/sys/kernel/security/lsm") as modules:
            if "landlock" not in modules.read():
                pytest.skip("this kernel has no Landlock")
    return runs


@pytest.mark.parametrize(
    "attack",
    [
        "os.open('/etc/passwd', os.O_RDONLY)",
        "os.listdir('/')",
        "os.listdir('/proc/self')",
        "name = '/tmp/l-%d' % os.getpid(); os.mkdir(name); os.rmdir(name)",
        "name = '/tmp/s-%d' % os.getpid(); os.symlink('/', name); os.unlink(name)",
        "open('/bin/true', 'rb').read(4)",
    ],
)
def test_landlock_alone_refuses_files(files_alone: Runs, attack: str):
    assert_refused(_without_files(files_alone), attack)

    assert works_plainly(attack)


@pytest.mark.parametrize(
    "attack",
    [
        "os.fork() or os._exit(0)",
        "import _thread; _thread.start_new_thread(print, ()); time.sleep(0.05)",
        "[os.pipe() for _ in range(3)]",
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))",
        "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
        "x = checked(libc.memfd_create(b'x', 0)); os.write(x, b'x')",
        "checked(libc.mlock(ctypes.create_string_buffer(8192), ctypes.c_size_t(8192)))",
    ],
)
def test_limits_alone_refuse_processes_and_descriptors(bare: Runs, attack: str):
    assert_refused(bare, attack)

    assert works_plainly(attack) or "AS" in attack


def test_a_worker_has_one_descriptor_its_pipe(bare: Runs):
    source = """
import os, stat
def main():
    found = []
    for number in range(1 << 16):
        try:
            found.append([number, stat.S_ISSOCK(os.fstat(number).st_mode)])
        except OSError:
            pass
    return found
"""

    assert bare.result(source) == [[PIPE_FD, True]]


def test_a_worker_is_nobody_if_its_host_is_root(bare: Runs):
    uid = bare.result("import os\ndef main():\n    return os.getuid()")

    assert uid == (NOBODY if os.getuid() == 0 else os.getuid()) or uid == NOBODY


def test_a_worker_has_a_network_of_its_own_with_nothing_in_it(bare: Runs):
    source = "import socket\ndef main():\n    return [name for _, name in socket.if_nameindex()]"

    ending = bare(source, limits=limits())

    if ending.failure is not None or ending.result != b'["lo"]':
        pytest.skip("user namespaces are not allowed here")
    assert_refused(bare, "s = socket.socket(); s.settimeout(1); s.connect(('127.0.0.1', 9))")


def test_a_worker_cannot_be_looked_into_by_its_own_user(bare: Runs):
    assert bare.result("import ctypes\ndef main():\n    return ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)") == 0


def test_a_worker_is_killed_with_its_template(bare: Runs):
    source = """
import ctypes
def main():
    told = ctypes.c_int()
    ctypes.CDLL(None).prctl(2, ctypes.byref(told), 0, 0, 0)
    return told.value
"""

    assert bare.result(source) == 9
