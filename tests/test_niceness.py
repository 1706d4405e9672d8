"""What gives way never claims more than it had."""

import os
import sys
import threading

import pytest

from panorama.thread_priority import NICENESS, lower_thread_priority


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads have no priority of their own")
@pytest.mark.parametrize("before", [NICENESS + 5, NICENESS, 0])
def test_a_thread_that_gives_way_claims_no_more_than_before(before: int) -> None:
    found: list[int] = []

    def work() -> None:
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, max(before, os.getpriority(os.PRIO_PROCESS, thread)))
        found.append(os.getpriority(os.PRIO_PROCESS, thread))
        lower_thread_priority()
        found.append(os.getpriority(os.PRIO_PROCESS, thread))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert found[1] == max(found[0], NICENESS)
