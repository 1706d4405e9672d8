"""`panorama move`: moves the data to a PostgreSQL database, or back to the file in the data directory."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated

from panorama.cli.console import console
from panorama.cli.options import Yes, examples, option
from panorama.config_file import remove_setting, write_setting
from panorama.domain.text.wording import pluralize
from panorama.errors import InvalidInputError

if TYPE_CHECKING:
    from panorama.config import Settings
    from panorama.store.backend import ContentStore, Database

EXAMPLES = examples(
    "panorama move --to postgresql://anna@db.example.org/panorama",
    "panorama move --to postgresql://anna@db.example.org/panorama --space team",
    "panorama move --to sqlite               # back to the file in the data directory",
)
Report = Callable[[int, int], None]
SQLITE = "sqlite"
URL_SETTING, SPACE_SETTING = "database_url", "space"


@dataclass(frozen=True, slots=True)
class _Moved:
    """Where the old data is kept, and what else the user has to know."""

    kept: str
    remarks: list[str]


def move(
    to: Annotated[str, option("The address of a PostgreSQL database, or `sqlite`.", "--to", metavar="URL")],
    space: Annotated[str, option("The space of that database; by default that of the settings.", "--space")] = "",
    yes: Yes = False,
) -> None:
    """Move the data to a PostgreSQL database, or back. Every row is compared, and the old data is kept."""
    from panorama.cli.client import translate_errors
    from panorama.cli.commands.database.restore import confirm, hold_data
    from panorama.cli.daemon_process import end_daemon
    from panorama.config import read_settings
    from panorama.databases import open_backend, open_postgres
    from panorama.transport.address import Address
    from panorama.transport.launch import exclusive_start

    _require_own_settings()
    settings = read_settings()
    url, space = settings.database_url.get_secret_value(), space or settings.space
    _require_other(to, is_in_postgres=bool(url))
    postgres, file = open_postgres(url or to, space, settings.home), open_backend(settings.as_local())
    source, target = (postgres, file) if url else (file, postgres)
    if not yes:
        places = f"{source.maintenance.describe()} to {target.maintenance.describe()}"
        confirm(f"Move the data from {places}? The daemon is stopped for it, and the old data is kept.")
    address = Address(str(settings.home))
    with console.report_interrupt("Nothing was moved."), translate_errors(), exclusive_start(address):
        end_daemon(address, again=False)
        with hold_data(address), console.progress("Moving") as report:
            run = _move_to_file if url else _move_to_postgres
            moved = run(settings, url or to, space, lambda done, total: report(done, total, ""))
    console.print_message(f"Moved to {target.maintenance.describe()}.")
    for remark in moved.remarks:
        console.print_message(remark, "yellow")
    console.print_message(f"The old data is kept as {moved.kept}; delete it when you do not need it any more.")


def _require_own_settings() -> None:
    """Check that the move can change which database is used.

    Raises:
        InvalidInputError: The environment says which.
    """
    for name in (URL_SETTING, SPACE_SETTING):
        if (variable := f"PANORAMA_{name.upper()}") in os.environ:
            raise InvalidInputError(
                f"{variable} is set and overrides config.toml, where a move writes the new database.",
                hint=f"Unset it; if the data is in that database, write {name} into config.toml first.",
            )


def _require_other(to: str, *, is_in_postgres: bool) -> None:
    """Check that the target is the other kind of database.

    Raises:
        InvalidInputError: It is the present one.
    """
    if is_in_postgres == (to == SQLITE):
        return
    if is_in_postgres:
        raise InvalidInputError("The data is in a PostgreSQL database.", hint="panorama move --to sqlite")
    raise InvalidInputError(
        "The data is in the data directory already.", hint="panorama move --to postgresql://role@host/database"
    )


def _move_to_postgres(settings: "Settings", url: str, space: str, report: Report) -> _Moved:
    """Fill the space and use it from now on."""
    from panorama.store.postgres.transfer import moving

    now, home = datetime.now(UTC), settings.home
    stores = moving.ContentStores(_open_contents(settings, settings.space), _open_contents(settings, space))
    result = moving.fill_space(home, url, space, now, report, stores)
    stored, remarks = _store_password(url)
    write_setting(home, SPACE_SETTING, space)
    write_setting(home, URL_SETTING, stored)
    return _Moved(
        str(moving.set_file_aside(home, now)), [*remarks, *result.remarks, *_describe_missing(result.missing)]
    )


def _store_password(url: str) -> tuple[str, list[str]]:
    """Store the password of an address in the keyring; return the address for config.toml, and where the password is.

    Without a keyring the address keeps it.
    """
    from panorama.store.postgres.connections import KEYRING_SERVICE, describe_url, parse_url, split_password
    from panorama.system_keyring import store_secret

    bare, password = split_password(url)
    if not password:
        return url, []
    if store_secret(KEYRING_SERVICE, describe_url(parse_url(url)), password):
        return bare, ["The password is stored in the system's keyring, not in config.toml."]
    return url, [
        "There is no keyring here: config.toml contains the password in clear text. To avoid that, write it to "
        "~/.pgpass and remove it from database_url."
    ]


def _move_to_file(settings: "Settings", url: str, space: str, report: Report) -> _Moved:
    """Fill the file and use it from now on."""
    from panorama.config import Settings
    from panorama.store.postgres.transfer import moving

    home, target = settings.home, Settings.model_fields[SPACE_SETTING].default
    stores = moving.ContentStores(_open_contents(settings, space), _open_contents(settings, target))
    missing = moving.fill_file(url, space, home, report, stores)
    remove_setting(home, URL_SETTING)
    remove_setting(home, SPACE_SETTING)
    return _Moved(f"the space {moving.set_space_aside(url, space, datetime.now(UTC))}", _describe_missing(missing))


def _describe_missing(missing: list[str]) -> list[str]:
    count = pluralize(len(missing), "content of a file", "contents of files")
    return [f"{count} could not be moved (already missing or damaged): run `panorama doctor`."] if missing else []


def _open_contents(settings: "Settings", space: str) -> "Callable[[Database], ContentStore]":
    """Return the functions that open the content stores of a space and of the data directory."""
    from panorama.databases import open_contents

    return partial(open_contents, settings.model_copy(update={SPACE_SETTING: space}), claims=False)
