"""The embedder in memory: loaded aside, lent, released."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from panorama.errors import UnavailableError
from panorama.index.embedders.lifecycle import EmbedderState, ManagedEmbedder

LONG = timedelta(seconds=5)


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Fake:
    """An embedder that loads when it is let, and fails when it is told to."""

    id: str = "fake"
    loads: int = 0
    loaded: bool = False
    error: Exception | None = None
    gate: threading.Event = field(default_factory=threading.Event)

    def load(self) -> None:
        assert self.gate.wait(5)
        self.loads += 1
        if self.error:
            raise self.error
        self.loaded = True

    def close(self) -> None:
        self.loaded = False


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def fake() -> Fake:
    made = Fake()
    made.gate.set()
    return made


@pytest.fixture
def resident(fake: Fake, clock: Clock) -> Iterator[ManagedEmbedder[Fake]]:
    made = ManagedEmbedder(fake, clock=clock, first_pause=timedelta(seconds=5), longest_pause=timedelta(seconds=15))
    yield made
    fake.gate.set()
    made.close()


def fail(resident: ManagedEmbedder[Fake]) -> str:
    with pytest.raises(UnavailableError) as caught, resident.acquire(LONG):
        pass
    return caught.value.message


def test_nothing_is_loaded_before_it_is_needed(resident: ManagedEmbedder[Fake], fake: Fake) -> None:
    assert (fake.loads, resident.state) == (0, EmbedderState("resting"))


def test_who_does_not_wait_hears_at_once_that_it_is_loading(resident: ManagedEmbedder[Fake], fake: Fake) -> None:
    fake.gate.clear()

    with pytest.raises(UnavailableError, match="is loading"), resident.acquire():
        pass

    assert resident.state == EmbedderState("loading")


def test_who_waits_is_lent_it_loaded(resident: ManagedEmbedder[Fake]) -> None:
    with resident.acquire(LONG) as lent:
        assert lent.loaded

    assert resident.state == EmbedderState("ready")


def test_asking_whether_it_is_ready_begins_to_load_it(resident: ManagedEmbedder[Fake]) -> None:
    assert not resident.ensure_loading() or resident.state.status == "ready"

    with resident.acquire(LONG):
        assert resident.ensure_loading()


def test_many_who_need_it_load_it_once(resident: ManagedEmbedder[Fake], fake: Fake) -> None:
    threads = [threading.Thread(target=lambda: resident.acquire(LONG).__enter__()) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert fake.loads == 1


def test_it_is_released_when_it_was_idle_long_enough(resident: ManagedEmbedder[Fake], fake: Fake, clock: Clock) -> None:
    with resident.acquire(LONG):
        clock.now += 60

    clock.now += 599
    resident.release_if_idle()
    assert fake.loaded

    clock.now += 1
    resident.release_if_idle()
    assert (fake.loaded, resident.state) == (False, EmbedderState("resting"))


def test_it_is_loaded_again_after_it_was_released(resident: ManagedEmbedder[Fake], fake: Fake, clock: Clock) -> None:
    with resident.acquire(LONG):
        pass
    clock.now += 600
    resident.release_if_idle()

    with resident.acquire(LONG) as lent:
        assert (lent.loaded, fake.loads) == (True, 2)


def test_it_is_not_released_while_it_is_lent(resident: ManagedEmbedder[Fake], fake: Fake, clock: Clock) -> None:
    with resident.acquire(LONG):
        clock.now += 6000
        resident.release_if_idle()

        assert fake.loaded


def test_a_failure_is_told_at_once_until_its_pause_is_over(
    resident: ManagedEmbedder[Fake], fake: Fake, clock: Clock
) -> None:
    fake.error = UnavailableError("no model", hint="get one")

    assert fail(resident) == "no model"
    clock.now += 4.9
    assert fail(resident) == "no model"
    assert (fake.loads, resident.state) == (1, EmbedderState("failing", "no model", "get one"))


def test_the_pause_grows_with_each_failure_up_to_a_bound(
    resident: ManagedEmbedder[Fake], fake: Fake, clock: Clock
) -> None:
    fake.error = UnavailableError("no model")
    fail(resident)

    for loads, pause in enumerate((5, 10, 15, 15), start=1):
        clock.now += pause - 0.1
        fail(resident)
        assert fake.loads == loads
        clock.now += 0.1
        fail(resident)
        assert fake.loads == loads + 1


def test_it_recovers(resident: ManagedEmbedder[Fake], fake: Fake, clock: Clock) -> None:
    fake.error = UnavailableError("no model")
    fail(resident)
    fake.error, clock.now = None, clock.now + 5

    with resident.acquire(LONG) as lent:
        assert lent.loaded

    assert resident.state == EmbedderState("ready")


def wait_for_error(resident: ManagedEmbedder[Fake]) -> str:
    """Return what one hears who would wait as long as it takes, but not for what is in doubt; at once, or it hangs."""
    received: list[str] = []

    def ask() -> None:
        with pytest.raises(UnavailableError) as caught, resident.acquire(timedelta(hours=1), in_doubt=False):
            pass
        received.append(caught.value.message)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(5)
    return received[0] if received else "nothing: it waits"


def test_who_does_not_wait_in_doubt_hears_of_the_failure_while_it_is_tried_again(
    resident: ManagedEmbedder[Fake], fake: Fake, clock: Clock
) -> None:
    fake.error = UnavailableError("no model")
    fail(resident)
    fake.gate.clear()
    clock.now += 5

    assert [wait_for_error(resident) for _ in range(3)] == ["no model"] * 3
    assert resident.state == EmbedderState("failing", "no model")

    fake.error = None
    fake.gate.set()
    with resident.acquire(LONG), resident.acquire(in_doubt=False) as lent:
        assert lent.loaded


def test_once_somebody_waited_in_vain_only_who_insists_waits(resident: ManagedEmbedder[Fake], fake: Fake) -> None:
    fake.gate.clear()
    with pytest.raises(UnavailableError, match="is loading"), resident.acquire(timedelta(seconds=0.01)):
        pass

    assert wait_for_error(resident) == "The embedder fake is loading."

    fake.gate.set()
    with resident.acquire(LONG), resident.acquire(in_doubt=False) as lent:
        assert lent.loaded


def test_what_fails_while_it_is_tried_again_does_not_end_the_trial(
    resident: ManagedEmbedder[Fake], fake: Fake, clock: Clock
) -> None:
    slow, before = UnavailableError("slow"), resident.acquire(LONG)
    before.__enter__()
    with pytest.raises(UnavailableError), resident.acquire(LONG):
        raise UnavailableError("gone")
    fake.gate.clear()
    clock.now += 5
    resident.ensure_loading()
    assert not before.__exit__(UnavailableError, slow, None)
    fake.gate.set()

    with resident.acquire(LONG) as lent:
        assert (lent.loaded, fake.loads) == (True, 2)


def test_a_failure_while_it_is_lent_counts(resident: ManagedEmbedder[Fake], fake: Fake) -> None:
    with pytest.raises(UnavailableError), resident.acquire(LONG):
        raise UnavailableError("gone")

    assert fail(resident) == "gone"
    assert (fake.loaded, fake.loads) == (False, 1)


def test_another_error_while_it_is_lent_is_not_its_own(resident: ManagedEmbedder[Fake]) -> None:
    with pytest.raises(KeyError), resident.acquire(LONG):
        raise KeyError

    assert resident.state == EmbedderState("ready")


def test_a_bug_in_loading_is_told(resident: ManagedEmbedder[Fake], fake: Fake) -> None:
    fake.error = ZeroDivisionError("oh")

    assert "ZeroDivisionError" in fail(resident)


def test_closing_tells_those_who_wait(resident: ManagedEmbedder[Fake], fake: Fake) -> None:
    fake.gate.clear()
    heard: list[str] = []
    waiting = threading.Thread(target=lambda: heard.append(fail(resident)))
    waiting.start()
    while resident.state.status != "loading":
        pass

    closing = threading.Thread(target=resident.close)
    closing.start()
    waiting.join(5)
    fake.gate.set()
    closing.join(5)

    assert heard == ["The embedder fake was closed."]
    assert not fake.loaded
