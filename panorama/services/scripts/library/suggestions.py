"""Suggests scripts from repeated work in the log, with its cost in tokens."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from panorama.domain.scripts.wrap import suggest_name
from panorama.services.base import Service
from panorama.services.scripts.library.results import ScriptLine
from panorama.store.log import library as rows

MIN_REPEATS = 3
"""The repetitions from which a script is suggested."""

MAX_RUNS, MAX_CALLS = 200, 2000
"""The numbers of newest runs and calls that are examined."""

MAX_CHAIN_LENGTH = 5
"""The longest chain of calls that is considered."""

MAX_SUGGESTIONS = 10
CHARS_PER_TOKEN = 4
_EXCLUDED_TOOLS = frozenset(
    {"run_code", "run_script", "batch", "search_sdk", "save_script", "list_scripts", "status", "undo"}
)
"""Tools that are not a step of a chain: they run scripts, or do nothing that a script could do."""


class Suggestions(Service):
    """Finds suggestions in the log."""

    def list_suggestions(self) -> list[ScriptLine]:
        """Return the suggestions, the most expensive first."""
        with self._reading() as session:
            coded, chained = rows.list_run_code(session, MAX_RUNS), rows.list_tool_calls(session, MAX_CALLS)
        lines = [*_iter_patterns(coded), *_iter_chains(chained)]
        return sorted(lines, key=lambda line: (-(line.tokens or 0), line.summary))[:MAX_SUGGESTIONS]

    def describe_top(self) -> str:
        """Describe the most expensive suggestion in one sentence; "" if there is none."""
        suggestions = self.list_suggestions()
        if not suggestions:
            return ""
        more = f" (and {len(suggestions) - 1} more)" if len(suggestions) > 1 else ""
        return f"Worth a script: {suggestions[0].summary}{more}; list_scripts(suggest=true) shows all."


def _iter_patterns(coded: Sequence[rows.RunCode]) -> Iterator[ScriptLine]:
    """Yield groups of code that called the same SDK functions."""
    alike: defaultdict[frozenset[str], list[rows.RunCode]] = defaultdict(list)
    for run_code in coded:
        if run_code.called:
            alike[frozenset(run_code.called)].append(run_code)
    for runs in alike.values():
        if len(runs) >= MIN_REPEATS:
            newest = runs[0]
            tokens = sum(run.tokens + len(run.source) // CHARS_PER_TOKEN for run in runs)
            steps = ", ".join(newest.called[:MAX_CHAIN_LENGTH])
            yield ScriptLine(
                name=suggest_name("_".join(newest.called[:2])), state="suggested", run=newest.id, runs=len(runs),
                summary=f"code with {steps} ran {len(runs)} times and cost {tokens:,} tokens", tokens=tokens,
            )  # fmt: skip


def _iter_chains(chained: Sequence[tuple[str, str, int]]) -> Iterator[ScriptLine]:
    """Yield repeated chains of tool calls, without those inside longer ones."""
    counts, costs = _count_chains(chained)
    often = {chain: count for chain, count in counts.items() if count >= MIN_REPEATS}
    used: set[tuple[str, ...]] = set()
    for chain in sorted(often, key=lambda chain: (-len(chain), chain)):
        if chain not in used:
            used.update(_iter_subchains(chain))
            yield ScriptLine(
                name=suggest_name("_".join(chain[:2])), state="suggested", runs=often[chain], tokens=costs[chain],
                summary=f"{' → '.join(chain)} was called {often[chain]} times and cost {costs[chain]:,} tokens",
            )  # fmt: skip


def _count_chains(
    chained: Sequence[tuple[str, str, int]],
) -> tuple[Counter[tuple[str, ...]], Counter[tuple[str, ...]]]:
    """Count chains of different tools of each conversation, without counting a call twice for the same chain."""
    spoken: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for conversation, name, tokens in chained:
        spoken[conversation].append(
            ("", 0) if name in _EXCLUDED_TOOLS or name.startswith("script_") else (name, tokens)
        )
    counts: Counter[tuple[str, ...]] = Counter()
    costs: Counter[tuple[str, ...]] = Counter()
    for calls in spoken.values():
        for length in range(2, MAX_CHAIN_LENGTH + 1):
            free: dict[tuple[str, ...], int] = {}
            for at in range(len(calls) - length + 1):
                part = calls[at : at + length]
                chain = tuple(name for name, _ in part)
                if "" in chain or len(set(chain)) < 2 or free.get(chain, 0) > at:
                    continue
                free[chain] = at + length
                counts[chain] += 1
                costs[chain] += sum(tokens for _, tokens in part)
    return counts, costs


def _iter_subchains(chain: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for length in range(2, len(chain) + 1):
        for at in range(len(chain) - length + 1):
            yield chain[at : at + length]
