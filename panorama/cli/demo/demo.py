"""The demo: the main workflow, end to end, in a temporary data directory."""

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
from pydantic import SecretStr

from panorama import __version__, sample
from panorama.cli.daemon_process import end_daemon
from panorama.cli.demo.checks import CHARS_PER_TOKEN, DemoFacts, Expectation, StepResult, pluralize
from panorama.cli.demo.stand_ins import serve_stand_ins
from panorama.cli.demo.steps import COMMAND_PREFIX, IMPORTS, STEPS, Step
from panorama.cli.demo.transcript import Transcript, format_call, format_command, format_milliseconds
from panorama.cli.demo.workspace import HOME, WORKSPACE, describe_leftovers, interrupt_on_signals, open_workspace
from panorama.config import Settings, read_settings
from panorama.databases import open_backend
from panorama.transport.address import Address

if TYPE_CHECKING:
    from fastmcp import Client

CLIENT = "panorama-demo"
TIMEOUT = timedelta(seconds=60)
"""How long the demo waits for the server to start, and for an answer."""

LINGER = timedelta(seconds=30)
"""How long the daemon waits for the next step."""

LOG_CHARS = 2_000
SHOWN_CHARS = 300


def run(keep: Path | None) -> int:
    """Run the demo and print it; return 0 only if every step succeeded.

    Args:
        keep: A new or empty folder for the workspace and the data; by default they are deleted.

    Raises:
        InvalidInputError: `keep` cannot be used.
        KeyboardInterrupt: It was stopped; everything it created is deleted.
    """
    transcript = Transcript()
    with interrupt_on_signals(), open_workspace(keep) as folder:
        demo = _Demo(transcript, folder, read_settings())
        try:
            demo.run()
        except KeyboardInterrupt:
            transcript.print_remark("Stopped." if keep else "Stopped; nothing is left behind.")
            raise
        finally:
            demo.end()
        demo.measure()
    left = keep is None and folder.exists()
    transcript.print_title("In short")
    transcript.print_summary({**demo.totals(), **describe_leftovers(folder, left=left, kept=keep is not None)})
    return 0 if demo.is_successful and not left else 1


@dataclass(slots=True)
class _Demo:
    transcript: Transcript
    folder: Path
    settings: Settings
    began: float = field(default_factory=time.perf_counter)
    calls: list[StepResult] = field(default_factory=list[StepResult])
    passed: int = 0
    took: timedelta = timedelta()
    database_bytes: int = 0

    @property
    def is_successful(self) -> bool:
        return self.passed == len(IMPORTS) + len(STEPS)

    def run(self) -> None:
        """Create the workspace, import it, and run the steps; ends at the first failure."""
        day = datetime.now(self.settings.zone).date()
        morning = DemoFacts(day, self.folder / WORKSPACE)
        files = sample.write_files(morning.workspace, day)
        self.transcript.print_title(f"Panorama {__version__}: a morning in Hanne's studio, {day:%A} {day}")
        self.transcript.print_remark(f"{pluralize(len(files), 'Markdown file')} laid out in {morning.workspace}")
        asyncio.run(self._run_all(morning))

    async def _run_all(self, morning: DemoFacts) -> None:
        if not await self._run_steps(IMPORTS, morning, self._run_command):
            return
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
            try:
                await self._run_with_server(morning, cast("TextIO", log))
            except Exception as error:  # any failure of the server ends the demo with its log
                self.transcript.print_remark(f"The server failed: {type(error).__name__}: {error}", "bold red")
            if not self.is_successful and (log_tail := _read_tail(cast("TextIO", log))):
                self.transcript.print_remark(f"The server's log ends:\n{log_tail}")

    async def _run_with_server(self, morning: DemoFacts, log: TextIO) -> None:
        """Start the server as a client does, and run the steps."""
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

        async def call_step(step: Step, arguments: Mapping[str, Any]) -> StepResult:
            if step.tool.startswith(COMMAND_PREFIX):
                return await self._run_command(step, arguments)
            questions.clear()
            answer = await _call_tool(client, step.tool, arguments)
            return replace(answer, asked=tuple(questions))

        with serve_stand_ins(self.folder / HOME, morning.day):
            async with Client(
                transport, client_info=me, timeout=TIMEOUT, init_timeout=TIMEOUT, elicitation_handler=agree
            ) as client:
                tools = len(await client.list_tools())
                took = format_milliseconds(_elapsed_since(started))
                self.transcript.print_remark(
                    f"\nThe MCP server runs in its own process: {pluralize(tools, 'tool')}, {took}."
                )
                await self._run_steps(STEPS, morning, call_step)

    async def _run_steps(
        self, steps: Sequence[Step], morning: DemoFacts, ask: Callable[[Step, Mapping[str, Any]], Awaitable[StepResult]]
    ) -> bool:
        for step in steps:
            if step.chapter:
                self.transcript.print_title(step.chapter)
            arguments = step.arguments(morning)
            self.transcript.print_question(self.passed + 1, step.prompt, _describe_call(step, arguments, morning))
            answer = await _time_call(ask(step, arguments))
            summary, wrong = _check_answer(step, answer, morning)
            if wrong:
                self.transcript.print_failure(answer, step.name, wrong)
                return False
            self.transcript.print_answer(answer, summary)
            morning.answers[step.name] = answer
            self.calls.append(answer)
            self.passed += 1
        return True

    async def _run_command(self, step: Step, arguments: Mapping[str, Any]) -> StepResult:
        """Run the command as a user does."""
        words = [sys.executable, "-m", *step.tool.split(), *arguments.values(), "--json"]
        with anyio.fail_after(TIMEOUT.total_seconds()):
            done = await anyio.run_process(words, env=self._environment(), check=False)
        if done.returncode:
            return StepResult(text=_decode_output(done.stderr or done.stdout), code=f"exit code {done.returncode}")
        answer = json.loads(done.stdout)
        return StepResult(text=answer["summary"], data=answer["data"], metadata=answer["metadata"])

    def _environment(self) -> dict[str, str]:
        """Return the user's environment without Panorama's settings, except the time zone."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PANORAMA_")}
        return {
            **environment,
            "PANORAMA_HOME": str(self.folder / HOME), "PANORAMA_LINGER_SECONDS": f"{LINGER.total_seconds():g}",
            "PANORAMA_TIMEZONE": self.settings.timezone,
        }  # fmt: skip

    def end(self) -> None:
        """Stop the daemon; kill it if it does not stop, because its data is deleted."""
        end_daemon(Address(str(self.folder / HOME)), again=False, force=True)

    def measure(self) -> None:
        """Measure the data before it is deleted."""
        self.took = _elapsed_since(self.began)
        chosen = {"home": self.folder / HOME, "database_url": SecretStr("")}
        self.database_bytes = open_backend(self.settings.model_copy(update=chosen)).open().size_bytes()

    def totals(self) -> Mapping[str, str]:
        """Return the totals of the run."""
        asked = self.calls[len(IMPORTS) :]
        times = [result.took.total_seconds() for result in asked]
        median = format_milliseconds(timedelta(seconds=statistics.median(times))) if times else "no time"
        tokens = sum(result.tokens for result in asked)
        return {
            "Steps": f"{self.passed} of {len(IMPORTS) + len(STEPS)} did what they say",
            "Time": f"{self.took.total_seconds():.1f} s in all; the median tool call took {median}",
            "Tokens": f"{tokens:,} in {pluralize(len(asked), 'answer')} (characters of their text / {CHARS_PER_TOKEN})",
            "Database": f"{self.database_bytes / 1024:,.0f} KB",
        }


async def _time_call(asking: Awaitable[StepResult]) -> StepResult:
    started = time.perf_counter()
    try:
        answer = await asking
    except Exception as error:  # any exception fails the step and is reported
        answer = StepResult(text=f"{type(error).__name__}: {error}", code="no answer")
    return replace(answer, took=_elapsed_since(started))


async def _call_tool(client: "Client[Any]", tool: str, arguments: Mapping[str, Any]) -> StepResult:
    result = await client.call_tool_mcp(tool, dict(arguments))
    content: Mapping[str, Any] = result.structured_content or {}
    text = "\n".join(block.text for block in result.content if block.type == "text")
    code = text[1:].partition("]")[0] if result.is_error else ""
    return StepResult(
        text=text,
        data=content.get("data"),
        metadata=content.get("metadata", {}),
        code=code,
        tokens=round(len(text) / CHARS_PER_TOKEN),
        sent_tokens=round(len(json.dumps(arguments, ensure_ascii=False)) / CHARS_PER_TOKEN),
    )


def _describe_call(step: Step, arguments: Mapping[str, Any], morning: DemoFacts) -> str:
    if step.tool.startswith(COMMAND_PREFIX):
        return format_command(*step.tool.split(), *([morning.workspace.name] if arguments else []))
    return format_call(step.tool, arguments)


def _check_answer(step: Step, answer: StepResult, morning: DemoFacts) -> tuple[str, str]:
    """Return the summary of an answer, and its problem ("" if none)."""
    if answer.code != step.refused:
        return "", f"expected {step.refused or 'an answer'}, got {answer.code or 'an answer'}"
    try:
        claims = tuple(step.check(answer, morning))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        return "", f"the answer has another shape than expected ({type(error).__name__}: {error})"
    wrong = [_describe_mismatch(claim) for claim in claims if claim.expected != claim.found]
    return "; ".join(claim.text for claim in claims), "; ".join(wrong)


def _describe_mismatch(claim: Expectation) -> str:
    expected, actual = (str(value)[:SHOWN_CHARS] for value in (claim.expected, claim.found))
    return f"“{claim.text}” does not hold: expected {expected}, got {actual}"


def _decode_output(output: bytes) -> str:
    return output.decode(errors="replace").strip()


def _read_tail(log: TextIO) -> str:
    log.seek(0)
    return log.read()[-LOG_CHARS:].strip()


def _elapsed_since(started: float) -> timedelta:
    return timedelta(seconds=time.perf_counter() - started)
