"""The only module that prints: answers to standard output, everything else to standard error.

A terminal gets colours, folded tables and rendered Markdown; a pipe gets plain text, one row per line.
"""

import json
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook, RenderResult
from rich.table import Table
from rich.text import Text

from panorama.cli.client import Answer
from panorama.cli.console.column_widths import GAP, fit_columns
from panorama.cli.console.pipes import silence_stdout
from panorama.cli.console.tables import Column, TextTable, format_progress, safe_line, safe_lines
from panorama.cli.console.terminal_words import to_terminal
from panorama.domain.items.files import decode_text
from panorama.domain.text.visible_text import escape_json
from panorama.errors import InvalidInputError, PanoramaError
from panorama.transport.rpc_client import ProgressCallback

UNLIMITED_WIDTH = 1_000_000
STEP_CHARS = 24


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Exit silently."""
        silence_stdout()
        raise SystemExit(0)


@dataclass(frozen=True, slots=True)
class _SafeRenderable:
    """A renderable without terminal controls, which a renderer may create from plain text."""

    content: Any

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the segments of the content, with the styles but without controls in their texts."""
        for segment in console.render(self.content, options):
            yield segment if segment.control else segment._replace(text=safe_lines(segment.text))


class _SafeRendering(RenderHook):
    """A console that removes terminal controls from its output."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Wrap renderables to make them safe."""
        return [_SafeRenderable(renderable) for renderable in renderables]


def _console(*, stderr: bool = False) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else UNLIMITED_WIDTH
    console = _Console(file=stream, width=width, highlight=False, markup=False, emoji=False)
    console.push_render_hook(_SafeRendering())
    return console


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def is_interactive() -> bool:
    """Return whether a user can be asked."""
    return sys.stdin is not None and sys.stdin.isatty()


def confirm(question: str) -> bool:
    """Ask the user; any answer except yes means no."""
    _console(stderr=True).print(safe_line(f"{question} [y/N]"), end=" ")
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        sys.stderr.write("\n")
    return answer.strip().lower() in ("y", "yes")


@contextmanager
def _guard_stdout() -> Generator[None]:
    """Exit silently on a broken pipe; report other errors of standard output."""
    try:
        yield
    except BrokenPipeError:
        silence_stdout()
        raise SystemExit(0) from None
    except OSError as error:
        silence_stdout()
        raise PanoramaError(
            f"The answer cannot be written: {error.strerror}.", hint="Redirect the output to another file."
        ) from error


def print_text(words: str) -> None:
    """Print plain text."""
    stream = sys.stdout
    with _guard_stdout():
        if "utf" not in (stream.encoding or "").lower():
            words = words.encode(stream.encoding or "ascii", "backslashreplace").decode(stream.encoding or "ascii")
        stream.write(words)
        stream.flush()


def print_raw(content: str) -> None:
    """Print a text unchanged; in a terminal without controls, and with a final newline."""
    print_text(safe_lines(content).rstrip("\n") + "\n" if is_terminal() else content)


def print_report(text: str) -> None:
    """Print a report, always without terminal controls, and with a final newline.

    At the end of a pipe is usually a pager; programs use `--json`.
    """
    print_text(safe_lines(text).rstrip("\n") + "\n")


def print_content(content: bytes) -> None:
    """Print a file's content unchanged; in a terminal only text.

    Raises:
        InvalidInputError: It is binary, and the output is a terminal.
    """
    if is_terminal():
        text = decode_text(content)
        if text is None:
            raise InvalidInputError("The file is not text.", hint="Write it to the disk with --to PATH.")
        print_raw(text)
        return
    with _guard_stdout():
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def print_json(value: Mapping[str, Any]) -> None:
    """Print an answer as JSON."""
    print_text(_to_json(value))


def _to_json(value: Mapping[str, Any]) -> str:
    return escape_json(json.dumps(value, ensure_ascii=False, indent=2, default=str)) + "\n"


def print_blocks(parts: Iterable[Text]) -> None:
    """Print texts one below the other."""
    for part in parts:
        _print(part)


def print_table(table: TextTable) -> None:
    """Print a table, or nothing if it has no rows."""
    if not table.rows:
        return
    if is_terminal():
        console = _console()
        console.print(build_grid(table, console.width))
    else:
        print_text("".join(f"{row}\n" for row in align_rows(table)))


def _print(renderable: RenderableType) -> None:
    if is_terminal():
        _console().print(renderable)
    elif isinstance(renderable, Text):
        print_text(f"{safe_lines(renderable.plain)}\n")


def build_grid(table: TextTable, width: int) -> Table:
    """Render a table for a terminal of a width."""
    grid = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
    widths = fit_columns(table, width)
    for at, column_width in widths.items():
        column = table.columns[at]
        side = "right" if column.right else "left"
        overflow = "fold" if column.fold else "ellipsis"
        grid.add_column(column.name, width=column_width, justify=side, no_wrap=not column.fold, overflow=overflow)
    for row in table.rows:
        grid.add_row(*(row[at] for at in widths))
    return grid


def align_rows(table: TextTable) -> list[str]:
    """Render a table's lines for a pipe: uncut, in columns."""
    every = [[column.name for column in table.columns], *([cell.plain for cell in row] for row in table.rows)]
    widths = [max(cell_len(row[at]) for row in every) for at in range(len(table.columns))]
    return ["  ".join(_pad(*cell) for cell in zip(row, widths, table.columns, strict=True)).rstrip() for row in every]


def _pad(cell: str, width: int, column: Column) -> str:
    gap = " " * (width - cell_len(cell))
    return gap + cell if column.right else cell + gap


def print_markdown(head: Text, content: str) -> None:
    """Print a note as rendered Markdown."""
    from rich.markdown import Markdown  # 100 ms

    console = _console()
    console.print(head, end="\n\n")
    console.print(Markdown(safe_lines(content), hyperlinks=False))


def print_message(words: str, style: str = "dim") -> None:
    """Print a note about the answer."""
    _console(stderr=True).print(safe_line(words, style))


def print_error(message: str, hint: str, candidates: Sequence[Mapping[str, object]]) -> None:
    """Print an error with its hint and candidates."""
    console = _console(stderr=True)
    console.print(safe_line(message, "red"))
    if hint:
        console.print(safe_line(f"→ {hint}"))
    for candidate in candidates:
        console.print(Text("  ").append_text(safe_line(" · ".join(str(value) for value in candidate.values()), "dim")))


def print_renderable(renderable: RenderableType) -> None:
    """Print a renderable with colours."""
    _print(renderable)


def prompt(question: str) -> None:
    """Print a question; the user types after it."""
    _console(stderr=True).print(safe_line(question), end=" ")


def read_secret(question: str) -> str:
    """Return a secret that the user types without seeing it, or the first line of a pipe."""
    if not is_interactive():
        return sys.stdin.readline().strip() if sys.stdin else ""
    import getpass

    return getpass.getpass(f"{safe_line(question).plain} ", stream=sys.stderr).strip()


def print_script_error(text: Text) -> None:
    """Print a script's error with its lines."""
    _console(stderr=True).print(text)


def print_error_json(value: Mapping[str, Any]) -> None:
    """Print an error as JSON."""
    sys.stderr.write(_to_json(value))


def print_traceback(error: BaseException) -> None:
    """Print a traceback."""
    import traceback

    sys.stderr.write(safe_lines("".join(traceback.format_exception(error))))


@contextmanager
def progress(title: str) -> Generator[ProgressCallback]:
    """Show a progress bar on standard error, if it is a terminal; the yielded function updates it."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.fields[at]}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=_console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bars:
        bar = bars.add_task("", total=None, at=_format_step(title))

        def update(done: int, total: int, at: str) -> None:
            bars.update(bar, completed=done, total=total or None, at=_format_step(at or title))

        yield update


@contextmanager
def job_bars() -> Generator[Callable[[Sequence[Mapping[str, Any]]], None]]:
    """Show a progress bar for each job on standard error; the yielded function takes the current jobs."""
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    at, far = (TextColumn(f"{{task.fields[{name}]}}", markup=False) for name in ("at", "far"))
    known: dict[str, Any] = {}
    with Bars(at, BarColumn(), far, console=_console(stderr=True), disable=not sys.stderr.isatty()) as shown:

        def update(jobs: Sequence[Mapping[str, Any]]) -> None:
            for job in jobs:
                if job["id"] not in known:
                    known[job["id"]] = shown.add_task("", total=None, at="", far="")
                total = job.get("total") or (1 if job.get("ended_at") else None)
                done = total if job["state"] == "succeeded" else job.get("current", 0)
                name = safe_line(f"{job['id']} {job['kind']}").plain[:32].ljust(32)
                shown.update(
                    known[job["id"]], completed=done, total=total, at=name, far=safe_line(format_progress(job)).plain
                )

        yield update


@contextmanager
def report_interrupt(left: str) -> Generator[None]:
    """Report the state of a long operation that the user stops."""
    try:
        yield
    except KeyboardInterrupt:
        print_message(f"Stopped. {left}")
        raise


def _format_step(words: str) -> str:
    return safe_line(words).plain[:STEP_CHARS].ljust(STEP_CHARS)


def print_answer(answer: Answer, as_json: bool, shown: Callable[[], None]) -> None:
    """Print an answer as JSON, or with the given function."""
    if as_json:
        print_json(answer.to_dict())
    else:
        shown()


def print_rows(answer: Answer, as_json: bool, shown: Callable[[], None]) -> None:
    """Print a list, and its summary."""
    print_answer(answer, as_json, shown)
    if not as_json:
        print_message(to_terminal(answer.summary))
        _print_hint(answer)


def print_result(answer: Answer, as_json: bool, shown: Callable[[], None] = lambda: None) -> None:
    """Print what was done, and how to undo it."""
    if as_json:
        print_json(answer.to_dict())
        return
    _print(safe_line(answer.summary))
    shown()
    _print_hint(answer)
    if unit := answer.metadata.get("undo"):
        print_message(f"`panorama undo {unit}` undoes it")


def _print_hint(answer: Answer) -> None:
    if hint := answer.metadata.get("hint"):
        print_message(to_terminal(str(hint)), "yellow")
