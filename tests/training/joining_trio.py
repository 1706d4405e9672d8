"""Computes the constants that add the vectors of multilingual-e5-small to those of `duo`."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (numpy's stubs name types that come with Python 3.12)
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from panorama.index.embedders.multilingual.duo import SIZE, Side, normalize
from panorama.index.embedders.multilingual.e5 import SIZE as E5_SIZE
from panorama.index.embedders.multilingual.e5 import centre
from panorama.index.embedders.multilingual.trio import WEIGHTS
from tests.training import joining
from tests.training.translations import Translation

EVERY = 3
"""Every third translation is taken: E5 needs 10 ms for each text."""

MAX_QUERIES = 1500
_RIDGE = 1.0

EmbedE5 = Callable[[str, Side], Any]


def compute_constants(
    translations: Sequence[Translation],
    meanings: Sequence[str],
    duo: Mapping[str, Any],
    embed_minilm: joining.Embed,
    embed_use: joining.Embed,
    embed_e5: EmbedE5,
) -> Mapping[str, Any]:
    """Return the constants of `trio` by name, beside those of `duo`; the matrices in 16 bits."""
    translations = translations[::EVERY]
    queries = joining.shuffle(meanings)[:MAX_QUERIES]
    tags = np.array([text.language for text in translations])
    parts = ("short", "short_english", "long", "long_english")
    texts = {part: [getattr(text, part) for text in translations] for part in parts}
    use = {
        part: normalize(joining.stack(embed_use, texts[part]) - duo["use_query" if part[0] == "s" else "use_passage"])
        for part in parts
    }
    raw = {part: np.stack([embed_e5(text, _side(part)) for text in texts[part]]) for part in parts}
    constants: dict[str, Any] = {"e5_shrink": np.eye(E5_SIZE, dtype=np.float32)}
    for begin in ("short", "long"):
        constants |= _fit_languages(_side(begin), tags, raw[begin], raw[f"{begin}_english"])
    e5 = {part: _centre(raw[part], constants, _side(part)) for part in parts}
    constants["e5_shrink"] = _fit_shrinking(
        np.concatenate([e5["short"] - e5["short_english"], e5["long"] - e5["long_english"]])
    )
    e5 = {part: normalize(_centre(raw[part], constants, _side(part))) for part in parts}
    targets = {
        part: normalize(joining.stack(embed_minilm, texts[f"{part}_english"]) - duo["minilm"])
        for part in ("short", "long")
    }
    to_minilm = joining.fit_map(
        np.concatenate([np.concatenate([use[part], e5[part]], 1) for part in parts]),
        np.concatenate([targets["short"], targets["short"], targets["long"], targets["long"]]),
    )
    query = _join(
        normalize(joining.stack(embed_minilm, queries) - duo["minilm"]),
        normalize(np.stack([_centre(embed_e5(text, "query")[None], constants, "query")[0] for text in queries])),
        normalize(joining.stack(embed_use, queries) - duo["use_query"]),
    )
    joined = [query] * joining.QUERY_SHARE
    for part in ("short", "long"):
        joined.append(_join(targets[part], e5[f"{part}_english"], use[f"{part}_english"]))
        predicted = normalize(np.concatenate([use[part], e5[part]], 1) @ to_minilm)
        joined.append(_join(predicted, e5[part], use[part]))
    every = np.concatenate(joined)
    return {
        **{name: array.astype(np.float32) for name, array in constants.items() if name != "e5_shrink"},
        "e5_shrink": constants["e5_shrink"].astype(np.float16),
        "middle": query.mean(0).astype(np.float32),
        "to_minilm": to_minilm.astype(np.float16),
        "smaller": np.linalg.eigh(every.T @ every)[1][:, -SIZE:].astype(np.float16),
    }


def _side(part: str) -> Side:
    return "query" if part.startswith("short") else "passage"


def _fit_languages(side: Side, tags: Any, foreign: Any, english: Any) -> dict[str, Any]:
    """Return the mean of each language and what tells them apart: linear discriminants with a common covariance."""
    groups = [*(foreign[tags == tag] for tag in sorted(set(tags))), english]
    means = np.stack([group.mean(0) for group in groups])
    inner = np.concatenate([group - mean for group, mean in zip(groups, means, strict=True)])
    covariance = inner.T @ inner / len(inner)
    covariance += 0.1 * np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    discriminants = np.linalg.solve(covariance, means.T).T
    return {
        f"e5_{side}_means": means.astype(np.float32),
        f"e5_{side}_discriminants": discriminants.astype(np.float32),
        f"e5_{side}_offsets": (-0.5 * (discriminants * means).sum(1)).astype(np.float32),
    }


def _fit_shrinking(differences: Any) -> Any:
    """Return the matrix that shrinks the directions in which translations differ (within-class covariance, -1/2)."""
    covariance = differences.T @ differences / len(differences)
    values, vectors = np.linalg.eigh(covariance)
    return ((vectors * (values / values.mean() + _RIDGE) ** -0.5) @ vectors.T).astype(np.float32)


def _centre(vectors: Any, constants: Mapping[str, Any], side: Side) -> Any:
    return np.stack([centre(vector, constants, side) for vector in vectors])


def _join(minilm: Any, e5: Any, use: Any) -> Any:
    return normalize(
        np.concatenate([part * weight**0.5 for part, weight in zip((minilm, e5, use), WEIGHTS, strict=True)], 1)
    )
