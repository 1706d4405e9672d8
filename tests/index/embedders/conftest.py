"""The embedders, loaded once, and a service that stands in for Ollama and for OpenAI."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from panorama.index.embedders.added.adding import add_folder
from panorama.index.embedders.added.folder_embedder import FolderEmbedder
from panorama.index.embedders.http import Limits
from panorama.index.embedders.minilm import MiniLM
from panorama.index.embedders.multilingual.duo import Duo
from panorama.index.embedders.registry import create_embedder
from panorama.index.embedders.remote import RemoteEmbedder
from panorama.index.embedders.static import StaticEmbedder
from panorama.ports import Embedder

from .added.folders import write_folder
from .service import Service, serving

HASTY = Limits(documents=0.5, query=0.4, pause=0.01, connect=0.3, answer_bytes=1 << 20, repeats_queries=True)
PATIENT = replace(HASTY, documents=10.0, query=10.0, connect=5.0)
"""For what is not about time: a busy machine may stand still for half a second."""

KINDS = ("ollama", "openai")


@pytest.fixture(scope="session", autouse=True)
def duo() -> Iterator[Duo]:
    """The default embedder, whose file stays open beyond a test."""
    created = Duo(workers=2)
    created.load()
    yield created
    created.close()


@pytest.fixture(scope="session")
def minilm() -> Iterator[MiniLM]:
    """The English embedder."""
    made = MiniLM(workers=2)
    made.load()
    yield made
    made.close()


@pytest.fixture(scope="session")
def static() -> Iterator[StaticEmbedder]:
    """The small embedder."""
    made = StaticEmbedder()
    made.load()
    yield made
    made.close()


@pytest.fixture(scope="session")
def added(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FolderEmbedder]:
    """A small model of the user's own."""
    folder, models = tmp_path_factory.mktemp("small"), tmp_path_factory.mktemp("models")
    model = add_folder(models, write_folder(folder, {"sentence_bert_config.json": {}}), name="small")
    created = FolderEmbedder(model, models / model.name, workers=2)
    yield created
    created.close()


@pytest.fixture
def service() -> Iterator[Service]:
    """A service that embeds."""
    with serving() as made:
        yield made


@pytest.fixture
def connected(service: Service) -> Iterator[Callable[..., RemoteEmbedder]]:
    """Makes embedders that ask the service."""
    made: list[RemoteEmbedder] = []

    def connect(kind: str, limits: Limits = PATIENT, **environment: str) -> RemoteEmbedder:
        name = "ollama:tiny" if kind == "ollama" else f"openai:{service.url}/v1#tiny"
        one = create_embedder(name, limits=limits, environment={"OLLAMA_HOST": service.url, **environment})
        assert isinstance(one, RemoteEmbedder)
        made.append(one)
        return one

    yield connect
    service.ended.set()
    for item in made:
        item.close()


@pytest.fixture(params=KINDS)
def remote(connected: Callable[..., RemoteEmbedder], request: pytest.FixtureRequest) -> RemoteEmbedder:
    """An embedder of each API in turn."""
    return connected(request.param)


@pytest.fixture(params=KINDS)
def hasty(connected: Callable[..., RemoteEmbedder], request: pytest.FixtureRequest) -> RemoteEmbedder:
    """An embedder of each API in turn, that gives up soon."""
    return connected(request.param, HASTY)


@pytest.fixture(params=("duo", "minilm", "static", "added", *KINDS))
def any_embedder(request: pytest.FixtureRequest) -> Embedder:
    """Each embedder in turn."""
    if request.param in KINDS:
        remote = request.getfixturevalue("connected")(request.param)
        remote.load()
        return remote
    return request.getfixturevalue(request.param)
