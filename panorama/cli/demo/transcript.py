"""The transcript of the demo: for a terminal of any width, or a pipe without colours."""

import json
import shlex
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.text import Text

from panorama.cli.console import console
from panorama.cli.console.tables import safe_line
from panorama.cli.demo.checks import StepResult, pluralize
from panorama.domain.text.json_types import is_list, is_object

MAX_WIDTH = 110
INDENT = 4
LINES_SHOWN = 4
VALUE_CHARS = 44


class Transcript:
    """Prints the demo line by line."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, markup=False, emoji=False)
        self._width = min(self._console.width, MAX_WIDTH)

    def print_title(self, text: str) -> None:
        """Print a heading."""
        self._print([Text(), Text(f"── {text} ".ljust(self._width, "─"), "cyan")])

    def print_remark(self, text: str, style: str = "dim") -> None:
        """Print a remark, without wrapping."""
        self._print(Text(line, style) for line in text.splitlines())

    def print_question(self, number: int, question: str, call: str) -> None:
        """Print the request and the call."""
        sentence = question if question.startswith("(") else f"“{question}”"
        head = self._wrap(Text(sentence, "bold"))
        head[0] = Text.assemble((f"{number:>2}  ", "cyan"), head[0][INDENT:])
        self._print([Text(), *head, self._truncate(Text(call, "yellow"))])

    def print_answer(self, answer: StepResult, summary: str) -> None:
        """Print the question, the answer, its cost, and the check."""
        asked = [
            row
            for question in answer.asked
            for row in self._wrap(Text.assemble(("? ", "cyan"), safe_line(question), " Yes."))
        ]
        self._print([*asked, *self._format_lines(answer.text), *self._format_verdict(answer, "ok", summary, "green")])

    def print_failure(self, answer: StepResult, step: str, wrong: str) -> None:
        """Print the actual and the expected answer."""
        self._print(
            [*self._format_lines(answer.text), *self._format_verdict(answer, "FAILED", f"{step}: {wrong}", "bold red")]
        )

    def print_summary(self, rows: Mapping[str, str]) -> None:
        """Print the totals, without wrapping, so that paths and commands can be copied."""
        widest = max(map(len, rows))
        self._print(Text.assemble((f"{name:<{widest}}  ", "dim"), value) for name, value in rows.items())

    def _format_verdict(self, answer: StepResult, word: str, summary: str, style: str) -> list[Text]:
        tokens = f"{pluralize(answer.tokens, 'token')} · " if answer.tokens else ""
        cost = f"{format_milliseconds(answer.took)} · {tokens}"
        return self._wrap(Text.assemble((cost, "dim"), (word, style), f": {summary}"))

    def _format_lines(self, text: str) -> list[Text]:
        lines = [line for line in text.splitlines() if line.strip()]
        limit = LINES_SHOWN if len(lines) > LINES_SHOWN + 1 else len(lines)
        shown = [self._truncate(Text.assemble(("│ ", "dim"), safe_line(line))) for line in lines[:limit]]
        if left := len(lines) - limit:
            shown.append(self._truncate(Text(f"│ … {left} more lines", "dim")))
        return shown

    def _truncate(self, text: Text) -> Text:
        text.truncate(self._width - INDENT, overflow="ellipsis")
        return Text(" " * INDENT) + text

    def _wrap(self, text: Text) -> list[Text]:
        lines = list(text.wrap(self._console, self._width - INDENT))
        for line in lines:
            line.rstrip()
        return [Text(" " * INDENT) + line for line in lines]

    def _print(self, lines: Iterable[Text]) -> None:
        with self._console.capture() as captured:
            for line in lines:
                self._console.print(line, soft_wrap=True)
        console.print_text(captured.get())


def format_milliseconds(took: timedelta) -> str:
    """Format a short duration."""
    return f"{took / timedelta(milliseconds=1):,.0f} ms"


def format_call(tool: str, arguments: Mapping[str, Any]) -> str:
    """Format a call on one line: `→ create_task(title="…", deadline="tomorrow")`."""
    return f"→ {tool}({', '.join(f'{name}={_short_value(value)}' for name, value in arguments.items())})"


def format_command(*words: str) -> str:
    """Format a command as typed in a shell."""
    return f"$ {shlex.join(words)}"


def _short_value(value: Any) -> str:
    if is_list(value) and any(is_object(entry) for entry in value):
        return f"[{', '.join(str(entry.get('tool', '…')) for entry in value)}]"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_CHARS else f"{text[: VALUE_CHARS - 2]}…{text[-1]}"
