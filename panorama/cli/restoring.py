"""Restoring: puts a copy of the database in place of the present one; needs no daemon, and ends the one that runs."""

import time
from datetime import UTC, datetime
from pathlib import Path

from panorama.address import Address, held
from panorama.cli import show
from panorama.cli.client import translated
from panorama.cli.daemon import end_daemon
from panorama.config import data_directory
from panorama.errors import ConfirmationError, DeclinedError, UnavailableError
from panorama.starting import alone
from panorama.store import backups

LOCK_SECONDS = 10.0
"""How long it waits for the daemon that ends to let go of the data."""


def restored(copy: Path, *, yes: bool) -> None:
    """Put a copy in place once the person agrees; what was there is kept in the folder backups.

    Raises:
        InvalidInputError: The file cannot be the database.
        DeclinedError: The person did not say yes.
        UnavailableError: The daemon does not leave, or the disk does not take the copy; nothing was changed.
    """
    copy, home = copy.expanduser().absolute(), data_directory()
    backups.check(copy)
    if not yes:
        _ask(f"Put {copy} in place of {home / 'panorama.db'}? The present file is kept in {home / 'backups'}.")
    address = Address(str(home))
    with translated(), alone(address):
        end_daemon(address, again=False)
        kept = _put(copy, home / "panorama.db", address)
    show.aside(f"Restored from {copy}" + (f"; what was there before is {kept}" if kept else ""))


def _put(copy: Path, database: Path, address: Address) -> Path | None:
    """Put the copy in place as soon as nobody serves the data: a process that ends lets go of it at the very last."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        with held(address.lock) as lock:
            if lock is not None:
                return backups.put_in_place(copy, database, datetime.now(UTC))
        if time.monotonic() > deadline:
            raise UnavailableError("Another program serves this data.", hint="`panorama daemon status` shows it.")
        time.sleep(0.05)


def _ask(question: str) -> None:
    if not show.person_is_there():
        raise ConfirmationError(question, hint="Add --yes to say yes to it.")
    if not show.asked(question):
        raise DeclinedError("Nothing was changed.")
