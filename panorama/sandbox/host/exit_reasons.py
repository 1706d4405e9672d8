"""Explains why a worker ended without sending an outcome."""

import os
import signal

from panorama.domain.scripts.scripts import Failure, Limits, Reason, RunOutcome
from panorama.sandbox.protocol import limits as words
from panorama.sandbox.protocol.control import Report

_TEXTS: dict[Reason, tuple[str, str]] = {
    "blocked": (
        "The script made a system call that no script may make; the kernel stopped it.",
        "Scripts compute, and call the SDK; files, programs and the network are out of their reach.",
    ),
    "crashed": (
        "The process that ran the script crashed{0}.",
        "Run it again; if it crashes again, leave out the part that computes most.",
    ),
}


def build_exit_outcome(report: Report | None, limits: Limits) -> RunOutcome:
    """Return the outcome of a run whose worker died; `report` is None if unknown."""
    if report is None:
        return RunOutcome(failure=_build_failure("crashed", "", limits))
    number = os.WTERMSIG(report.status) if os.WIFSIGNALED(report.status) else 0
    reason = _find_reason(number, report, limits)
    detail = f" ({signal.Signals(number).name})" if number else ""
    return RunOutcome(
        failure=_build_failure(reason, detail, limits), peak_bytes=report.peak_bytes, cpu_seconds=report.cpu_seconds
    )


def _find_reason(number: int, report: Report, limits: Limits) -> Reason:
    if number == signal.SIGSYS:
        return "blocked"
    if number == signal.SIGXCPU or report.cpu_seconds > limits.cpu.total_seconds():
        return "cpu"
    if number == signal.SIGKILL and report.peak_bytes > limits.memory_bytes // 2:
        return "memory"  # the machine ran out of it before the script did
    return "crashed"


def _build_failure(reason: Reason, detail: str, limits: Limits) -> Failure:
    if reason in _TEXTS:
        message, hint = _TEXTS[reason]
        return Failure(reason=reason, message=message.format(detail), hint=hint)
    return Failure(reason=reason, message=words.format_message(reason, limits), hint=words.get_hint(reason))
