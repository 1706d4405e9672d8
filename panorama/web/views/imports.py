"""Imports: a preview of importing a folder of Markdown files."""

from panorama.errors import PanoramaError
from panorama.web.view import Context, ViewRequest

COUNTS = (
    ("Notes", "notes_created"), ("Tasks", "tasks_created"), ("Projects", "projects_created"),
    ("Attachments", "files_created"), ("Changed", "changed"), ("Unchanged files", "unchanged"),
)  # fmt: skip
JOB_KIND = "import"
MAX_JOBS = 200


def show_imports(request: ViewRequest) -> Context:
    """Show a dry run of the import of a folder, and the imports so far."""
    folder = request.query.get("folder", "").strip()
    report, error = None, None
    if folder and not request.is_read_only:
        try:
            report = request.calls.get("import.markdown", folder=folder, dry_run=True)
        except PanoramaError as refused:
            error = refused
    jobs = [row for row in request.calls.get("jobs.list", limit=MAX_JOBS) if row["kind"] == JOB_KIND]
    return {
        "folder": folder,
        "report": report,
        "counts": [(heading, _count(report, name)) for heading, name in COUNTS] if report else [],
        "error": error,
        "jobs": jobs[:10],
    }


def _count(report: Context, name: str) -> int:
    return int(report["notes_updated"] + report["tasks_updated"] if name == "changed" else report[name])
