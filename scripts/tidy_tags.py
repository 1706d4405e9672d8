"""Propose to merge tags that differ only by upper and lower case, by singular and plural, or by a slip of the pen.

The spelling that is used most wins. Nothing is changed unless `apply` is set; then the tags of projects, tasks, notes,
links and files are changed, but not #words inside of texts. For a slip the right word is used three times as often.
"""

import re
import unicodedata
from collections import Counter
from itertools import takewhile
from typing import Literal

SHOWN = 25
SHORTEST = 5
"""Shorter words that differ by a letter are often different words: cat, car."""


def main(apply: bool = False, alike: Literal["all", "plural", "case"] = "all", leave: list[str] | None = None) -> str:
    """Return the proposal as a table in Markdown.

    Args:
        apply: Make the changes; otherwise they are only proposed.
        alike: case merges Work and work; plural also idea and ideas; all also slips, as kichen and kitchen.
        leave: Tags that stay as they are.
    """
    kinds = ("projects", "tasks", "notes", "links", "files")
    rows = [row for kind in kinds for row in sdk.query(kind, select=["id", "tags"]) if row["tags"]]
    used = Counter(tag for row in rows for tag in row["tags"])
    left = {tag.lstrip("#").casefold() for tag in leave or []}
    merged = chosen({tag: count for tag, count in used.items() if tag.casefold() not in left}, alike)
    if not merged:
        return f"None of {len(used)} tags looks like another." if used else "There are no tags."
    touched = [row for row in rows if any(tag in merged for tag in row["tags"])]
    if apply:
        for count, row in enumerate(touched, start=1):
            sdk.progress(count, len(touched), "Changing tags")
            retag(row["id"], list(dict.fromkeys(merged.get(tag, (tag, ""))[0] for tag in row["tags"])))
    done = "They were changed." if apply else "Nothing was changed; with `apply` it is done."
    head = f"To merge: {len(merged)} of {len(used)} tags. Items with them: {len(touched)}. {done}"
    table = [
        {"Tag": f"{tag} ({used[tag]})", "Becomes": f"{into} ({used[into]})", "They differ by": why}
        for tag, (into, why) in sorted(merged.items(), key=lambda each: (each[1][0].casefold(), each[0]))
    ]
    more = f"\n\n… and {len(table) - SHOWN} more." if len(table) > SHOWN else ""
    return f"{head}\n\n{sdk.markdown_table(table[:SHOWN])}{more}"


def chosen(used: dict[str, int], alike: str) -> dict[str, tuple[str, str]]:
    """Return for each tag that should go the one it becomes, and how the two differ.

    It begins anew until nothing is found: a spelling that has won is used more often, and may win again.
    """
    merged, counts = {}, Counter(used)
    while found := likely(counts, alike):
        for tag, (into, _) in found.items():
            counts[into] += counts.pop(tag)
        merged = {tag: (found.get(into, (into, ""))[0], why) for tag, (into, why) in merged.items()} | found
    return merged


def likely(used: Counter, alike: str) -> dict[str, tuple[str, str]]:
    """Return the tags that are likely another one, which is used as often or more."""
    found, kept = {}, {}
    for tag in sorted(used, key=lambda each: (-used[each], each != each.lower(), len(each), each)):
        root = folded(tag) if alike == "case" else singular(folded(tag))
        if root in kept:
            found[tag] = (kept[root], "case" if folded(tag) == folded(kept[root]) else "plural")
        elif alike == "all" and (meant := meant_by(tag, kept.values(), used)):
            found[tag] = (meant, "slip")
        else:
            kept[root] = tag
    return found


def meant_by(tag: str, others, used: Counter) -> str:
    """Return the much more frequent tag of which one is a slip, "" if there is none; `others` come by their use."""
    for other in takewhile(lambda each: used[each] >= 3 * used[tag], others):
        if tag[0].lower() == other[0].lower() and min(len(tag), len(other)) >= SHORTEST:
            one, two = folded(tag), folded(other)
            if near(one, two) and re.findall(r"\d+", one) == re.findall(r"\d+", two):
                return other
    return ""


def folded(tag: str) -> str:
    """Return a tag in small letters, whichever way it joins words and writes accents."""
    return unicodedata.normalize("NFKC", tag).casefold().replace("_", "-")


def singular(word: str) -> str:
    """Return an English word without the ending of a plural."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + instead
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def near(one: str, two: str) -> bool:
    """Tell whether a letter more, a letter less, another letter or two exchanged letters make one word of the other."""
    short, long = sorted((one, two), key=len)
    at = next((place for place, letter in enumerate(short) if letter != long[place]), len(short))
    if len(long) > len(short):
        return short[at:] == long[at + 1 :]
    exchanged = short[:at] + short[at : at + 2][::-1] + short[at + 2 :]
    return short[at + 1 :] == long[at + 1 :] or exchanged == long


def retag(item: str, tags: list[str]) -> None:
    """Give an item other tags."""
    match item[0]:
        case "p":
            sdk.projects.update(item, tags=tags)
        case "t":
            sdk.tasks.update(item, tags=tags)
        case "n":
            sdk.notes.update(item, tags=tags)
        case "l":
            sdk.links.update(item, tags=tags)
        case "f":
            sdk.files.update(item, tags=tags)
