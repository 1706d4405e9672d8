"""Codes and sessions."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from panorama.errors import NotFoundError
from panorama.web import access as access_module
from panorama.web.access import FILE_NAME, Access


def test_a_code_signs_in_once(tmp_path: Path) -> None:
    access = Access(tmp_path)
    code = access.create_code(read_only=False)

    assert access.sign_in(code, "Firefox")
    assert access.sign_in(code, "Firefox") is None


def test_a_code_ends_after_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    access = Access(tmp_path)
    monkeypatch.setattr(access_module, "CODE_SECONDS", -1.0)

    assert access.sign_in(access.create_code(read_only=False), "") is None


def test_a_session_survives_the_daemon(tmp_path: Path) -> None:
    access = Access(tmp_path)
    access.keep_port(4711)
    secret = access.sign_in(access.create_code(read_only=True), "Firefox") or ""

    later = Access(tmp_path)

    session_context = later.find_session(secret)
    assert session_context
    assert session_context.session.read_only
    assert (later.name, later.port) == (access.name, 4711)


def test_the_file_is_private_and_holds_no_secret(tmp_path: Path) -> None:
    access = Access(tmp_path)
    secret = access.sign_in(access.create_code(read_only=False), "Firefox") or ""
    file = tmp_path / FILE_NAME

    assert file.stat().st_mode & 0o777 == 0o600
    assert secret not in file.read_text()


def test_a_session_that_was_ended_is_gone(tmp_path: Path) -> None:
    access = Access(tmp_path)
    secrets = [access.sign_in(access.create_code(read_only=False), "") or "" for _ in range(3)]
    first = access.find_session(secrets[0])
    assert first

    access.revoke(first.session.id)
    assert [access.find_session(secret) is not None for secret in secrets] == [False, True, True]

    access.revoke("")
    assert access.list_sessions() == []


def test_a_session_that_is_not_there_cannot_be_ended(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        Access(tmp_path).revoke("0123")


def test_a_session_ends_after_thirty_days(tmp_path: Path) -> None:
    access = Access(tmp_path)
    secret = access.sign_in(access.create_code(read_only=False), "") or ""
    file = tmp_path / FILE_NAME
    stored = json.loads(file.read_text())
    stored["sessions"][0]["created_at"] = (datetime.now(UTC) - timedelta(days=31)).isoformat()
    file.write_text(json.dumps(stored))

    assert Access(tmp_path).find_session(secret) is None


@pytest.mark.parametrize("text", ["", "[]", "{", '{"sessions": [{"id": 1}]}', '{"sessions": "x"}'])
def test_a_file_that_was_damaged_lets_nobody_in(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)

    assert Access(tmp_path).list_sessions() == []
