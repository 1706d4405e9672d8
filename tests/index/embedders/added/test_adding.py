"""Models of one's own are added whole or not at all, and embed as the folder says."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panorama.errors import ConflictError, InvalidInputError, UnavailableError
from panorama.index.embedders.added import manifest
from panorama.index.embedders.added.adding import add_folder
from panorama.index.embedders.registry import create_embedder

from .folders import PIECES, build_model, tokenizer, write_folder

TEXTS = ("The boiler was serviced", "Recipe for lemon cake", "", "🙂", "note " * 2_000)
Add = Callable[..., Any]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data directory."""
    return tmp_path / "home"


@pytest.fixture
def add(home: Path, tmp_path: Path) -> Add:
    """Writes a folder with some files changed, and adds it: `add({"modules.json": []}, name="other")`."""

    def put(files: Any = None, **options: Any) -> Any:
        return add_folder(home / "models", write_folder(tmp_path / "Small Model", files), **options)

    return put


def test_a_folder_becomes_a_model_with_its_name(add: Add, home: Path) -> None:
    added = add()

    assert (added.id, added.size, added.max_tokens, added.pooling) == ("local:small-model", 32, 128, "mean")
    assert sorted(os.listdir(home / "models")) == ["small-model"]
    assert sorted(os.listdir(home / "models" / "small-model")) == ["model.json", "model.onnx", "tokenizer.json"]


def test_it_embeds_as_every_embedder_does(add: Add, home: Path) -> None:
    embedder = create_embedder(add().id, home=home)

    together = embedder.embed_documents(TEXTS)
    alone = np.stack([embedder.embed_query(text) for text in TEXTS])

    assert (together.shape, together.dtype) == ((len(TEXTS), 32), np.float32)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.array_equal(together, alone)


@pytest.mark.parametrize("key", ["pooling_mode_cls_token", "pooling_mode"])
def test_pooling_is_what_the_folder_says(add: Add, home: Path, key: str) -> None:
    of_first = {"pooling_mode": "cls"} if key == "pooling_mode" else {key: True, "pooling_mode_mean_tokens": False}
    embedder = create_embedder(add({"1_Pooling/config.json": of_first}).id, home=home)

    table = np.random.default_rng(1).standard_normal((len(PIECES), 32)).astype(np.float32)
    ids = [2, PIECES.index("lemon"), PIECES.index("cake"), 3]

    first = table[2] + table[ids].mean(0)

    assert np.allclose(embedder.embed_query("lemon cake"), first / np.linalg.norm(first), atol=1e-5)


def test_the_mean_is_that_of_all_pieces(add: Add, home: Path) -> None:
    embedder = create_embedder(add().id, home=home)
    table = np.random.default_rng(1).standard_normal((len(PIECES), 32)).astype(np.float32)
    ids = [2, PIECES.index("lemon"), PIECES.index("cake"), 3]

    mean = table[ids].mean(0)

    assert np.allclose(embedder.embed_query("lemon cake"), mean / np.linalg.norm(mean), atol=1e-5)


def test_prompts_stand_before_texts(add: Add, home: Path) -> None:
    prompts = {"query": "query: ", "passage": "passage: "}
    plain = create_embedder(add(name="plain").id, home=home)
    asked = create_embedder(add({"config_sentence_transformers.json": {"prompts": prompts}}, name="e5").id, home=home)
    given = create_embedder(add(name="given", query_prompt="query: ", passage_prompt="passage: ").id, home=home)

    for embedder in (asked, given):
        assert np.array_equal(embedder.embed_query("tea"), plain.embed_query("query: tea"))
        assert np.array_equal(embedder.embed_documents(["tea"]), plain.embed_documents(["passage: tea"]))


def test_the_file_for_processors_is_taken_unless_another_is_named(add: Add) -> None:
    both = {"onnx/model_quantized.onnx": build_model(16)}

    assert add(both, name="quantized").size == 16
    assert add(both, name="whole", file="onnx/model.onnx").size == 32


def test_the_digest_tells_models_apart(add: Add) -> None:
    digests = {
        add(name="first").digest,
        add(name="second").digest,
        add(name="third", query_prompt="query: ").digest,
        add({"onnx/model.onnx": build_model(seed=2)}, name="fourth").digest,
    }

    assert len(digests) == 3  # the first two differ in their names only


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"tokenizer.json": None}, "has no tokenizer.json"),
    ({"tokenizer.json": b"{"}, "not valid JSON"),
    ({"tokenizer.json": tokenizer(model={"type": "BPE"})}, "BPE as its model, which is not supported"),
    ({"tokenizer.json": tokenizer([*PIECES, *map(str, range(900))])}, "more than the model"),
    ({"1_Pooling/config.json": None}, "not in the sentence-transformers layout"),
    ({"1_Pooling/config.json": {"pooling_mode_max_tokens": True}}, "pools by max_tokens"),
    ({"1_Pooling/config.json": {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}}, "mean and cls"),
    ({"1_Pooling/config.json": [1]}, "not a JSON object"),
    ({"modules.json": [{"type": "sentence_transformers.models.Dense"}]}, "module sentence_transformers.models.Dense"),
    ({"modules.json": [{"type": "my_code.Transformer"}]}, "module my_code.Transformer"),
    ({"onnx/model_quantized.onnx": None, "onnx/model.onnx": None}, "has no ONNX file"),
    ({"onnx/model.onnx_data": b"weights"}, "keeps its weights in a second file"),
]


@pytest.mark.parametrize(("files", "what"), REFUSED, ids=[what for _, what in REFUSED])
def test_what_is_not_supported_is_refused_and_leaves_nothing(
    add: Add, home: Path, files: dict[str, Any], what: str
) -> None:
    with pytest.raises(InvalidInputError, match=what) as caught:
        add(files)

    assert caught.value.hint
    assert list((home / "models").glob("*")) + list((home / "models").glob(".*")) == []


def test_a_model_of_4096_dimensions_is_refused(add: Add) -> None:
    with pytest.raises(InvalidInputError, match=r"4,096 dimensions; at most 2,048 are supported"):
        add({"onnx/model.onnx": build_model(4096)})


def test_a_file_of_2_gb_is_refused_before_it_is_read(add: Add, tmp_path: Path) -> None:
    write_folder(tmp_path / "Small Model")
    with (tmp_path / "Small Model" / "onnx" / "model_quantized.onnx").open("wb") as file:
        file.truncate(2 << 30)  # sparse

    with pytest.raises(InvalidInputError, match=r"has 2\.1 GB; at most 1\.0 GB are supported"):
        add()


def test_a_tokenizer_of_2_gb_is_refused_before_it_is_copied(add: Add, tmp_path: Path) -> None:
    write_folder(tmp_path / "Small Model")
    with (tmp_path / "Small Model" / "tokenizer.json").open("wb") as file:
        file.truncate(2 << 30)  # sparse

    with pytest.raises(InvalidInputError, match=r"has 2\.1 GB, more than 67\.1 MB"):
        add({"tokenizer.json": None})


def test_a_tokenizer_with_pieces_of_every_text_that_the_model_lacks_is_named(add: Add) -> None:
    with pytest.raises(InvalidInputError, match="The tokenizer has 28 pieces, more than the model small-model knows"):
        add({"onnx/model.onnx": build_model(pieces=4)})


@pytest.mark.parametrize(
    "damage", [b"", b"not a model", build_model.__name__.encode() * 9_000], ids=["empty", "text", "long text"]
)
def test_a_damaged_model_is_refused_and_leaves_nothing(add: Add, home: Path, damage: bytes) -> None:
    with pytest.raises(UnavailableError, match="cannot load"):
        add({"onnx/model.onnx": damage})

    assert list((home / "models").glob("*")) == []


def test_a_truncated_model_is_refused(add: Add) -> None:
    with pytest.raises(UnavailableError, match="cannot load"):
        add({"onnx/model.onnx": build_model()[:-2_000]})


@pytest.mark.parametrize("scale", [0.0, float("nan"), float("inf")])
def test_a_model_without_directions_is_refused(add: Add, scale: float) -> None:
    with pytest.raises(UnavailableError, match="of length zero"):
        add({"onnx/model.onnx": build_model(scale=scale)})


@pytest.mark.parametrize("name", ["", "..", "../x", "A", "a/b", "x" * 41, "ü", "local:"])
def test_a_name_that_is_no_name_is_refused(home: Path, tmp_path: Path, name: str) -> None:
    folder = write_folder(tmp_path / "…")

    with pytest.raises(InvalidInputError, match="is not a name for a model"):
        add_folder(home / "models", folder, name=name)


def test_what_is_no_folder_is_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="is not a folder"):
        add_folder(home / "models", tmp_path / "nowhere")


def test_a_pipe_instead_of_a_file_is_not_waited_for(home: Path, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "piped", {"tokenizer.json": None})
    os.mkfifo(folder / "tokenizer.json")

    with pytest.raises(InvalidInputError, match=r"has no tokenizer\.json"):
        add_folder(home / "models", folder)


def test_another_model_does_not_take_a_name(add: Add) -> None:
    add()

    with pytest.raises(ConflictError, match="Another model local:small-model already"):
        add({"onnx/model.onnx": build_model(seed=2)})


def test_adding_the_same_again_mends_damaged_files(add: Add, home: Path) -> None:
    added = add()
    (home / "models" / added.name / "model.onnx").write_bytes(b"")

    add()

    create_embedder(added.id, home=home).load()


def test_a_full_disk_leaves_nothing(add: Add, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(manifest, "save", fail)

    with pytest.raises(UnavailableError, match="No space left on device"):
        add()

    assert list((home / "models").glob("*")) == []


# After it was added.


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["truncated", "changed", "missing", "another"])
def test_a_file_that_is_not_the_one_added_is_reported_with_the_way_out(
    add: Add, home: Path, file: str, damage: str
) -> None:
    added = add()
    path = home / "models" / added.name / file
    content = path.read_bytes()
    other = build_model(seed=3) if file == "model.onnx" else json.dumps(tokenizer(PIECES[::-1])).encode()
    path.unlink()
    if damage != "missing":
        path.write_bytes({"truncated": content[:-1], "changed": b"x" + content[1:], "another": other}[damage])

    with pytest.raises(UnavailableError, match="cannot be read" if damage == "missing" else "is damaged") as caught:
        create_embedder(added.id, home=home).load()

    assert file in caught.value.message
    assert f"panorama models remove {added.id}" in caught.value.hint


def test_a_file_swapped_while_in_use_changes_no_vector(add: Add, home: Path) -> None:
    added = add()
    embedder = create_embedder(added.id, home=home)
    before = embedder.embed_query("tea")

    (home / "models" / added.name / "model.onnx").write_bytes(build_model(seed=4))

    assert np.array_equal(embedder.embed_query("tea"), before)
    embedder.close()
    with pytest.raises(UnavailableError, match="is damaged"):
        embedder.embed_query("tea")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"name": "small-model"}', '{"files": 3}'])
def test_a_damaged_manifest_is_reported(add: Add, home: Path, content: str) -> None:
    added = add()
    (home / "models" / added.name / "model.json").write_text(content)

    with pytest.raises(InvalidInputError):
        create_embedder(added.id, home=home)

    assert list(manifest.iter_added(home / "models")) == []


def test_a_manifest_cannot_point_out_of_its_folder(add: Add, home: Path) -> None:
    added = add()
    file = home / "models" / added.name / "model.json"
    content = json.loads(file.read_text())
    file.write_text(json.dumps({**content, "files": {"../../secret": "0" * 64}}))

    with pytest.raises(InvalidInputError, match="is damaged"):
        create_embedder(added.id, home=home)
