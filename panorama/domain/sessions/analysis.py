"""Measures how a session progressed: in sequence, by revisions, or in branches."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from panorama.domain.items.session_lines import SessionLine
from panorama.domain.text.wording import pluralize


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAnalysis:
    """A session in numbers; shares are between 0 and 1.

    `linearity` is the share of lines that go on from the line before: they revise nothing and stay on its branch.
    `revision_rate` is the share of lines that revise another. `depth` is the longest chain of revisions: 1 without
    any. `confidence` is the mean of the lines that have one.
    """

    id: str
    title: str
    lines: int
    types: Mapping[str, int]
    speakers: Mapping[str, int]
    revisions: int
    branches: tuple[str, ...]
    linearity: float
    revision_rate: float
    depth: int
    confidence: float | None

    def summarize(self) -> str:
        """Return a one-line summary."""
        measures = f"linearity {self.linearity:g}, revision rate {self.revision_rate:g}, depth {self.depth}"
        return f"Session “{self.title}” ({self.id}), {pluralize(self.lines, 'line')}: {measures}"


def analyze_lines(id_: str, title: str, lines: Iterable[SessionLine]) -> SessionAnalysis:
    """Return the measures of a session; one without lines is linear."""
    types, speakers, branches = Counter[str](), Counter[str](), Counter[str]()
    depths: dict[int, int] = {}
    count = straight = revisions = 0
    confidences: list[float] = []
    branch = ""
    for line in lines:
        count += 1
        types[line.type] += 1
        speakers.update([line.speaker] if line.speaker else [])
        branches.update([line.branch] if line.branch else [])
        revisions += line.revises is not None
        straight += line.revises is None and line.branch == branch
        depths[line.position] = 1 + depths.get(line.revises or 0, 0)
        confidences += [line.confidence] if line.confidence is not None else []
        branch = line.branch
    return SessionAnalysis(
        id=id_, title=title, lines=count, types=dict(types.most_common()), speakers=dict(speakers.most_common(20)),
        revisions=revisions, branches=tuple(branches), linearity=round(straight / count, 3) if count else 1.0,
        revision_rate=round(revisions / count, 3) if count else 0.0, depth=max(depths.values(), default=0),
        confidence=round(sum(confidences) / len(confidences), 3) if confidences else None,
    )  # fmt: skip
