"""Selects a model: tries it, writes it to `config.toml`, and restarts a running daemon."""

import os
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from panorama import config_file
from panorama.cli.client import Client
from panorama.cli.commands import daemon
from panorama.cli.console import console
from panorama.cli.console.tables import Row, safe_line
from panorama.domain.text.sizes import format_span
from panorama.errors import InvalidInputError, PanoramaError, UnavailableError
from panorama.index.embedders import registry
from panorama.index.embedders.http import LOCAL_HOSTS, Limits
from panorama.index.embedders.keys import find_key
from panorama.index.embedders.registry import runs_in_process
from panorama.index.evaluation.trial import measure_speed
from panorama.transport.address import Address, data_directory

NAME, DEFAULT, OFF = "embedder", "default", "none"

TRIAL_LIMITS = Limits(documents=20.0, query=20.0, pause=20.0)
"""The time limit of a service for embedding one text; there are no retries."""

MEASURE_SECONDS = 0.5


def choose(name: str, *, default: bool, force: bool) -> None:
    """Select the model of search by meaning; "default" leaves the choice to Panorama.

    Raises:
        InvalidInputError: There is no such model.
        UnavailableError: It does not work, or config.toml cannot be changed; nothing was changed.
    """
    chosen = _validate_name(name, default)
    speed = 0.0 if force or chosen in (DEFAULT, OFF) else _measure_speed(chosen)
    home = Path(data_directory())
    is_new = (
        config_file.remove_setting(home, NAME) if chosen == DEFAULT else config_file.write_setting(home, NAME, chosen)
    )
    where = home / config_file.CONFIG_FILE
    words = f"{where} leaves the choice to Panorama" if chosen == DEFAULT else f"{where} has {NAME} = {chosen}"
    console.print_blocks([safe_line(f"{words}." if is_new else f"{words} already.")])
    if remark := _shell_only_hint(chosen):
        console.print_message(remark, "yellow")
    _activate(registry.default_choice().name if chosen == DEFAULT else chosen, speed, restart=is_new)


def _validate_name(name: str, default: bool) -> str:
    """Check that a model exists, and return its name.

    Raises:
        InvalidInputError: There is no such model, or two were given.
    """
    if default:
        if name not in ("", DEFAULT):
            raise InvalidInputError(f"Both {name} and --default were given.", hint="Give one of them.")
        return DEFAULT
    if not name:
        raise InvalidInputError("No model was given.", hint="`panorama models list` shows them.")
    if name not in (DEFAULT, OFF):
        try:
            registry.create_embedder(name, ring=_no_keyring).close()
        except InvalidInputError as error:
            hint = f"{error.hint} `none` turns search by meaning off."
            raise InvalidInputError(error.message, hint=hint, candidates=error.candidates) from error
    return name


def _no_keyring(_service: str, _name: str) -> None:
    """Return no key: the check of a name does not need it."""


def _measure_speed(name: str) -> float:
    """Measure how many passages a second a model embeds, 0 if that takes too long.

    Raises:
        UnavailableError: It does not work; nothing was changed.
    """
    with closing(registry.create_embedder(name, limits=TRIAL_LIMITS)) as embedder, console.progress(f"Trying {name}"):
        try:
            began = time.perf_counter()
            embedder.load()
            is_quick = runs_in_process(name) or time.perf_counter() - began < MEASURE_SECONDS
            return measure_speed(embedder, MEASURE_SECONDS) if is_quick else 0.0
        except UnavailableError as error:
            hint = f"{error.hint} Nothing was changed; use --force to select it without a trial."
            raise UnavailableError(error.message, hint=hint) from error


def _shell_only_hint(name: str) -> str:
    """Return the settings of this shell that a daemon started elsewhere does not have, "" if none."""
    kind, _, rest = name.partition(":")
    base = rest.partition("#")[0]
    if kind == "ollama" and os.environ.get("OLLAMA_HOST"):
        return "OLLAMA_HOST is set in this shell; set it for the programs that start Panorama, too."
    if kind == "openai" and find_key(base, ring=_no_keyring) and urlsplit(base).hostname not in LOCAL_HOSTS:
        return f"The key is set in this shell only; `keyring set panorama {base}` stores it for all programs."
    return ""


def _activate(name: str, speed: float, *, restart: bool) -> None:
    """Restart a running daemon with the model, and describe what happens until it is ready.

    Errors are only reported, because the model is already selected.
    """
    try:
        if restart and Address(data_directory()).find_pid() is not None:
            daemon.restart()
        with Client() as panorama:
            known = panorama.call("models.list", {}).data
    except PanoramaError as error:
        console.print_message(f"{error.message} {error.hint}".strip(), "yellow")
        return
    if remark := config_file.env_override(known["used"]):
        console.print_message(remark, "yellow")
    elif known["used"] != name:
        console.print_message(
            f"{known['used']} is still in use: `panorama daemon restart` switches to {name}.", "yellow"
        )
    if known["used"] == name != OFF:
        console.print_message(_describe_remaining(known, name, speed))


def _describe_remaining(known: Row, name: str, speed: float) -> str:
    of = {row["name"]: row["passages"] for row in known["models"]}
    model = of[name]
    left = max(0, known["passages"] - model)
    if not left:
        return f"{name} has embedded everything." if model else "Search by meaning starts once your notes are embedded."
    before = known.get("searched")
    until = f"Search uses {before} until" if before != name and of.get(before) else "Search by meaning starts when"
    long = f", in about {format_span(max(1.0, left / speed))}" if speed else ""
    return f"{until} {left:,} passages are embedded by {name}{long}."
