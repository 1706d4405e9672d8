"""Choosing a model: it is tried, written into `config.toml`, and takes over in the daemon that runs."""

import os
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from panorama.cli.client import Client
from panorama.cli.clients import settings_file
from panorama.cli.commands import daemon
from panorama.cli.console import console
from panorama.cli.console.tables import Row, safe_line
from panorama.errors import InvalidInputError, PanoramaError, UnavailableError
from panorama.index.embedders import registry
from panorama.index.embedders.http import LOCAL_HOSTS, Limits
from panorama.index.embedders.keys import find_key
from panorama.index.embedders.registry import BUNDLED
from panorama.index.evaluation.trial import measure_speed
from panorama.transport.address import Address, data_directory

NAME, DEFAULT, OFF = "embedder", "default", "none"

TRIAL_LIMITS = Limits(documents=20.0, query=20.0, pause=20.0)
"""How long a service may take to embed one text before it is refused; it is asked once, not again and again."""

MEASURE_SECONDS = 0.5


def choose(name: str, *, default: bool, force: bool) -> None:
    """Make a model the one that search by meaning uses; "default" leaves the choice to Panorama.

    Raises:
        InvalidInputError: There is none of this name.
        UnavailableError: It does not work, or config.toml cannot be changed; nothing was changed.
    """
    chosen = _validate_name(name, default)
    speed = 0.0 if force or chosen in (DEFAULT, OFF) else _measure_speed(chosen)
    home = Path(data_directory())
    is_new = (
        settings_file.remove_setting(home, NAME)
        if chosen == DEFAULT
        else settings_file.write_setting(home, NAME, chosen)
    )
    where = home / settings_file.CONFIG_FILE
    words = f"{where} leaves the choice to Panorama" if chosen == DEFAULT else f"{where} says {NAME} = {chosen}"
    console.print_blocks([safe_line(f"{words}." if is_new else f"{words} already.")])
    if remark := _shell_only_hint(chosen):
        console.print_message(remark, "yellow")
    _activate(registry.default_choice().name if chosen == DEFAULT else chosen, speed, restart=is_new)


def _validate_name(name: str, default: bool) -> str:
    """Return the name of a model that exists.

    Raises:
        InvalidInputError: There is none of this name, or two were given.
    """
    if default:
        if name not in ("", DEFAULT):
            raise InvalidInputError(f"Both {name} and --default were given.", hint="Give one of them.")
        return DEFAULT
    if not name:
        raise InvalidInputError("No model was named.", hint="`panorama models list` shows them.")
    if name not in (DEFAULT, OFF):
        try:
            registry.create_embedder(name, ring=_no_keyring).close()
        except InvalidInputError as error:
            hint = f"{error.hint} `none` turns search by meaning off."
            raise InvalidInputError(error.message, hint=hint, candidates=error.candidates) from error
    return name


def _no_keyring(_service: str, _name: str) -> None:
    """Hold no key: whether a name can be chosen does not depend on it."""


def _measure_speed(name: str) -> float:
    """Return how many passages a second a model embeds, 0 if that takes too long to find out.

    Raises:
        UnavailableError: It does not work; nothing was changed.
    """
    with closing(registry.create_embedder(name, limits=TRIAL_LIMITS)) as embedder, console.progress(f"Trying {name}"):
        try:
            began = time.perf_counter()
            embedder.load()
            is_quick = name in BUNDLED or time.perf_counter() - began < MEASURE_SECONDS
            return measure_speed(embedder, MEASURE_SECONDS) if is_quick else 0.0
        except UnavailableError as error:
            hint = f"{error.hint} Nothing was changed; --force takes it untried."
            raise UnavailableError(error.message, hint=hint) from error


def _shell_only_hint(name: str) -> str:
    """Return what a daemon that another program starts will not know, "" if there is nothing."""
    kind, _, rest = name.partition(":")
    base = rest.partition("#")[0]
    if kind == "ollama" and os.environ.get("OLLAMA_HOST"):
        return "OLLAMA_HOST is set in this shell; set it for the programs that start Panorama, too."
    if kind == "openai" and find_key(base, ring=_no_keyring) and urlsplit(base).hostname not in LOCAL_HOSTS:
        return f"The key is that of this shell; `keyring set panorama {base}` keeps it for all programs."
    return ""


def _activate(name: str, speed: float, *, restart: bool) -> None:
    """Let a daemon that runs begin anew with the model, and tell what happens until it is ready.

    What goes wrong here is only told: the choice is made.
    """
    try:
        if restart and Address(data_directory()).find_pid() is not None:
            daemon.restart()
        with Client() as panorama:
            known = panorama.call("models.list", {}).data
    except PanoramaError as error:
        console.print_message(f"{error.message} {error.hint}".strip(), "yellow")
        return
    if remark := settings_file.env_override(known["used"]):
        console.print_message(remark, "yellow")
    elif known["used"] != name:
        console.print_message(
            f"{known['used']} is still in use: `panorama daemon restart` lets {name} take over.", "yellow"
        )
    if known["used"] == name != OFF:
        console.print_message(_describe_remaining(known, name, speed))


def _describe_remaining(known: Row, name: str, speed: float) -> str:
    of = {row["name"]: row["passages"] for row in known["models"]}
    model = of[name]
    left = max(0, known["passages"] - model)
    if not left:
        return f"{name} has embedded all there is." if model else "Search by meaning begins when your notes are read."
    before = known.get("searched")
    until = (
        f"Search goes on with {before} until" if before != name and of.get(before) else "Search by meaning begins when"
    )
    long = f", in about {_format_duration(left / speed)}" if speed else ""
    return f"{until} {left:,} passages are embedded by {name}{long}."


def _format_duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
