"""Storing secrets: in the keyring if it keeps them, else in a private file."""

import json
import stat
from collections.abc import Generator
from pathlib import Path
from typing import ClassVar

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError

from panorama.errors import InvalidInputError
from panorama.sources.secret_store import delete_secrets, list_references, move_secrets, store_secret
from panorama.sources.secrets import is_secret_setting, open_secrets

TOKEN = "tok-0123456789abcdef"


class MemoryKeyring(KeyringBackend):
    """A keyring in memory."""

    priority = 1
    drops: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[tuple[str, str], str] = {}

    def set_password(self, service: str, username: str, password: str) -> None:
        if not self.drops:
            self.values[service, username] = password

    def get_password(self, service: str, username: str) -> str | None:
        return self.values.get((service, username))

    def delete_password(self, service: str, username: str) -> None:
        if (service, username) not in self.values:
            raise PasswordDeleteError
        del self.values[service, username]


class DroppingKeyring(MemoryKeyring):
    """A keyring that drops what it is given, without an error."""

    drops = True


@pytest.fixture
def ring() -> Generator[MemoryKeyring]:
    before = keyring.get_keyring()
    memory = MemoryKeyring()
    keyring.set_keyring(memory)
    yield memory
    keyring.set_keyring(before)


def test_a_secret_goes_to_the_keyring_and_comes_back(tmp_path: Path, ring: MemoryKeyring) -> None:
    reference = store_secret(tmp_path, "crm", "TOKEN", f" {TOKEN}\n")

    assert (reference, open_secrets(tmp_path)(reference)) == ("keyring:crm/TOKEN", TOKEN)
    assert not (tmp_path / "sources.keys").exists()

    delete_secrets(tmp_path, [reference, "keyring:crm/OTHER", "plain"])
    assert ring.values == {}


def test_a_keyring_that_drops_secrets_is_not_trusted(tmp_path: Path, ring: MemoryKeyring) -> None:
    keyring.set_keyring(DroppingKeyring())

    reference = store_secret(tmp_path, "crm", "TOKEN", TOKEN)

    assert (reference, open_secrets(tmp_path)(reference)) == ("file:crm/TOKEN", TOKEN)
    assert stat.S_IMODE((tmp_path / "sources.keys").stat().st_mode) == 0o600


def test_a_secret_goes_to_the_file_if_the_user_wants_it(tmp_path: Path, ring: MemoryKeyring) -> None:
    assert store_secret(tmp_path, "crm", "TOKEN", TOKEN, in_file=True) == "file:crm/TOKEN"
    assert ring.values == {}


@pytest.mark.parametrize("value", ["", "  ", "a\x00b", "a\nb", "x" * 8001])
def test_what_is_no_key_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(InvalidInputError, match="Invalid key"):
        store_secret(tmp_path, "crm", "TOKEN", value, in_file=True)


@pytest.mark.parametrize(
    ("args", "moved"),
    [
        (["-y", "server", "--api-key", TOKEN], [3]),
        (["--token=abcdefgh"], [0]),
        (["--header", "Authorization: Bearer abcdefgh12345"], [1]),
        (["--api-key", "${API_KEY}"], []),
        (["--keyword", "tea", "--author", "Ada", "https://example.org/api_key"], []),
        (["--verbose", "--port", "8080", "path/to:file"], []),
        (["ghp_0123456789abcdefghij"], [0]),
    ],
)
def test_arguments_that_look_like_secrets_are_moved(tmp_path: Path, args: list[str], moved: list[int]) -> None:
    entry = move_secrets(tmp_path, "crm", {"command": "x", "args": args}, in_file=True)

    assert [at for at, (old, new) in enumerate(zip(args, entry["args"], strict=True)) if old != new] == moved
    assert list_references(entry) == [f"file:crm/argument_{at + 1}" for at in moved]
    stored = json.loads((tmp_path / "sources.keys").read_text()) if moved else {}
    assert list(stored.values()) == [args[at] for at in moved]


@pytest.mark.parametrize(
    ("names", "is_secret"),
    [
        (("X-API-Key", "apikey", "OPENAI_API_KEY", "accessKey", "KEY_2", "BASIC_AUTH", "X-Auth", "GITHUB_OAUTH"), True),
        (("Authorization", "Cookie", "Set-Cookie", "DB_PASSWORD", "token", "client_secret"), True),
        (("keyword", "author", "KEYBOARD", "TZ", "LOG_LEVEL", "authors"), False),
    ],
)
def test_names_of_secrets_are_told_from_others(names: tuple[str, ...], is_secret: bool) -> None:
    assert [is_secret_setting(name) for name in names] == [is_secret] * len(names)
