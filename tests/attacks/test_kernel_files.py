"""Files, with the language layer off: nothing of the file system is in a worker's reach."""

import pytest

from tests.attacks.kernel import forbidden, killed, needs_filter, number, works_plainly
from tests.sandbox.runs import Runs, nothing_is_left, unguarded

__all__ = ["nothing_is_left", "unguarded"]

ATTACKS = {
    "reading a file": "os.open('/etc/passwd', os.O_RDONLY)",
    "reading a file through Python's own open": "open('/etc/hostname').read()",
    "writing a file": "name = '/tmp/w-%d' % os.getpid(); os.open(name, os.O_CREAT | os.O_WRONLY); os.unlink(name)",
    "looking at a file's size": "os.stat('/etc/passwd')",
    "asking whether a file is there": "checked(libc.access(b'/etc/passwd', 0))",
    "listing a folder": "os.listdir('/')",
    "reading a symbolic link": "os.readlink('/proc/self/exe')",
    "reading its own environment": "open('/proc/self/environ').read()",
    "looking into its own memory": "open('/proc/self/mem', 'rb').read(0)",
    "making a folder": "os.mkdir('/tmp/panorama-%d' % os.getpid()); os.rmdir('/tmp/panorama-%d' % os.getpid())",
    "making a symbolic link": "os.symlink('/etc', '/tmp/p-%d' % os.getpid()); os.unlink('/tmp/p-%d' % os.getpid())",
    "making a named pipe": "os.mkfifo('/tmp/f-%d' % os.getpid()); os.unlink('/tmp/f-%d' % os.getpid())",
    "going to another folder": "os.chdir('/tmp')",
    "asking in which folder it is": "os.getcwd()",
    "opening relative to a descriptor": "os.open('etc', os.O_RDONLY, dir_fd=os.open('/', os.O_RDONLY))",
    "making a file in memory": (
        "os.memfd_create('x') if hasattr(os, 'memfd_create') else checked(libc.memfd_create(b'x', 0))"
    ),
    "making a pipe": "os.pipe()",
    "doubling a descriptor": "os.dup(1 if len(sys.argv) > 1 or sys.stdout else 3)",
    "making an event counter": "checked(libc.eventfd(0, 0))",
    "watching files": "checked(libc.inotify_init())",
    "making a timer with a descriptor": "checked(libc.timerfd_create(1, 0))",
    "waiting for many descriptors": "select.epoll()",
    "asking a descriptor for more than bytes": "checked(libc.fcntl(3 if not sys.stdout else 1, 1))",
    "asking how full the disk is": "os.statvfs('/')",
    "flushing all disks": "os.sync()\nchecked(libc.syncfs(3 if not sys.stdout else 1))",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_the_kernel_refuses(unguarded: Runs, attack: str):
    needs_filter(unguarded)

    forbidden(unguarded, attack)

    assert works_plainly(attack)


def test_the_kernel_kills_who_opens_a_file_by_its_number(unguarded: Runs):
    needs_filter(unguarded)

    killed(unguarded, f"checked(libc.syscall({number('open_by_handle_at')}, 3, None, 0))")


def test_a_descriptor_beside_the_pipe_cannot_be_read_or_written(unguarded: Runs):
    needs_filter(unguarded)

    for call in ("os.read(0, 1)", "os.write(1, b'x')", "os.write(4, b'x')", "os.read(1000, 1)"):
        forbidden(unguarded, call)


def test_a_worker_has_no_environment_no_arguments_and_no_paths(unguarded: Runs):
    ending = unguarded.result("import os, sys\ndef main():\n    return [dict(os.environ), sys.argv, sys.path]")

    assert ending[1:] == [[""], []]
    assert set(ending[0]) <= {"TZ"}
