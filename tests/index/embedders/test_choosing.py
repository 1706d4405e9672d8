"""Embedders are chosen by name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from panorama.errors import InvalidInputError, UnavailableError
from panorama.index.embedders import minilm, registry
from panorama.index.embedders.apis import ollama_base
from panorama.index.embedders.bundled import BundledFile
from panorama.index.embedders.keys import find_key
from panorama.index.embedders.minilm import MiniLM
from panorama.index.embedders.registry import create_embedder

OPENAI = "https://api.openai.com/v1"
ELSEWHERE = "https://models.example.org/v1"


def _no_ring(*_: str) -> None:
    return None


@pytest.mark.parametrize("name", ["duo", "minilm", "static", "ollama:nomic-embed-text:v1.5", f"openai:{OPENAI}#small"])
def test_an_embedder_has_the_name_it_was_chosen_by(name: str) -> None:
    assert create_embedder(name, ring=_no_ring).id == name


@pytest.mark.parametrize("name", ["minilmm", "MiniLM", "statik", "olama:x", "ollama", "ollama:", "openai", "", "x:y"])
def test_an_unknown_name_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        create_embedder(name)

    assert "minilm" in caught.value.hint or "#" in caught.value.hint


def test_a_misspelt_name_has_near_ones() -> None:
    with pytest.raises(InvalidInputError) as caught:
        create_embedder("minilmm")

    assert caught.value.candidates == ({"id": "minilm"},)


@pytest.mark.parametrize(
    "base",
    [
        "",
        "api.openai.com",
        "ftp://a.example",
        "http://",
        "http://a:b@c.example",
        "http://a:99999",
        "http://a?b=c",
        "http://a..b",
    ],
)
def test_an_address_that_cannot_be_asked_is_refused(base: str) -> None:
    with pytest.raises(InvalidInputError):
        create_embedder(f"openai:{base}#model")


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("box.local:8080", "http://box.local:8080"),
        ("http://box.local:8080/", "http://box.local:8080"),
        ("https://box.local/ollama", "https://box.local/ollama"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:80", "http://[::1]:80"),
    ],
)
def test_ollama_is_where_its_own_variable_says(text: str, base: str) -> None:
    assert ollama_base({"OLLAMA_HOST": text}) == base


def test_the_key_of_openai_goes_to_openai_alone() -> None:
    environment = {"OPENAI_API_KEY": "sk-theirs"}

    assert find_key(OPENAI, environment, _no_ring) == "sk-theirs"
    assert find_key(ELSEWHERE, environment, _no_ring) == ""


def test_a_key_of_ours_wins_and_the_keyring_comes_last() -> None:
    def ring(service: str, name: str) -> str | None:
        return f"{service} {name}"

    assert find_key(OPENAI, {"PANORAMA_OPENAI_KEY": "ours", "OPENAI_API_KEY": "theirs"}, ring) == "ours"
    assert find_key(ELSEWHERE, {}, ring) == f"panorama {ELSEWHERE}"
    assert find_key("http://127.0.0.1:1234/v1", {}, ring) == ""


def test_a_key_that_cannot_be_sent_is_refused_without_showing_it() -> None:
    with pytest.raises(InvalidInputError, match="an invalid character") as refused:
        find_key(OPENAI, {"PANORAMA_OPENAI_KEY": "“sk-1”"})

    assert "sk-1" not in f"{refused.value.to_dict()}"


def test_a_damaged_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "MINILM", BundledFile(name="minilm-int8.onnx", digest="0" * 64))

    with pytest.raises(UnavailableError, match="is damaged"):
        MiniLM().load()


def test_a_missing_library_is_named_with_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with pytest.raises(UnavailableError, match="needs onnxruntime") as caught:
        MiniLM().load()

    assert "static" in caught.value.hint


def test_without_onnx_runtime_the_small_embedder_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert registry.default_choice().name == "duo"

    monkeypatch.setattr(registry, "find_spec", {}.get)

    assert (registry.default_choice().name, bool(registry.default_choice().hint)) == ("static", True)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_onnx_runtime_tells_nobody_and_leaves_nothing_behind(tmp_path: Path) -> None:
    code = (
        "import os; from panorama.index.embedders.minilm import MiniLM\n"
        "MiniLM().embed_query('tea')\n"
        "print(*(os.readlink(f'/proc/self/fd/{name}') for name in os.listdir('/proc/self/fd')[:-1]), sep='\\n')"
    )
    # It also keeps quiet where these are set, as in tests.
    quiet = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "ORT_RUNNING_UNIT_TESTS", "ORT_DISABLE_TELEMETRY")
    environment = {name: value for name, value in os.environ.items() if name not in quiet}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "ORT_DISABLE_TELEMETRY": "0"}

    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)

    assert list(tmp_path.iterdir()) == []
    assert not [line for line in ran.stdout.splitlines() if "socket" in line or "onnxruntime" in line]


def test_importing_the_embedders_imports_no_library_of_theirs() -> None:
    code = (
        "import sys, panorama.index.embedders.registry, panorama.index.embedders.lifecycle, panorama.ports;"
        "print(*{'numpy', 'onnxruntime', 'httpx2', 'keyring', 'sqlalchemy', 'fastmcp'} & set(sys.modules))"
    )

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == ""
