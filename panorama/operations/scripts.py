"""The operations on code and on saved scripts."""

from collections.abc import Iterator
from typing import Any

from panorama.domain.jobs import JobKind
from panorama.operation import Operation, read, write
from panorama.services import Services
from panorama.services import summaries as say

_REVIEW_HINT = (
    "Only the user can agree, and their client cannot ask them: tell them to run "
    "`panorama scripts review {script}` in a terminal (and `scripts promote {script}` for a tool)."
)

_OVERWRITE_HINT = (
    "Only the user can agree, and their client cannot ask them: choose another name, or tell them to run "
    "`panorama scripts save {name} FILE --replace` in a terminal."
)


def list_run_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations on code."""
    yield read("sdk.search", do.sdk_reference.search, "search_sdk", sdk="", exempt=True)
    yield write(
        "run_code",
        do.code.run,
        "run_code",
        sdk="",
        transactional=False,
        composed=True,
        long=True,
        job=JobKind(name="run_code", pool="scripts", local=True),
        plan=do.code.plan_run,
        asks=True,
        scheduled="never",
    )


def list_library_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations on saved scripts."""
    yield read("scripts.list", do.library.list, "list_scripts", summary=say.summarize_script_list, sdk="", exempt=True)
    options: dict[str, Any] = {"sdk": "", "transactional": False}
    yield write(
        "scripts.save",
        do.library.save,
        "save_script",
        idempotent=True,
        plan=do.library.plan_save,
        asks=True,
        person=_OVERWRITE_HINT,
        **options,
    )
    yield write(
        "run_script",
        do.scripts.run,
        "run_script",
        composed=True,
        long=True,
        job=JobKind(name="run_script", pool="scripts", local=True),
        plan=do.scripts.plan_run,
        asks=True,
        scheduled="reviewed",
        **options,
    )
    yield from _list_review_operations(do)
    yield read(
        "scripts.call",
        do.scripts.call,
        summary=say.summarize_script_call,
        sdk="scripts.call",
        transactional=False,
        long=True,
    )


def _list_review_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations on reviews and histories of scripts."""
    more = {"toolset": "more", "sdk": ""}
    yield write(
        "scripts.promote",
        do.reviewing.promote,
        "promote_script",
        plan=do.reviewing.plan_promote,
        asks=True,
        person=_REVIEW_HINT,
        **more,
    )
    yield read("scripts.get", do.library.get, "get_script", **more)
    yield read("scripts.history", do.library.get_history, "get_script_history", **more)
    yield read("scripts.diff", do.library.diff, exempt=True)


def list_user_operations(do: Services) -> Iterator[Operation]:
    """Yield what only the user may do with scripts, and what was run."""
    asking: dict[str, Any] = {"asks": True, "person": _REVIEW_HINT}
    review = do.reviewing
    yield write("scripts.approve", review.approve, plan=review.plan_approve, **asking)
    yield write("scripts.keep", do.library.keep)
    yield write("scripts.reject", review.reject)
    yield write("scripts.rollback", review.rollback, plan=review.plan_rollback, **asking)
    yield read("runs.list", do.code.list, summary=say.make_list_summary("run"), exempt=True)
    yield read("runs.get", do.code.get, exempt=True)
    yield read("runs.calls", do.code.list_calls, summary=say.make_list_summary("call"), exempt=True)
