"""Trains the detector of English by logistic regression over hashed letters."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (numpy's stubs name types that come with Python 3.12)
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from panorama.index.embedders.multilingual.language import FEATURES, extract_features
from tests.training.translations import Translation
from tests.training.weights import Floats

MAX_MEANINGS = 36_000
_STEPS, _RATE, _BIAS_RATE, _MOMENTUM, _DECAY = 400, 60, 2, 0.9, 1e-6
_WORDS = (2, 3, 4, 6, 9, 30)
_LEVELS = 127


def train(translations: Sequence[Translation], meanings: Sequence[str]) -> tuple[Floats, float]:
    """Return the weights, in whole steps of their largest / 127, and the bias.

    Args:
        meanings: English texts in random order.
    """
    chance = random.Random(0)
    labelled: list[tuple[str, int]] = []
    for text in translations:
        foreign = (text.short, text.short, text.long, text.long)
        labelled += [(_cut(part, chance), 0) for part in foreign]
        labelled += [(_cut(part, chance), 1) for part in (text.short_english, text.long_english)]
    labelled += [(_cut(meaning, chance), 1) for meaning in meanings[:MAX_MEANINGS]]
    rows = [(features, label) for text, label in labelled if (features := extract_features(text))]
    weights, bias = _fit([features for features, _ in rows], np.array([label for _, label in rows], np.float32))
    step = np.abs(weights).max() / _LEVELS
    return (np.round(weights / step) * step).astype(np.float32), bias


def _fit(rows: Sequence[Sequence[int]], labels: Any) -> tuple[Floats, float]:
    """Minimise the logistic loss by gradient descent with momentum; both classes weigh the same."""
    owners = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    features = np.concatenate(rows)
    worth = (1 / np.sqrt([len(row) for row in rows]))[owners].astype(np.float32)
    balance = np.where(labels == 1, 0.5 / labels.mean(), 0.5 / (1 - labels.mean())).astype(np.float32)
    weights, bias = np.zeros(FEATURES, np.float32), 0.0
    speed, bias_speed = np.zeros(FEATURES, np.float32), 0.0
    for _ in range(_STEPS):
        scores = np.bincount(owners, weights[features] * worth, len(rows)) + bias
        errors = balance * (1 / (1 + np.exp(-scores)) - labels) / len(rows)
        gradient = np.bincount(features, errors[owners] * worth, FEATURES).astype(np.float32) + _DECAY * weights
        speed, bias_speed = _MOMENTUM * speed + gradient, _MOMENTUM * bias_speed + float(errors.sum())
        weights, bias = weights - _RATE * speed, bias - _BIAS_RATE * bias_speed
    return weights.astype(np.float32), bias


def _cut(text: str, chance: random.Random) -> str:
    """Return some consecutive words of a text, because queries are short."""
    words, most = text.split(), chance.choice(_WORDS)
    start = chance.randrange(max(1, len(words) - most + 1))
    return " ".join(words[start : start + most])
