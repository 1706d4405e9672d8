"""A saved script, and the facts derived from its text.

The facts are parsed once for each text.
"""

from dataclasses import dataclass

from panorama.domain.scripts.allowed_calls import AllowedCalls
from panorama.domain.scripts.library import (
    TOOL_PREFIX,
    ReviewState,
    ScriptText,
    Signature,
    State,
    parse_source,
)
from panorama.domain.scripts.sdk_usage import ANYTHING, SdkUsage, analyze_usage, is_writing
from panorama.domain.text.visible_text import escape_controls

BY_PANORAMA, BY_USER = "Panorama", "you"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedScript:
    """A snapshot of one script: its text, read once, and the state of that text."""

    text: ScriptText
    state: State
    standing: ReviewState
    is_ours: bool

    @property
    def name(self) -> str:
        """Its name."""
        return self.text.name

    @property
    def by(self) -> str:
        """Its author, or the reviewer."""
        return "" if self.state == "draft" else BY_PANORAMA if self.is_ours else BY_USER

    @property
    def is_reviewed(self) -> bool:
        """Whether its text was approved."""
        return self.state in ("reviewed", "promoted")

    @property
    def calls(self) -> tuple[str, ...]:
        """The calls shown in its review; for an unreviewed text, those that a review would show."""
        names = analyze_script(self.text).uses.calls
        if not self.is_reviewed or self.standing.digest != self.text.digest:
            return names
        if self.standing.calls is None:  # the approved calls were not stored then, and could not be "anything"
            return tuple(name for name in names if name != ANYTHING)
        return self.standing.calls

    @property
    def allowed_calls(self) -> AllowedCalls | None:
        """Its allowed calls; None for all, as for a draft."""
        return AllowedCalls.of(self.name, self.calls) if self.is_reviewed else None

    @property
    def reads_only(self) -> bool:
        """Whether it cannot write: the user decided so, or its review showed no writing calls."""
        return self.standing.read_only or not any(map(is_writing, self.calls))

    @property
    def tool(self) -> str:
        """The name of its tool, "" if it is none."""
        return f"{TOOL_PREFIX}{self.name}" if self.state == "promoted" else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptFacts:
    """The facts parsed from a script's text."""

    signature: Signature
    uses: SdkUsage

    @classmethod
    def of(cls, text: ScriptText) -> "ScriptFacts":
        """Analyze a text."""
        return cls(signature=text.signature, uses=analyze_usage(parse_source(text.source)))


_FACTS_CACHE: dict[str, ScriptFacts] = {}
_MAX_CACHED_FACTS = 2000


def analyze_script(text: ScriptText) -> ScriptFacts:
    """Analyze a text, with a cache."""
    facts = _FACTS_CACHE.get(text.digest)
    if facts is None:
        if len(_FACTS_CACHE) >= _MAX_CACHED_FACTS:
            _FACTS_CACHE.clear()
        facts = _FACTS_CACHE[text.digest] = ScriptFacts.of(text)
    return facts


def format_parameters(signature: Signature) -> str:
    """Return the parameters of a script as a call shows them: «day, days=7»."""
    parts = (
        parameter.name if parameter.required else f"{parameter.name}={_format_default(parameter.default)}"
        for parameter in signature.parameters
    )
    return escape_controls(", ".join(parts))


def _format_default(default: object) -> str:
    return "…" if default is None else repr(default)
