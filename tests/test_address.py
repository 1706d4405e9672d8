"""What a person hears whose shell has other settings than the daemon that runs."""

import pytest

from panorama.transport.address import Address, settings_warning

FILE = "/h/config.toml"


@pytest.mark.parametrize(
    ("differs", "words", "others"),
    [
        (["PANORAMA_TIMEZONE"], [f"Put such settings into {FILE}"], ["keyring"]),
        (["PANORAMA_OPENAI_KEY"], ["not read from config.toml", "keyring set panorama ADDRESS"], [FILE]),
        (
            ["PANORAMA_OPENAI_KEY", "PANORAMA_EMBEDDER"],
            [f"Put such settings into {FILE}", "PANORAMA_OPENAI_KEY is"],
            [],
        ),
    ],
)
def test_what_the_daemon_was_started_without_is_told_with_what_brings_it_there(
    differs: list[str], words: list[str], others: list[str]
) -> None:
    warning = settings_warning(Address("/h"), {"differs": differs})

    assert all(words_ in warning for words_ in ["`panorama daemon restart`", *differs, *words])
    assert not any(other in warning for other in others)


def test_nothing_is_told_where_nothing_differs() -> None:
    assert settings_warning(Address("/h"), {"differs": []}) == ""
