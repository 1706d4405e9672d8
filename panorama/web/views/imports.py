"""Imports: a preview of importing a folder of Markdown files, or the file of a memory server."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from panorama.errors import PanoramaError
from panorama.translations.explanations import explain
from panorama.web.dropped_files import MAX_FILES, is_memory_file, list_dropped
from panorama.web.view import Context, ViewRequest


@dataclass(frozen=True, slots=True)
class ImportFormat:
    """How a format is imported: the operation, its argument for the path, and the figures of its report.

    `arguments` are further ones of the import itself, and `then` is where it leads.
    """

    operation: str
    argument: str
    counts: tuple[tuple[str, tuple[str, ...]], ...]
    then: str
    arguments: Mapping[str, str]


MARKDOWN = ImportFormat(
    "import.markdown", "folder",
    (
        ("Notes", ("notes_created",)), ("Tasks", ("tasks_created",)), ("Projects", ("projects_created",)),
        ("Attachments", ("files_created",)), ("Changed", ("notes_updated", "tasks_updated")),
        ("Unchanged files", ("unchanged",)),
    ),
    "/jobs", {"background": "true"},
)  # fmt: skip
MEMORY = ImportFormat(
    "import.memory", "file",
    (
        ("Notes", ("notes_created",)), ("People", ("people_created",)), ("Projects", ("projects_created",)),
        ("Relations", ("relations_created",)), ("Changed", ("notes_updated", "people_updated", "projects_updated")),
        ("Unchanged", ("unchanged",)),
    ),
    "/jobs", {"background": "true"},
)  # fmt: skip
JOB_KINDS = ("import", "import_memory")
MAX_JOBS = 200


def show_imports(request: ViewRequest) -> Context:
    """Show a dry run of an import, and the imports so far."""
    path = request.query.get("folder", "").strip()
    format_ = MEMORY if is_memory_file(path) else MARKDOWN
    report, error = None, ""
    if path and not request.is_read_only:
        try:
            report = request.calls.get(format_.operation, **{format_.argument: path}, dry_run=True)
        except PanoramaError as refused:
            error = " ".join(explain(refused.message, refused.hint, request.texts).values()).strip()
    jobs = [row for row in request.calls.get("jobs.list", limit=MAX_JOBS) if row["kind"] in JOB_KINDS]
    return {
        "path": path,
        "dropped": list_dropped(request.calls.app.settings.home, path),
        "format": format_,
        "report": report,
        "counts": [(heading, _count(report, names)) for heading, names in format_.counts] if report else [],
        "error": error,
        "jobs": jobs[:10],
        "max_files": MAX_FILES,
    }


def _count(report: Mapping[str, Any], names: tuple[str, ...]) -> int:
    return sum(int(report[name]) for name in names)
