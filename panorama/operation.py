"""One operation of the catalogue, and how each interface offers it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from panorama.domain.jobs import JobKind
from panorama.services.base import LargeCall, Plan

Policy = Literal["read", "write", "delete"]
Workload = Literal["short", "waiting", "script", "maintenance"]

APPS_TOOLSET = "apps"
"""The toolset for clients that show pages in a chat; the settings can list it for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation, and how each interface offers it.

    - `call` is a bound method: its signature is the input schema, its docstring the description, its return type the
      schema of `data`. `summary` puts the result in one line; by default the result does. `sdk` is its name in
      scripts, "" if they may not call it.
    - `rows` are those of a page without a limit; `page_chars` limits their text for models. `line` returns the fields
      of a row that this text shows.
    - `recalls` is a reference that a read needs; if omitted, the last read item is used.
    - `whole_if` names the argument that decides whether the call is one transaction. `only_reads` takes the same
      arguments and returns whether no write is needed; `read_early` makes the first steps before the transaction, if
      they only read, and returns their results. `split` takes the same arguments and returns a call that is too
      large for one transaction: it runs in several, which are one unit, and as a job if it is long. `split_by` is the
      argument without which it never is.
    - A `composed` operation works through other calls, each with its own origin. `exempt` ones may be repeated
      endlessly.
    - A `long` operation reports progress, and stops between two steps when the caller has gone. One with a `job` can
      also run in the background as a job of that kind. `waits` names the parameters for the job that a call waits for
      and for how many seconds; doors wait in the event loop before they make the call.
    - `plan` takes the same arguments, changes nothing, and returns what the call would do; if the operation `asks`,
      with a question for the user. `person`: the hint when this client cannot ask the user; such an operation takes no
      `confirm` and cannot be a batch step. `scheduled` says whether a schedule may run it: `reviewed` leaves that to
      the plan.
    """

    name: str
    call: Callable[..., Any]
    summary: Callable[[Any], str] = lambda result: result.summarize()
    policy: Policy = "read"
    tool: str = ""
    toolset: str = "default"
    sdk: str = ""
    recalls: str = ""
    idempotent: bool = False
    rows: int = 0
    page_chars: int = 0
    line: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    transactional: bool = True
    whole_if: str = ""
    only_reads: Callable[..., bool] | None = None
    read_early: Callable[..., Sequence[Mapping[str, Any]]] | None = None
    composed: bool = False
    exempt: bool = False
    long: bool = False
    job: JobKind | None = None
    plan: Callable[..., Plan] | None = None
    asks: bool = False
    person: str = ""
    scheduled: Literal["always", "reviewed", "never"] = "always"
    split: Callable[..., LargeCall | None] | None = None
    split_by: str = ""
    waits: tuple[str, str] | None = None

    @property
    def takes_background(self) -> bool:
        """Whether the caller can run it as a job."""
        return self.job is not None and self.split is None

    @property
    def writes(self) -> bool:
        """Whether it may change data."""
        return self.policy != "read"

    @property
    def workload(self) -> Workload:
        """The typical workload of a call."""
        if not self.long:
            return "short"
        return "script" if self.composed else "maintenance" if self.writes else "waiting"


def read(name: str, call: Callable[..., Any], tool: str = "", **more: Any) -> Operation:
    """Return an operation that only reads."""
    return _operation(name, call, tool, **more)


def write(name: str, call: Callable[..., Any], tool: str = "", **more: Any) -> Operation:
    """Return an operation that changes data; its policy can be another one."""
    more.setdefault("policy", "write")
    return _operation(name, call, tool, **more)


def _operation(name: str, call: Callable[..., Any], tool: str, **more: Any) -> Operation:
    more.setdefault("sdk", name if tool else "")  # operations of the command line are not for scripts
    return Operation(name=name, call=call, tool=tool, **more)
