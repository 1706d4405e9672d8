"""Long texts: their words are written in short transactions after the commit, and are complete in the end."""

import threading

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.domain.text.tokens import PART_CHARS
from panorama.store.items import long_texts
from panorama.store.words import part_index
from tests.services.queued import Call

LONG = "\n".join(f"line {number}" for number in range(PART_CHARS)) + "\nneedle"
"""Some twelve parts."""


def is_found(call: Call, word: str = "needle") -> bool:
    return bool(call("search", query=word).data)


def count_parts(app: App) -> int:
    with app.context.database.reading() as session:
        return session.connection.exec_driver_sql("SELECT count(*) FROM search_parts").scalar_one()


def crash_after_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be done after the commit, as in a process that was killed."""
    monkeypatch.setattr(long_texts, "complete_words", lambda *_: None)


def is_complete(app: App) -> bool:
    with app.context.database.reading() as session:
        return long_texts.is_indexed(session) and not long_texts.list_incomplete(session)


def test_every_word_of_a_long_note_is_found_when_the_call_returns(app: App, call: Call) -> None:
    call("create_note", title="Long", content=LONG)

    assert is_found(call)
    assert is_complete(app)


def test_the_transaction_of_a_long_note_writes_few_parts(app: App, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    crash_after_commit(monkeypatch)

    call("create_note", title="Long", content=LONG)

    assert count_parts(app) == 1
    assert [row["title"] for row in call("search", query="long").data] == ["Long"]


def test_the_words_of_a_long_note_are_completed_after_a_crash(
    app: App, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as crashing:
        crash_after_commit(crashing)
        call("create_note", title="Long", content=LONG)

    app.recover_orphans()

    assert is_found(call)
    assert is_complete(app)


def test_a_deleted_long_note_is_not_found_even_if_its_words_are_still_there(
    app: App, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("create_note", title="Long", content=LONG)
    with monkeypatch.context() as crashing:
        crash_after_commit(crashing)

        call("delete_item", item="Long")

        assert not is_found(call)
        assert count_parts(app) > 1
    app.recover_orphans()
    assert count_parts(app) == 0


def test_undo_of_a_deletion_that_was_not_completed_shows_the_words_again(
    app: App, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("create_note", title="Long", content=LONG)
    before = count_parts(app)
    with monkeypatch.context() as crashing:
        crash_after_commit(crashing)
        call("delete_item", item="Long")

    call("undo")

    assert is_found(call)
    assert (count_parts(app), is_complete(app)) == (before, True)


def test_a_long_note_that_becomes_short_loses_its_former_words(app: App, call: Call) -> None:
    call("create_note", title="Long", content=LONG)

    call("update_note", note="Long", content="short")

    assert (is_found(call), is_found(call, "short")) == (False, True)
    assert count_parts(app) == 1


def test_a_renamed_long_note_is_found_by_its_new_title_and_all_its_words(app: App, call: Call) -> None:
    call("create_note", title="Long", content=LONG)
    before = count_parts(app)

    call("update_note", note="Long", title="Endless")

    assert is_found(call, "endless")
    assert is_found(call)
    assert (count_parts(app), is_complete(app)) == (before, True)


def test_a_note_changed_while_its_words_are_completed_has_the_words_of_the_newest_text(app: App, call: Call) -> None:
    def change_once(_: object) -> None:
        unsubscribe()
        changed.append(call("append_to_note", note="Long", block="thread"))

    changed: list[Answer] = []
    unsubscribe = app.context.database.subscribe(change_once)

    call("create_note", title="Long", content=LONG)

    assert len(changed) == 1
    assert is_found(call, "thread")
    assert is_complete(app)


def test_a_batch_of_many_texts_indexes_for_a_short_time_and_the_rest_after_it(
    app: App, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_index, "MAX_INDEX_SECONDS", 0)
    steps = [{"tool": "create_note", "args": {"title": f"Note {n}", "content": f"word{n}"}} for n in range(20)]
    with monkeypatch.context() as crashing:
        crash_after_commit(crashing)
        call("batch", operations=steps)
    before = count_parts(app)

    app.recover_orphans()

    assert (before, count_parts(app), is_complete(app)) == (1, 20, True)
    assert is_found(call, "word17")


def test_a_call_that_is_cancelled_after_its_commit_leaves_the_rest_of_the_words_for_later(app: App, call: Call) -> None:
    is_gone = threading.Event()
    unsubscribe = app.context.database.subscribe(lambda _: is_gone.set())
    with app.context.database.limit_reads(is_gone.is_set):
        call("create_note", title="Long", content=LONG)
    unsubscribe()
    before = (count_parts(app), is_complete(app))

    app.recover_orphans()

    assert before == (1, False)
    assert is_found(call)
    assert is_complete(app)
