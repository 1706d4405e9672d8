"""Replaces the secrets in entries of `sources.json` by references, for copies in backups and exports."""

import re
from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from panorama.domain.sources.names import to_identifier
from panorama.domain.text.secrets import REDACTED, redact_text
from panorama.errors import InvalidInputError
from panorama.sources.config import CONFIG_FILE
from panorama.sources.options import list_options
from panorama.sources.secret_store import is_secret_argument
from panorama.sources.secrets import is_secret_setting

VALUE_KEYS = ("env", "headers", "options")
"""The keys of an entry that have named values, which may be secrets."""

_VARIABLE = re.compile(r"\$\{\w+(?::-([^}]*))?\}")
_STORED_SECRET = re.compile(r"(?:keyring|file):[a-z][a-z0-9_]*/[^\s/?=:@]+")
_SCHEME = re.compile(r"(?i)\b(?:bearer|basic|token)\s+")
"""The words before a key in headers, which are no secrets."""

_FILLERS = f" :{REDACTED}"
"""What may be around the variables of a value that contains no secret in clear text."""

_VARIABLE_LOGIN = re.compile(f"//[{REDACTED}:]+@")


def remove_secrets(source: str, entry: Mapping[str, Any], removed: list[str]) -> dict[str, Any]:
    """Return an entry with references in place of the secrets that it contains in clear text.

    Args:
        removed: Takes the names of these secrets: `crm.TOKEN`, or `crm.${CRM_LOGIN}` for a variable of an address.

    Raises:
        InvalidInputError: Its address cannot be read.
    """

    def make_reference(name: str) -> str:
        removed.append(f"{source}.{name}")
        return f"keyring:{source}/{name}"

    copied = dict(entry)
    secret_options = {option.name for option in list_options(entry.get("kind") or "mcp") if option.is_secret}
    for key in VALUE_KEYS:
        if values := cast("dict[str, Any]", entry.get(key)):
            known = secret_options if key == "options" else ()
            copied[key] = {
                name: make_reference(name) if _is_secret(name, value, is_known=name in known) else value
                for name, value in values.items()
            }
    if args := cast("list[str]", entry.get("args")):
        flags = ["", *args[:-1]]
        copied["args"] = [
            make_reference(f"argument_{at}") if _is_secret_argument(flag, arg) else arg
            for at, (flag, arg) in enumerate(zip(flags, args, strict=True), start=1)
        ]
    if url := cast("str", entry.get("url")):
        copied["url"] = _remove_secrets_of_address(source, url, removed)
    return copied


def _fill_defaults(value: str) -> str:
    """Return a value with the defaults of its variables, and with dots for variables without one."""
    while (filled := _VARIABLE.sub(lambda match: REDACTED if match[1] is None else match[1], value)) != value:
        value = filled
    return _VARIABLE_LOGIN.sub("//", value)


def _is_secret(name: str, value: object, *, is_known: bool = False) -> bool:
    """Return whether a value holds a secret in clear text, also beside a variable or as its default."""
    if not isinstance(value, str):
        return not isinstance(value, bool | int | float)  # a kind has no option of that form
    if _STORED_SECRET.fullmatch(value):
        return False
    text = _fill_defaults(value)
    is_named = is_known or is_secret_setting(name)
    return redact_text(text) != text or (is_named and bool(_SCHEME.sub("", text).strip(_FILLERS)))


def _is_secret_argument(flag: str, argument: str) -> bool:
    if _STORED_SECRET.fullmatch(argument):
        return False
    text = _SCHEME.sub("", _fill_defaults(argument)).rstrip(_FILLERS)
    return is_secret_argument(flag, text) or _is_secret("", argument)


def _remove_secrets_of_address(source: str, url: str, removed: list[str]) -> str:
    """Return an address with variables in place of its password and of secrets in its query or fragment.

    With a secret elsewhere, such as in the default of a variable, the whole address becomes a variable.
    """
    variables: list[str] = []
    copied = url
    try:
        if all(match[1] is None for match in _VARIABLE.finditer(url)):
            copied = _replace_secrets(source, url, variables)
        has_others = _has_secret(source, _fill_defaults(copied))
    except ValueError as error:
        raise InvalidInputError(
            f"The source {source} in {CONFIG_FILE} has a url that cannot be read.", hint="Correct it."
        ) from error
    if has_others:
        copied = _make_variable(source, "url")
        variables = [copied]
    removed += [f"{source}.{variable}" for variable in variables]
    return copied


def _has_secret(source: str, url: str) -> bool:
    """Return whether an address without variables contains a secret."""
    variables: list[str] = []
    _replace_secrets(source, url, variables)
    address = urlsplit(url)._replace(query="", fragment="").geturl()
    return bool(variables) or redact_text(address) != address


def _replace_secrets(source: str, url: str, variables: list[str]) -> str:
    """Return an address with variables in place of its login and of secrets in its query or fragment."""

    def make_variable(name: str) -> str:
        variables.append(_make_variable(source, name))
        return variables[-1]

    def replace_in_pairs(text: str) -> str:
        pairs = [pair.partition("=") for pair in text.split("&")]
        return "&".join(_replace_in_pair(*pair, make_variable) for pair in pairs)

    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    if _VARIABLE.sub("", login).strip(":"):
        parts = parts._replace(netloc=f"{make_variable('login')}{at}{host}")
    parts = parts._replace(query=replace_in_pairs(parts.query), fragment=replace_in_pairs(parts.fragment))
    return parts.geturl() if variables else url


def _replace_in_pair(name: str, equals: str, value: str, make_variable: Callable[[str], str]) -> str:
    if not equals:
        return make_variable("query") if _is_secret("", name) else name
    return f"{name}={make_variable(name) if _is_secret(name, value) else value}"


def _make_variable(source: str, name: str) -> str:
    return f"${{{source}_{to_identifier(name)}}}".upper()
