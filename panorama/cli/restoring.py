"""Restoring: puts a copy of the database in place of the present one; needs no daemon, and ends the one that runs."""

from datetime import UTC, datetime
from pathlib import Path

from panorama.address import Address, alone, held
from panorama.cli import show
from panorama.cli.client import translated
from panorama.cli.daemon import end_daemon
from panorama.config import data_directory
from panorama.errors import ConfirmationError, DeclinedError, UnavailableError
from panorama.store import backups


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
        with held(address.lock) as lock:
            if lock is None:
                raise UnavailableError("Another program serves this data.", hint="`panorama daemon status` shows it.")
            kept = backups.put_in_place(copy, home / "panorama.db", datetime.now(UTC))
    show.aside(f"Restored from {copy}" + (f"; what was there before is {kept}" if kept else ""))


def _ask(question: str) -> None:
    if not show.person_is_there():
        raise ConfirmationError(question, hint="Add --yes to say yes to it.")
    if not show.asked(question):
        raise DeclinedError("Nothing was changed.")
