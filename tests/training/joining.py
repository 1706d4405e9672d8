"""Computes the constants that join the vectors of MiniLM and of the multilingual sentence encoder."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (numpy's stubs name types that come with Python 3.12)
import io
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from panorama.index.embedders.multilingual.duo import SIZE, USE_WEIGHT, normalize
from tests.training import languages
from tests.training.translations import Translation

MAX_QUERIES = 3000
"""Meanings of words that stand for queries."""

MIN_MEANING_CHARS = 25
_SEED = 3
_RIDGE = 0.1
QUERY_SHARE = 3
"""How often the meanings count among the texts whose main directions are kept."""

Embed = Callable[[str], Any]


def compute_constants(
    translations: Sequence[Translation], meanings: Sequence[str], embed_minilm: Embed, embed_use: Embed
) -> Mapping[str, Any]:
    """Return the constants of `duo` by name; the matrices in 16 bits."""
    english_texts = shuffle(meanings)
    queries = english_texts[:MAX_QUERIES]
    tags = np.array([text.language for text in translations])
    short, short_en, long, long_en = (
        stack(embed_use, [getattr(text, part) for text in translations])
        for part in ("short", "short_english", "long", "long_english")
    )
    minilm = [
        stack(embed_minilm, [getattr(text, part) for text in translations])
        for part in ("short_english", "long_english")
    ]
    use_query, use_passage = _mean_by_language(tags, short, short_en), _mean_by_language(tags, long, long_en)
    minilm_mean = np.concatenate(minilm).mean(0)
    short, short_en = normalize(short - use_query), normalize(short_en - use_query)
    long, long_en = normalize(long - use_passage), normalize(long_en - use_passage)
    targets = [normalize(part - minilm_mean) for part in minilm]
    to_minilm = fit_map(
        np.concatenate([short, short_en, long, long_en]), np.concatenate([targets[0], targets[0], *targets[1:] * 2])
    )
    query_minilm = normalize(stack(embed_minilm, queries) - minilm_mean)
    query_use = normalize(stack(embed_use, queries) - use_query)
    joined = np.concatenate(
        [
            *[_join(query_minilm, query_use)] * QUERY_SHARE,
            *(_join(*pair) for pair in zip(targets, (short_en, long_en), strict=True)),
            *(_join(normalize(part @ to_minilm), part) for part in (short, long)),
        ]
    )
    weights, bias = languages.train(translations, english_texts)
    middle = np.concatenate([query_minilm.mean(0), USE_WEIGHT**0.5 * query_use.mean(0)]) / (1 + USE_WEIGHT) ** 0.5
    return {
        "use_query": use_query.astype(np.float32),
        "use_passage": use_passage.astype(np.float32),
        "minilm": minilm_mean.astype(np.float32),
        "middle": middle.astype(np.float32),
        "to_minilm": to_minilm.astype(np.float16),
        "smaller": np.linalg.eigh(joined.T @ joined)[1][:, -SIZE:].astype(np.float16),
        "english": weights,
        "english_bias": np.float32(bias),
    }


def encode_arrays(arrays: Mapping[str, Any]) -> bytes:
    """Return the file of some arrays."""
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    return packed.getvalue()


def shuffle(meanings: Sequence[str]) -> list[str]:
    """Return the first part of each long meaning in random order."""
    results = [start for meaning in meanings if len(start := meaning.split(";")[0].strip()) >= MIN_MEANING_CHARS]
    random.Random(_SEED).shuffle(results)
    return results


def stack(embed: Embed, texts: Sequence[str]) -> Any:
    return np.stack([embed(text) for text in texts])


def _mean_by_language(tags: Any, foreign: Any, english: Any) -> Any:
    """Return the mean of the means of all languages."""
    return np.mean([*(foreign[tags == tag].mean(0) for tag in sorted(set(tags))), english.mean(0)], 0)


def fit_map(given: Any, expected: Any) -> Any:
    """Return the linear map with the least squared error (ridge regression)."""
    size = given.shape[1]
    ridge = _RIDGE * len(given) / size * np.eye(size)
    return np.linalg.solve(given.T @ given + ridge, given.T @ expected)


def _join(minilm: Any, use: Any) -> Any:
    return normalize(np.concatenate([minilm, USE_WEIGHT**0.5 * use], 1))
