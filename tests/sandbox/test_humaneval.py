"""HumanEval in the sandbox: the 164 programs of openai/human-eval, run as they are, against their own tests.

The file is not ours to ship. Fetch data/HumanEval.jsonl.gz from github.com/openai/human-eval, then run

    PANORAMA_HUMANEVAL=HumanEval.jsonl.gz uv run poe slow tests/sandbox/test_humaneval.py -s
"""

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.sandbox.runs import Runs, limits, nothing_is_left, runs

__all__ = ["nothing_is_left", "runs"]

FETCHED = os.environ.get("PANORAMA_HUMANEVAL", "")
PROGRAMS, ENOUGH = 164, 163
SHAPED_SO = {
    "task_id": "Ours/0",
    "prompt": 'from typing import List\n\n\ndef total(numbers: List[int]) -> int:\n    """ Add numbers. """\n',
    "canonical_solution": "    return sum(numbers)\n",
    "test": "\n\ndef check(candidate):\n    assert candidate([]) == 0\n    assert candidate([1, 2]) == 3\n",
    "entry_point": "total",
}


def programs(file: Path) -> Iterator[Mapping[str, str]]:
    """Give the programs of a file, packed or not."""
    with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def failed(program: Mapping[str, str], runs: Runs) -> str:
    """Return why a program does not pass its own test in the sandbox, "" if it does."""
    source = "{prompt}{canonical_solution}\n{test}\ncheck({entry_point})\nreturn 'passed'\n".format_map(program)
    ending = runs(source, limits=limits(seconds=30))
    if failure := ending.failure:
        return f"{program['task_id']}: {failure.reason}, line {failure.line}: {failure.message} {failure.hint}".strip()
    return "" if json.loads(ending.result) == "passed" else f"{program['task_id']}: its end was not reached"


def test_a_program_of_this_shape_passes(runs: Runs):
    assert failed(SHAPED_SO, runs) == ""


@pytest.mark.parametrize(
    ("solution", "why"), [("    return len(numbers)\n", "raised"), ("    return eval('3')\n", "policy")]
)
def test_a_program_that_is_wrong_or_refused_is_told(runs: Runs, solution: str, why: str):
    assert failed({**SHAPED_SO, "canonical_solution": solution}, runs).startswith(f"Ours/0: {why}, line ")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not FETCHED, reason="PANORAMA_HUMANEVAL names no HumanEval.jsonl.gz (github.com/openai/human-eval)")
def test_of_164_programs_at_least_163_pass(runs: Runs):
    every = list(programs(Path(FETCHED)))

    failures = [why for program in every if (why := failed(program, runs))]

    report = "\n".join([f"{len(every) - len(failures)} of {len(every)} pass.", *failures])
    print(f"\n{report}")  # noqa: T201 (what is measured)
    assert len({program["task_id"] for program in every}) == len(every) == PROGRAMS
    assert len(failures) <= PROGRAMS - ENOUGH, report
