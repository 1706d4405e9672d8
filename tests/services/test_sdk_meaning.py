"""The SDK's reference by meaning: told once the model is in memory, and never waited for."""

from pathlib import Path

from panorama.app import opened
from panorama.config import read_settings
from panorama.services.sdk_meaning import SdkMeaning
from tests.faults.meanings import followed, until

TEXTS = ("remove an item to the trash", "write a file", "list the reminders")


def test_what_is_meant_is_nearest_once_the_model_is_in_memory(home: Path) -> None:
    with followed(home, embedder="static") as house:
        house.do("create_note", title="Tea")
        meaning = SdkMeaning(house.app.meaning)
        house.app.meaning.opened().serving.resident.ready()
        until(lambda: meaning.nearest("delete something", TEXTS), "an answer")

        near = meaning.nearest("delete something", TEXTS)

    assert max(range(3), key=lambda at: near[at]) == 0
    assert all(-1.001 <= each <= 1.001 for each in near)


def test_without_a_model_nothing_is_told_at_once(home: Path) -> None:
    with opened(read_settings(home=home)) as app:
        assert SdkMeaning(app.meaning).nearest("delete something", TEXTS) == ()
