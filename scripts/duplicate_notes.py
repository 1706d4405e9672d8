"""Find notes that are there twice: with the same title, the same text, or most of the same words.

It only reads. Days and numbers in titles count: the notes of two days are not taken for one another.
"""

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from itertools import combinations

SHOWN = 15
TITLE_CHARS = 50
READ_CHARS = 20_000
"""What lies behind is not compared."""

MOST_NOTES = 6_000
PHRASE = 4
KEPT = 100
"""How many phrases of a note are compared: those with the smallest digests, so that like texts keep the same ones."""

CROWD = 20
"""A phrase in more notes than this is part of a template and says nothing."""

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")


def main(project: str = "", likeness: int = 70) -> str:
    """Return the pairs as a table in Markdown, the most alike first.

    Args:
        project: Only notes of this project, by its name or id; all notes if left out.
        likeness: Per cent of their phrases that two notes must share, 30 to 100.
    """
    if not 30 <= likeness <= 100:
        raise ValueError(f"likeness is {likeness}; give 30 to 100.")
    notes = sdk.notes.list(project=project or None)
    if len(notes) > MOST_NOTES:
        raise ValueError(f"{len(notes):,} notes are too many for one run; name a project.")
    pairs: dict = {}
    for first, second in named_alike(notes):
        pairs[pair(first, second)] = (90, "same title")
    for first, second, shared in worded_alike(notes):
        if shared >= likeness and not numbered_apart(first, second):
            pairs[pair(first, second)] = (shared, "same text" if shared == 100 else f"{shared} % of the phrases")
    if not pairs:
        return f"None of {len(notes)} notes is there twice." if notes else "There are no notes."
    return told({note.id: note for note in notes}, pairs)


def named_alike(notes: list) -> list:
    """Return each note whose title has the same words as that of one before, with that one."""
    firsts: dict = {}
    return [(first, note) for note in notes if (first := firsts.setdefault(tuple(words(note.title)), note)) is not note]


def worded_alike(notes: list) -> list:
    """Return the pairs of notes that share phrases, and how many per cent of them."""
    found, firsts, kept, places = [], {}, {}, defaultdict(list)
    for count, note in enumerate(notes, start=1):
        if count % 50 == 0:
            sdk.progress(count, len(notes), "Reading")
        text = words(sdk.notes.get(note, chars=READ_CHARS).content) if note.chars else []
        if len(text) < PHRASE:
            continue
        if (first := firsts.setdefault(" ".join(text), note)) is not note:
            found.append((first, note, 100))
            continue
        kept[note.id] = phrases(text)
        for phrase in kept[note.id]:
            places[phrase].append(note)
    small = (group for group in places.values() if len(group) <= CROWD)
    shared = Counter(each for group in small for each in combinations([note.id for note in group], 2))
    known = {note.id: note for note in notes}
    near = ((one, other, 100 * count // len(kept[one] | kept[other])) for (one, other), count in shared.items())
    return found + [(known[one], known[other], min(share, 99)) for one, other, share in near]


def phrases(text: list[str]) -> set[str]:
    """Return digests of the phrases of a text, at most `KEPT`."""
    runs = {" ".join(text[start : start + PHRASE]) for start in range(len(text) - PHRASE + 1)}
    return set(sorted(hashlib.md5(run.encode()).hexdigest()[:12] for run in runs)[:KEPT])


def words(text: str) -> list[str]:
    """Return the words of a text in small letters; each Chinese or Japanese character is one."""
    return WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def numbered_apart(first, second) -> bool:
    """Tell whether two titles have numbers, and not the same."""
    numbers = [re.findall(r"\d+", note.title) for note in (first, second)]
    return all(numbers) and numbers[0] != numbers[1]


def pair(first, second) -> tuple[str, str]:
    """Return the ids of two notes, in order."""
    return min(first.id, second.id), max(first.id, second.id)


def told(notes: dict, pairs: dict) -> str:
    """Return pairs as a table, the newer note of each second."""
    rows = []
    for ids, (_, why) in sorted(pairs.items(), key=lambda each: (-each[1][0], each[0]))[:SHOWN]:
        older, newer = sorted((notes[each] for each in ids), key=lambda note: (note.created_at, note.id))
        rows.append({"Note": cut(older), "Newer note": cut(newer), "Alike in": why})
    more = f"\n\n… and {len(pairs) - SHOWN} more." if len(pairs) > SHOWN else ""
    count = f"{len(pairs)} pair" + ("" if len(pairs) == 1 else "s")
    return f"{count} among {len(notes)} notes. Nothing was changed.\n\n{sdk.markdown_table(rows)}{more}"


def cut(note) -> str:
    """Return a note's title and id on a line."""
    title = note.title if len(note.title) <= TITLE_CHARS else note.title[: TITLE_CHARS - 1] + "…"
    return f"{title} ({note.id})"
