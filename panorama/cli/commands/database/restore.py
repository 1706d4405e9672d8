"""Restores in place: replaces the current database; needs no daemon, and stops a running one."""

import os
import shutil
import time
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from panorama.cli.client import translate_errors
from panorama.cli.commands.archive import (
    print_restored_sources,
    print_withheld_of_sources,
    restore_sources,
)
from panorama.cli.console import console
from panorama.cli.daemon_process import end_daemon
from panorama.config import Settings, data_directory, read_settings
from panorama.databases import open_backend, open_bucket
from panorama.domain.sources.names import SOURCES_PREFIX
from panorama.domain.text.wording import pluralize
from panorama.domain.withdrawal import Replacement, Withdrawn
from panorama.errors import ConfirmationError, DeclinedError, PanoramaError, UnavailableError
from panorama.services.archive.paths import quote_path
from panorama.services.archive.restore import RestoreService
from panorama.services.archive.secrets import CONFIG_FILE
from panorama.services.archive.sources_copy import SourcesCopy, copy_sources
from panorama.sources.config import CONFIG_FILE as SOURCES_FILE
from panorama.sources.sources_file import read_entries
from panorama.store.contents.copying import copy_contents
from panorama.store.contents.folder import FolderContents
from panorama.transport.address import Address, hold_lock
from panorama.transport.launch import exclusive_start

LOCK_SECONDS = 10.0
"""How long it waits for a stopping daemon to release the data."""


def restore_database(copy: Path, *, yes: bool) -> None:
    """Replace the database by a copy after the user agrees; the old one is kept in the folder backups.

    Raises:
        InvalidInputError: The file is not a valid database.
        DeclinedError: The user did not agree.
        UnavailableError: The daemon does not stop, or the copy cannot be written; nothing was changed.
    """
    copy, home = copy.expanduser().absolute(), data_directory()
    database = open_backend(read_settings()).maintenance
    database.validate_copy(copy)
    if not yes:
        confirm(f"Replace {database.describe()} by {quote_path(copy)}? {database.describe_previous()}")
    address = Address(str(home))
    with translate_errors(), exclusive_start(address):
        end_daemon(address, again=False)
        is_own = copy.resolve().parent == (home / "backups").resolve()
        with hold_data(address):
            done = database.replace(copy, datetime.now(UTC), is_own=is_own)
    _print_restored(copy, done, done.withdrawn)


def has_data() -> bool:
    """Return whether there is a database in the data directory."""
    return open_backend(read_settings()).maintenance.has_data()


def restore_folder(source: str, *, yes: bool) -> None:
    """Restore a backup or an export in place after the user agrees; the old database is kept.

    Contents of files are added. The old scripts are kept in the folder backups, and so are the old sources if the user
    agrees to those of the copy. The configuration is not changed.

    Raises:
        InvalidInputError: The folder is not a backup or an export, or is damaged.
        DeclinedError: The user did not agree.
        UnavailableError: The daemon does not stop, or the copy cannot be written; nothing was changed.
    """
    home, now = data_directory(), datetime.now(UTC)
    settings = read_settings()
    backend = open_backend(settings)
    service = RestoreService(home, backend.snapshots)
    fresh = home.with_name(f"{home.name}.restored-{now:%Y%m%dT%H%M%SZ}")
    service.plan_restore(source, str(fresh))
    if not yes:
        note = f"{_describe_active(*service.count_active_rows(source))}{backend.maintenance.describe_previous()}"
        confirm(f"Replace {backend.maintenance.describe()} by {quote_path(Path(source))}? {note}")
    sources = service.list_sources(source)
    is_agreed = _ask_for_sources(home, sources, yes=yes)
    try:
        done = service.restore_agreed(source, str(fresh), sources if is_agreed else None)
        replaced = _put_in_place(fresh, home, settings, now)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    _print_restored(source, replaced, done.withdrawn)
    print_restored_sources(done.sources, sources.left_out if is_agreed is None else done.left_out)
    if settings := [name for name in done.withheld if not name.startswith(SOURCES_PREFIX)]:
        console.print_message(f"Settings that were left out of config.toml: {', '.join(settings)}", "yellow")
    print_withheld_of_sources(done.withheld, is_restored=True)


def _put_in_place(fresh: Path, home: Path, settings: Settings, now: datetime) -> Replacement:
    """Stop the daemon, and replace the data by those of a restored folder."""
    address = Address(str(home))
    with translate_errors(), exclusive_start(address):
        end_daemon(address, again=False)
        with hold_data(address):
            contents = _store_contents(settings, fresh / "files")
            replaced = open_backend(settings).maintenance.replace(
                fresh / "panorama.db", datetime.now(UTC), is_own=True, contents=contents
            )
        _move_scripts(fresh, home, now)
        _move_sources(fresh, home, now)
    return replaced


def _ask_for_sources(home: Path, sources: SourcesCopy, *, yes: bool) -> bool | None:
    """Ask whether to replace the present sources by those of a copy; None if they are the same.

    They are also the same if only the present ones contain their secrets, which no backup does.
    """
    with suppress(PanoramaError):  # the present file cannot be used
        if sources.entries in (read_entries(home), copy_sources(home).entries):
            return None
    return restore_sources(sources.describe(), yes=yes, in_place=(home / SOURCES_FILE).exists())


def _print_restored(source: Path | str, replaced: Replacement, withdrawn: Withdrawn) -> None:
    previous = f"; the previous data is {replaced.aside}" if replaced.aside else ""
    console.print_message(f"Restored from {source}{previous}{withdrawn.summarize()}")
    for remark in replaced.remarks:
        console.print_message(remark, "yellow")
    if withdrawn.summarize():
        console.print_message("To approve them here: panorama schedule resume NAME, panorama scripts review NAME")


def _describe_active(rows: Mapping[str, int], is_own: bool) -> str:
    """Describe what a backup contains that runs without a question: its author approved it, not the user."""
    nouns = {"reviews": ("review of scripts", "reviews of scripts"), "schedules": ("schedule", "schedules")}
    parts = [pluralize(count, *nouns[table]) for table, count in rows.items()]
    if not parts:
        return ""
    withdrawn = "" if is_own else ", which will not be trusted: it was made by another data directory"
    return f"It brings {' and '.join(parts)}{withdrawn}. "


def _store_contents(settings: Settings, folder: Path) -> Path | None:
    """Store contents in the S3 store, if the settings name one; return the folder if the database takes them."""
    if not settings.files_url:
        return folder
    source = FolderContents(folder)
    with closing(open_backend(settings).open()) as database:
        store = open_bucket(settings, database, claims=False)
        copy_contents(source, store, [name for name, _ in source.iter_sizes()])
        store.release()
    return None


def _move_scripts(fresh: Path, home: Path, now: datetime) -> None:
    """Replace the scripts; take the configuration if there is none."""
    if (fresh / "scripts").is_dir():
        _replace(fresh / "scripts", home / "scripts", now)
    if not (home / CONFIG_FILE).exists() and (fresh / CONFIG_FILE).is_file():
        shutil.move(fresh / CONFIG_FILE, home / CONFIG_FILE)


def _move_sources(fresh: Path, home: Path, now: datetime) -> None:
    """Replace the sources by those to which the user agreed."""
    if (fresh / SOURCES_FILE).is_file():
        _replace(fresh / SOURCES_FILE, home / SOURCES_FILE, now)


def _replace(new: Path, present: Path, now: datetime) -> None:
    """Replace a file or folder; the old one is kept in the folder backups, which may be on another disk."""
    if os.path.lexists(present):
        backups = present.with_name("backups")
        backups.mkdir(mode=0o700, exist_ok=True)
        shutil.move(present, backups / f"replaced-{now:%Y%m%dT%H%M%SZ}-{present.name}")
    shutil.move(new, present)


@contextmanager
def hold_data(address: Address) -> Generator[None]:
    """Hold the data directory once no process does; a stopping process releases it last.

    Raises:
        UnavailableError: A process keeps it.
    """
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        with hold_lock(address.lock) as lock:
            if lock is not None:
                yield
                return
        if time.monotonic() > deadline:
            raise UnavailableError("Another daemon is serving this data.", hint="`panorama daemon status` shows it.")
        time.sleep(0.05)


def confirm(question: str) -> None:
    """Ask whether to go on.

    Raises:
        ConfirmationError: There is nobody to ask.
        DeclinedError: The user does not agree.
    """
    if not console.is_interactive():
        raise ConfirmationError(question, hint="Add --yes to agree to it.")
    if not console.confirm(question):
        raise DeclinedError("Nothing was changed.")
