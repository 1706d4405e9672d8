"""Finds the API keys of embedding services."""

import os
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from panorama.errors import InvalidInputError
from panorama.index.embedders.http import LOCAL_HOSTS
from panorama.system_keyring import read_secret

KEYRING_SERVICE = "panorama"
OPENAI_HOST = "api.openai.com"

KeyringLookup = Callable[[str, str], str | None]


def find_key(base: str, environment: Mapping[str, str] = os.environ, ring: KeyringLookup = read_secret) -> str:
    """Find the key for the service at an address, "" if there is none.

    Reads PANORAMA_OPENAI_KEY; then OPENAI_API_KEY, only for OpenAI; then the keyring entry with the service `panorama`
    and the address. The keyring is not used for services on this machine.

    Raises:
        InvalidInputError: It cannot be sent.
    """
    host = urlsplit(base).hostname
    names = ["PANORAMA_OPENAI_KEY", *(["OPENAI_API_KEY"] if host == OPENAI_HOST else [])]
    found = next((environment[name] for name in names if environment.get(name, "").strip()), None)
    if found is None and host not in LOCAL_HOSTS:
        found = ring(KEYRING_SERVICE, base)
    found = (found or "").strip()
    if found.isascii() and found.isprintable():
        return found
    raise InvalidInputError(
        f"The key for {base} contains an invalid character, such as an accent or a typographic quote.",
        hint=f"Copy it again, into PANORAMA_OPENAI_KEY or by `keyring set {KEYRING_SERVICE} {base}`.",
    )
