"""Reading the secrets that `sources.json` refers to."""

import json
from pathlib import Path

import pytest

from panorama.errors import UnavailableError
from panorama.sources.secrets import is_reference, open_secrets


def test_a_variable_of_the_environment_is_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRM_KEY", "abc123")

    look_up = open_secrets(tmp_path)

    assert look_up("Bearer ${CRM_KEY}") == "Bearer abc123"
    assert look_up("${NOT_SET_ANYWHERE:-default}") == "default"


def test_a_secret_is_read_from_the_key_file(tmp_path: Path) -> None:
    (tmp_path / "sources.keys").write_text(json.dumps({"crm/KEY": "abc123"}))

    assert open_secrets(tmp_path)("file:crm/KEY") == "abc123"


@pytest.mark.parametrize("value", ["file:crm/KEY", "${NOT_SET_ANYWHERE}"])
def test_a_missing_secret_names_the_command_that_stores_it(tmp_path: Path, value: str) -> None:
    with pytest.raises(UnavailableError) as missing:
        open_secrets(tmp_path)(value)

    assert "panorama sources secret" in missing.value.hint


def test_plain_values_refer_to_nothing(tmp_path: Path) -> None:
    assert open_secrets(tmp_path)("plain $value") == "plain $value"
    assert not is_reference("plain $value")
