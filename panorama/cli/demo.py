"""The demo: the product's main job, end to end, in a home of its own that is gone afterwards."""

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import anyio

from panorama import __version__, sample
from panorama.address import Address
from panorama.cli.daemon import end_daemon
from panorama.cli.demo_checks import Answer, Claim, Morning, many
from panorama.cli.demo_room import HOME, WORKSPACE, interruptible, remains, room
from panorama.cli.demo_show import Transcript, command, compact, milliseconds
from panorama.cli.demo_steps import IMPORTS, STEPS, Step
from panorama.config import Settings, read_settings

if TYPE_CHECKING:
    from fastmcp import Client

CLIENT = "panorama-demo"
WAIT = timedelta(seconds=60)
"""How long the demo waits for the server to start, and for an answer."""

LINGER = timedelta(seconds=30)
"""How long the daemon waits for the next step."""

CHARS_PER_TOKEN = 4
"""The usual rule of thumb for English text and current models."""

LOG_CHARS = 2_000
SHOWN_CHARS = 300


def run(keep: Path | None) -> int:
    """Live a morning with the product and tell it; return 0 only if every step did what it says.

    Args:
        keep: A new or empty folder that the workspace and the data are left in; else nothing is left.

    Raises:
        InvalidInputError: `keep` cannot be used.
        KeyboardInterrupt: It was stopped; what it had made is removed.
    """
    transcript = Transcript()
    with interruptible(), room(keep) as folder:
        demo = _Demo(transcript, folder, read_settings())
        try:
            demo.live()
        except KeyboardInterrupt:
            transcript.remark("Stopped." if keep else "Stopped; nothing is left behind.")
            raise
        finally:
            demo.end()
        demo.close()
    left = keep is None and folder.exists()
    transcript.title("In short")
    transcript.summary({**demo.sums(), **remains(folder, left=left, kept=keep is not None)})
    return 0 if demo.went_well and not left else 1


@dataclass(slots=True)
class _Demo:
    transcript: Transcript
    folder: Path
    settings: Settings
    began: float = field(default_factory=time.perf_counter)
    calls: list[Answer] = field(default_factory=list[Answer])
    passed: int = 0
    took: timedelta = timedelta()
    database_bytes: int = 0

    @property
    def went_well(self) -> bool:
        return self.passed == len(IMPORTS) + len(STEPS)

    def live(self) -> None:
        """Lay out the workspace, import it, and live the morning; ends at the first step that fails."""
        day = datetime.now(self.settings.zone).date()
        morning = Morning(day, self.folder / WORKSPACE)
        files = sample.written(morning.workspace, day)
        self.transcript.title(f"Panorama {__version__}: a morning in Hanne's studio, {day:%A} {day}")
        self.transcript.remark(f"{many(len(files), 'Markdown file')} laid out in {morning.workspace}")
        asyncio.run(self._morning(morning))

    async def _morning(self, morning: Morning) -> None:
        if not await self._steps(IMPORTS, morning, self._import):
            return
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
            try:
                await self._served(morning, cast("TextIO", log))
            except Exception as error:
                self.transcript.remark(f"The server failed: {type(error).__name__}: {error}", "bold red")
            if not self.went_well and (said := _tail(cast("TextIO", log))):
                self.transcript.remark(f"The server's log ends:\n{said}")

    async def _served(self, morning: Morning, log: TextIO) -> None:
        """Start the server as any client does, and speak with it."""
        from fastmcp import Client  # a second
        from fastmcp.client.transports import StdioTransport
        from mcp_types import Implementation

        started = time.perf_counter()
        transport = StdioTransport(
            sys.executable, ["-m", "panorama"], env=self._environment(), keep_alive=False, log_file=log
        )
        me = Implementation(name=CLIENT, version=__version__)
        questions: list[str] = []

        async def agree(question: str, *_: Any) -> dict[str, Any]:
            questions.append(question)
            return {"value": True}

        async def ask(step: Step, arguments: Mapping[str, Any]) -> Answer:
            questions.clear()
            answer = await _called(client, step.tool, arguments)
            return replace(answer, asked=tuple(questions))

        async with Client(
            transport, client_info=me, timeout=WAIT, init_timeout=WAIT, elicitation_handler=agree
        ) as client:
            tools = len(await client.list_tools())
            took = milliseconds(_since(started))
            self.transcript.remark(f"\nThe MCP server runs in a process of its own: {many(tools, 'tool')}, {took}.")
            await self._steps(STEPS, morning, ask)

    async def _steps(
        self, steps: Sequence[Step], morning: Morning, ask: Callable[[Step, Mapping[str, Any]], Awaitable[Answer]]
    ) -> bool:
        for step in steps:
            if step.chapter:
                self.transcript.title(step.chapter)
            arguments = step.arguments(morning)
            self.transcript.asked(self.passed + 1, step.said, _told(step, arguments, morning))
            answer = await _timed(ask(step, arguments))
            told, wrong = _judged(step, answer, morning)
            if wrong:
                self.transcript.failed(answer, step.name, wrong)
                return False
            self.transcript.answered(answer, told)
            morning.answers[step.name] = answer
            self.calls.append(answer)
            self.passed += 1
        return True

    async def _import(self, step: Step, arguments: Mapping[str, Any]) -> Answer:
        """Run the command as a person does."""
        words = [sys.executable, "-m", *step.tool.split(), *arguments.values(), "--json"]
        with anyio.fail_after(WAIT.total_seconds()):
            done = await anyio.run_process(words, env=self._environment(), check=False)
        if done.returncode:
            return Answer(text=_words(done.stderr or done.stdout), code=f"exit code {done.returncode}")
        answer = json.loads(done.stdout)
        return Answer(text=answer["summary"], data=answer["data"], metadata=answer["metadata"])

    def _environment(self) -> dict[str, str]:
        """The person's environment without their settings, but for the time zone."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PANORAMA_")}
        return {
            **kept, "PANORAMA_HOME": str(self.folder / HOME), "PANORAMA_LINGER_SECONDS": f"{LINGER.total_seconds():g}",
            "PANORAMA_TIMEZONE": self.settings.timezone,
        }  # fmt: skip

    def end(self) -> None:
        """Let the daemon finish and leave; one that does not is ended, since its data goes too."""
        end_daemon(Address(str(self.folder / HOME)), again=False, force=True)

    def close(self) -> None:
        """Measure what is there before it is removed."""
        self.took = _since(self.began)
        self.database_bytes = sum(each.stat().st_size for each in (self.folder / HOME).glob("panorama.db*"))

    def sums(self) -> Mapping[str, str]:
        """Return the sums of the run."""
        asked = self.calls[len(IMPORTS) :]
        times = [each.took.total_seconds() for each in asked]
        median = milliseconds(timedelta(seconds=statistics.median(times))) if times else "no time"
        tokens = sum(each.tokens for each in asked)
        return {
            "Steps": f"{self.passed} of {len(IMPORTS) + len(STEPS)} did what they say",
            "Time": f"{self.took.total_seconds():.1f} s in all; the median tool call took {median}",
            "Tokens": f"{tokens:,} in {many(len(asked), 'answer')} (characters of their text / {CHARS_PER_TOKEN})",
            "Database": f"{self.database_bytes / 1024:,.0f} KB",
        }


async def _timed(asking: Awaitable[Answer]) -> Answer:
    started = time.perf_counter()
    try:
        answer = await asking
    except Exception as error:  # whatever it is, the step has failed, and the demo says so
        answer = Answer(text=f"{type(error).__name__}: {error}", code="no answer")
    return replace(answer, took=_since(started))


async def _called(client: "Client[Any]", tool: str, arguments: Mapping[str, Any]) -> Answer:
    result = await client.call_tool_mcp(tool, dict(arguments))
    said: Mapping[str, Any] = result.structured_content or {}
    text = "\n".join(each.text for each in result.content if each.type == "text")
    code = str(said.get("error", {}).get("code", "no code")) if result.is_error else ""
    return Answer(
        text=text,
        data=said.get("data"),
        metadata=said.get("metadata", {}),
        code=code,
        tokens=round(len(text) / CHARS_PER_TOKEN),
    )


def _told(step: Step, arguments: Mapping[str, Any], morning: Morning) -> str:
    if step in IMPORTS:
        return command(*step.tool.split(), morning.workspace.name)
    return compact(step.tool, arguments)


def _judged(step: Step, answer: Answer, morning: Morning) -> tuple[str, str]:
    """Return what can be said of an answer, and what is wrong with it ("" if nothing is)."""
    if answer.code != step.refused:
        return "", f"expected {step.refused or 'an answer'}, got {answer.code or 'an answer'}"
    try:
        claims = tuple(step.check(answer, morning))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        return "", f"the answer has another shape than expected ({type(error).__name__}: {error})"
    wrong = [_wrong(each) for each in claims if each.expected != each.found]
    return "; ".join(each.told for each in claims), "; ".join(wrong)


def _wrong(claim: Claim) -> str:
    expected, found = (str(each)[:SHOWN_CHARS] for each in (claim.expected, claim.found))
    return f"“{claim.told}” does not hold: expected {expected}, got {found}"


def _words(output: bytes) -> str:
    return output.decode(errors="replace").strip()


def _tail(log: TextIO) -> str:
    log.seek(0)
    return log.read()[-LOG_CHARS:].strip()


def _since(started: float) -> timedelta:
    return timedelta(seconds=time.perf_counter() - started)
