"""Which backups go, and what exported files are called."""

from datetime import UTC, datetime, timedelta

import pytest

from panorama.domain.markdown.export_pages import UniqueNames, sanitize_file_name
from panorama.domain.retention import (
    Retention,
    backup_name,
    expired_backups,
    export_name,
    newest_backup,
    parse_backup_time,
)

NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)


def daily(count: int) -> list[str]:
    return [backup_name(NOW - timedelta(days=days)) for days in range(count)]


def test_a_backup_is_called_by_its_moment() -> None:
    assert backup_name(NOW) == "panorama-20260520T080000Z"
    assert backup_name(NOW, 2) == "panorama-20260520T080000Z-2"
    assert export_name(NOW) == "panorama-export-20260520T080000Z"
    assert parse_backup_time(backup_name(NOW, 2)) == parse_backup_time(export_name(NOW)) == NOW


@pytest.mark.parametrize(
    "name", ["panorama", "panorama-2026", "notes-20260520T080000Z", "panorama-20260520T080000Z.old"]
)
def test_what_is_called_otherwise_is_no_backup(name: str) -> None:
    assert parse_backup_time(name) is None


def test_the_newest_stay_and_the_oldest_go_first() -> None:
    names = daily(5)

    assert expired_backups(names, Retention(max_backups=3, age=None), NOW) == [names[4], names[3]]


def test_what_is_too_old_goes_but_never_the_newest() -> None:
    names = daily(5)
    later = NOW + timedelta(days=100)

    assert expired_backups(names, Retention(max_backups=0, age=timedelta(days=2)), NOW) == [names[4], names[3]]
    assert expired_backups(names, Retention(max_backups=0, age=timedelta(days=2)), later) == names[:0:-1]


def test_without_limits_nothing_goes() -> None:
    assert expired_backups(daily(50), Retention(max_backups=0, age=None), NOW) == []


def test_copies_that_were_put_aside_go_by_their_age_alone() -> None:
    copies = ["before-0006-20260101T000000Z.db", "replaced-20260519T000000Z.db"]

    assert expired_backups([*daily(2), *copies], Retention(max_backups=2, age=timedelta(days=90)), NOW) == [copies[0]]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Tea", "Tea"),
        ("a/b\\c: d?", "a-b-c- d-"),
        (".hidden", "hidden"),
        ("..", "Untitled"),
        ("CON", "CON_"),
        ("node_modules", "node_modules_"),
        ("ends. ", "ends"),
        ("ä" * 200, "ä" * 90),
    ],
)
def test_a_title_becomes_a_name_that_every_system_takes(title: str, name: str) -> None:
    assert sanitize_file_name(title) == name


def test_two_of_one_name_have_two_names_whatever_their_case() -> None:
    names = UniqueNames()

    assert [names.reserve("", text, ".md") for text in ("Tea", "TEA", "tea")] == ["Tea.md", "TEA (2).md", "tea (3).md"]
    assert names.reserve("Kitchen", "Tea", ".md") == "Tea.md"


def test_the_last_backup_is_known_among_other_names() -> None:
    names = ["notes.txt", "before-0006-20260101T000000Z.db", *daily(3)]

    assert newest_backup(names) == backup_name(NOW)
    assert newest_backup(["notes.txt"]) is None


@pytest.mark.parametrize("prefix", ["replaced", "panorama-0011"])
def test_a_copy_made_before_a_restore_or_a_migration_is_not_the_last_backup(prefix: str) -> None:
    copy = f"{prefix}-20270101T000000Z.db"

    assert newest_backup([backup_name(NOW), copy]) == backup_name(NOW)
    assert newest_backup([copy]) is None


def test_backups_named_while_the_clock_was_ahead_go_before_those_of_today() -> None:
    ahead = [backup_name(NOW + timedelta(days=day)) for day in (400, 401, 402)]

    assert expired_backups([*ahead, backup_name(NOW)], Retention(max_backups=2, age=None), NOW) == ahead[:2]
    assert expired_backups(ahead, Retention(max_backups=1, age=None), NOW) == ahead[:2]
