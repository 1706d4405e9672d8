"""The same texts in English and twelve languages: a compiler's messages, and names of emoji with their keywords.

Nothing of these texts is in the result, which holds means, a linear map, directions and weights of hashed letters.
"""

import json
import random
import re
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.training.packages import check_package

TYPESCRIPT, CLDR = "typescript@5.9.3", "cldr-annotations-full@48.2.0"
"""Microsoft's compiler (Apache-2.0), and Unicode's annotations (Unicode licence)."""

DIGESTS = {
    TYPESCRIPT: "10e108c9cf7d5f2879053dff18515fb405abf2ccef63eaaf017d9c571687a1d3",
    CLDR: "28576e51225deb51e3ddd734b0f824a0079682cb5d8c27faa9f68149317a14d1",
}
LANGUAGES = {tag: tag[:2] for tag in ("cs", "de", "es", "fr", "it", "ja", "ko", "pl", "pt-br", "ru", "tr", "zh-cn")}
_MESSAGES_PER_LANGUAGE, _EMOJI_PER_LANGUAGE = 450, 600
_MESSAGE_CHARS = range(31, 160)
_KEYWORDS = 6
_GROUP = 3
_SEED = 21
_MESSAGE = re.compile(r'diag\(\d+, \d+ /\* \w+ \*/, "([^"]+)", "((?:[^"\\]|\\.)*)"')
_PLACEHOLDER = re.compile(r"[\"'«»„“”]?\{\d\}[\"'«»„“”]?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """A short and a long text in a language, and both in English."""

    language: str
    short: str
    short_english: str
    long: str
    long_english: str


def read_translations(typescript: Path, cldr: Path) -> list[Translation]:
    """Return translations from both packages.

    Raises:
        InvalidInputError: A file is not the package.
    """
    check_package(typescript, TYPESCRIPT, DIGESTS[TYPESCRIPT])
    check_package(cldr, CLDR, DIGESTS[CLDR])
    chance = random.Random(_SEED)
    results: list[Translation] = []
    with tarfile.open(typescript) as compiler, tarfile.open(cldr) as annotations:
        source = _read(compiler, "lib/_tsc.js")
        messages = {key: _strip(json.loads(f'"{message}"')) for key, message in _MESSAGE.findall(source)}
        emoji = _read_emoji(annotations, "en")
        for tag, language in LANGUAGES.items():
            translated = json.loads(_read(compiler, f"lib/{tag}/diagnosticMessages.generated.json"))
            here = {key: _strip(message) for key, message in translated.items() if key in messages}
            keys = [key for key in here if len(messages[key]) in _MESSAGE_CHARS and here[key] != messages[key]]
            results += _translate(language, keys, here, messages, " ", _MESSAGES_PER_LANGUAGE, chance)
            here = _read_emoji(annotations, language)
            keys = [key for key in here if key in emoji]
            results += _translate(language, keys, here, emoji, ", ", _EMOJI_PER_LANGUAGE, chance)
    return results


def _translate(
    language: str,
    keys: list[str],
    here: dict[str, str],
    english: dict[str, str],
    separator: str,
    most: int,
    chance: Any,
) -> list[Translation]:
    chance.shuffle(keys)
    groups = [keys[at : at + _GROUP] for at in range(0, min(most, len(keys)) - _GROUP + 1, _GROUP)]
    return [
        Translation(
            language=language,
            short=here[group[0]],
            short_english=english[group[0]],
            long=_join(here, group, separator),
            long_english=_join(english, group, separator),
        )
        for group in groups
    ]


def _join(texts: dict[str, str], keys: Sequence[str], separator: str) -> str:
    return separator.join(texts[key] for key in keys)


def _read_emoji(package: tarfile.TarFile, tag: str) -> dict[str, str]:
    """Return the name and the first keywords of each sign of one character."""
    found = json.loads(_read(package, f"annotations/{tag}/annotations.json"))["annotations"]["annotations"]
    return {
        sign: f"{entry['tts'][0]}: {', '.join(entry.get('default', [])[:_KEYWORDS])}"
        for sign, entry in found.items()
        if len(sign) == 1 and "tts" in entry
    }


def _read(package: tarfile.TarFile, name: str) -> str:
    file = package.extractfile(f"package/{name}")
    assert file
    return file.read().decode()


def _strip(message: str) -> str:
    """Return a message without placeholders and their quotes."""
    return " ".join(_PLACEHOLDER.sub("", message).split())
