"""The lines in which two versions of a text differ, found without a look at each of the others."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from panorama.domain.changes import find_changed_lines
from panorama.domain.markdown.parser import TaskDraft, list_drafts

_FENCES = ("```", "~~~")
_BLOCK_MARKS = (*_FENCES, "<!--", "-->")
"""What begins or ends code and comments, which may be many lines."""

_QUOTED_FENCE = re.compile(r">[^\n]*?(?:```|~~~)")
"""A fence in a quote: any line outside the quote ends its code."""

_LINE_BREAK = re.compile(r"\r\n|[\r\n]")


@dataclass(frozen=True, slots=True)
class LineDifference:
    """The lines in which two texts differ; all above and below are the same.

    `above` is the number of lines above, `count` that of all lines of the former text, and `text` the later text.
    `is_local` is true if the changed lines do not change which of the others are code, comments or front matter.
    """

    text: str
    above: int
    count: int
    old: Sequence[str]
    new: Sequence[str]
    is_local: bool

    @property
    def read_count(self) -> int:
        """The number of lines that are read to follow the difference."""
        return len(self.new) if self.is_local else self.text.count("\n") + self.text.count("\r") + 1

    def find_line(self, number: int) -> int | None:
        """Return the later number of a line that did not change; None for any other."""
        if 0 < number <= self.above:
            return number
        return self._shift(number) if self.above + len(self.old) < number <= self.count else None

    def _shift(self, number: int) -> int:
        return number + len(self.new) - len(self.old)

    def count_stayed(self, number: int, stayed: Sequence[int], *, is_old: bool) -> int:
        """Return how many lines that stayed are above a line, by the sorted numbers of the changed ones that did."""
        end = self.above + len(self.old if is_old else self.new)
        return min(number - 1, self.above) + bisect_left(stayed, number) + max(0, number - 1 - end)

    def list_drafts(self) -> dict[int, TaskDraft]:
        """Return the checkboxes of the changed lines by their numbers; of all lines if it is not local."""
        if not self.is_local:
            return list_drafts(self.text)
        above: list[str] = [""]
        if _has_marks(self.text):  # only lines with such marks say whether others are code or comments
            texts = split_lines(self.text)
            above += [line for line in texts[: self.above] if _has_marks(line)]
            below = [line for line in texts[self.above + len(self.new) :] if _has_marks(line)]
        else:
            below = []
        drafts, first = list_drafts("\n".join((*above, *self.new, *below))), len(above) + 1
        end = first + len(self.new)
        return {number - first + self.above + 1: draft for number, draft in drafts.items() if first <= number < end}


def compare_lines(old: str, new: str) -> LineDifference:
    """Return the lines in which two texts differ."""
    before, after = (text.replace("\r\n", "\n") if "\r" in text else text for text in (old, new))
    if "\r" in before or "\r" in after:
        return _trim(new, split_lines(old), split_lines(new))
    start, end, changed_end = find_changed_lines(before, after)
    old_lines = f"{before}\n"[start:end].split("\n")[:-1]
    new_lines = f"{after}\n"[start:changed_end].split("\n")[:-1]
    count = before.count("\n") + 1
    is_local = (
        not before.startswith(("---", "\ufeff")) and not after.startswith(("---", "\ufeff"))
        and not any(map(_has_marks, (*old_lines, *new_lines)))
        and not (_has_marks(after, _FENCES) and _QUOTED_FENCE.search(after))
    )  # fmt: skip
    above = count if start > len(before) else before.count("\n", 0, start)
    return _trim(new, old_lines, new_lines, above, count, is_local)


def _has_marks(text: str, marks: Sequence[str] = _BLOCK_MARKS) -> bool:
    return any(mark[0] in text and mark in text for mark in marks)


def _trim(
    text: str, old: Sequence[str], new: Sequence[str], above: int = 0, count: int = 0, is_local: bool = False
) -> LineDifference:
    """Return the difference without the equal lines at its beginning and end."""
    start, limit = 0, min(len(old), len(new))
    while start < limit and old[start] == new[start]:
        start += 1
    end = 0
    while end < limit - start and old[-1 - end] == new[-1 - end]:
        end += 1
    changed_old, changed_new = old[start : len(old) - end], new[start : len(new) - end]
    return LineDifference(text, above + start, count or len(old), changed_old, changed_new, is_local)


def split_lines(content: str) -> list[str]:
    """Return the lines of a text without their endings, as the parser counts them."""
    return _LINE_BREAK.split(content) if "\r" in content else content.split("\n")
