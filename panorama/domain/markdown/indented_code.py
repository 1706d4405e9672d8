"""Finds indented code: lines with four spaces or a tab after a blank line, outside lists, as in CommonMark."""

import re

_INDENT = re.compile(r" {0,3}\t| {4}")
_LIST_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)", re.MULTILINE)
_BLOCK_END = re.compile(r"#{1,6}[ \t]|```|~~~")
_CONTENT = re.compile(r"[ \t]*+")
# A list item without indentation, or a line without indentation after a blank line that begins with no comment. The
# lines above one do not matter to whether it or a line below it is code.
_RESET = re.compile(r"\n(?:[-*+]|\d{1,9}[.)])[ \t]|\n[ \t]*+\n(?!<!--)(?=\S)")


def is_indented(text: str, begin: int) -> bool:
    """Return whether the line that begins at a position has the indentation of code."""
    return text[begin] in " \t" and _INDENT.match(text, begin) is not None


def find_affected_end(text: str, start: int) -> int:
    """Return the end of the lines that a change of the text before `start` may turn into code, or code into text.

    The rest of the text begins with lines that have not changed and do not depend on what is above them. A comment can
    hide them, so there is no rest if one begins after `start`.
    """
    match = _RESET.search(text, start)
    return match.start() if match and text.find("<!--", start, match.start()) < 0 else len(text)


class IndentedCode:
    """The indented code of a text.

    A line below a list item belongs to the item, however far it is indented.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0  # lines that begin before it were checked
        self._was_code, self._was_in_list = True, False  # the last line that was checked

    def is_code(self, begin: int) -> bool:
        """Return whether the indented line that begins at a position is code.

        Lines must be checked in ascending order: each check starts from the result of the last one, so that all
        together take time linear in the length of the text.
        """
        has_blank, start = False, begin
        while start > self._end:
            end = start - 1
            start = self._text.rfind("\n", 0, end) + 1
            if start < self._end:
                break
            content = _CONTENT.match(self._text, start, end)
            if content is None or content.end() == end:
                has_blank = True
            elif not _INDENT.match(self._text, start):
                self._was_in_list = self._is_in_list(start, end)
                self._was_code = _BLOCK_END.match(self._text, start) is not None
                break
        self._was_code = not self._was_in_list and (self._was_code or has_blank)
        self._end = begin + 1
        return self._was_code

    def _is_in_list(self, start: int, end: int) -> bool:
        """Return whether a line that is not indented as code is a list item, or belongs to one above it.

        A fence, a heading, and a blank line before a line without indentation end the list.
        """
        indent = 0
        while True:
            content = _CONTENT.match(self._text, start, end)
            if content is None or content.end() == end:
                if not indent:
                    return False
            elif start < self._end:
                return self._was_in_list
            elif _LIST_ITEM.match(self._text, start):
                return True
            elif _BLOCK_END.match(self._text, start):
                return False
            else:
                indent = content.end() - start
            if not start:
                return False
            end = start - 1
            start = self._text.rfind("\n", 0, end) + 1
