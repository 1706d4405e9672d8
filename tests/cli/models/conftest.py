"""Models that a command can choose, and what they have embedded."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from panorama.app import open_app
from panorama.cli.commands.models import choose, compare
from panorama.cli.console import console
from panorama.config import read_settings
from panorama.store.items import passages
from panorama.store.items.passages import INDEXER, Passage

from ...index.embedders.service import Service, serving
from .test_choosing import HASTY

Given = Callable[..., Any]
BODY = "This is about {}, in so many words that anybody who looks for it can find it by what is said of it here. "
SERVICES = ("ollama", "openai")


@pytest.fixture(autouse=True)
def unchosen(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the environment decides, and nobody is waited for."""
    for name in ("PANORAMA_EMBEDDER", "OPENAI_API_KEY", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(choose, "TRIAL_LIMITS", HASTY)
    monkeypatch.setattr(choose, "MEASURE_SECONDS", 0.05)
    monkeypatch.setattr(compare, "LIMITS", HASTY)


@pytest.fixture
def service() -> Iterator[Service]:
    """A service that embeds."""
    with serving() as made:
        yield made


@pytest.fixture(params=SERVICES)
def remote(request: pytest.FixtureRequest, service: Service, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a model of the service, in each API in turn."""
    monkeypatch.setenv("OLLAMA_HOST", service.url)
    return "ollama:tiny" if request.param == "ollama" else f"openai:{service.url}/v1#tiny"


@pytest.fixture
def config(home: Path) -> Path:
    """The file of the settings."""
    return home / "config.toml"


@pytest.fixture
def notes(given: Given) -> None:
    """Two notes that can be looked for, and one that cannot."""
    for word in ("gardens", "steamships"):
        given("create_note", title=f"All {word}", content=BODY.format(word) * 2)
    given("create_note", title="Short", content="Too short.")


@pytest.fixture
def embedded(home: Path) -> None:
    """Two passages with vectors of the model `static`."""
    every = [Passage("n_0000000001", "note", at, f"text {at}", 0, 1) for at in range(2)]
    with open_app(read_settings()) as app, app.context.database.transaction(INDEXER) as session:
        passages.replace(session, {"n_0000000001": every})
        passages.save_vectors(
            session, passages.model_name("static", "d"), {model.digest: bytes(512) for model in every}
        )


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Someone at the terminal."""
    monkeypatch.setattr(console, "is_interactive", lambda: True)
