"""Measuring: several rounds in turn, medians, and a board that shows them beside their bars."""

import os
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

ROUNDS = 5

Step = Callable[[], Awaitable[object]]


@dataclass
class Board:
    """Rows of measure, bar and what was measured."""

    rows: list[tuple[str, str, str, str]] = field(default_factory=list[tuple[str, str, str, str]])

    def show(self, measure: str, bar: str, measured: str, reference: str = "") -> None:
        """Keep a row, and print it at once."""
        self.rows.append((measure, bar, measured, reference))
        console().print(f"{measure}: [bold]{measured}[/] (bar {bar or '–'}) {reference}", highlight=False)

    def table(self) -> Table:
        """Return all rows."""
        load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
        table = Table(title=f"{os.cpu_count()} cores, load {load} (goals are for quiet hardware)")
        for name in ("measure", "bar", "measured", "reference of the same run"):
            table.add_column(name, overflow="fold")
        for row in self.rows:
            table.add_row(*row)
        return table


def console() -> Console:
    """Return where tables are printed."""
    return Console(width=160)


async def time_step(step: Step) -> float:
    """Return how many milliseconds a step takes."""
    started = time.perf_counter()
    await step()
    return (time.perf_counter() - started) * 1000


async def in_turn(
    steps: Mapping[str, Step], *, times: int, rounds: int = ROUNDS, before: Step | None = None
) -> dict[str, list[float]]:
    """Return each step's median of every round; the steps take turns, call by call, so that noise meets all alike.

    Args:
        before: What is to be done before each step, and is not measured.
    """
    found: dict[str, list[float]] = {name: [] for name in steps}
    for round_ in range(rounds + 1):
        samples: dict[str, list[float]] = {name: [] for name in steps}
        for _ in range(times if round_ else max(3, times // 10)):
            for name, step in steps.items():
                if before is not None:
                    await before()
                samples[name].append(await time_step(step))
        if round_:  # the first only warms up
            for name, values in samples.items():
                found[name].append(statistics.median(values))
    return found


def median(values: list[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def ratio(found: Mapping[str, list[float]], name: str, reference: str) -> float:
    """Return the median over the rounds of what one takes in proportion to the other."""
    return median([mine / theirs for mine, theirs in zip(found[name], found[reference], strict=True)])


def ms(values: list[float] | float) -> str:
    """Return milliseconds as text."""
    return f"{median(values) if isinstance(values, list) else values:.2f} ms"
