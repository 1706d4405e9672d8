"""The review of a week or more, and the statistics of calls."""

from datetime import date, timedelta

from panorama.domain.charts.geometry import draw_bars
from panorama.web.view import Context, ViewRequest

PERIODS = ((7, "Week"), (14, "2 weeks"), (30, "30 days"))
FIGURES = (
    ("Completed", "completed", 1),
    ("Created", "created", 0),
    ("Slipped", "slipped", -1),
    ("Notes written", "notes_written", 0),
)
"""The headings of the figures, their names, and whether more is better (1), worse (-1) or neither (0)."""


def show_review(request: ViewRequest) -> Context:
    """Show what was done, created and missed in some days, compared with as many days before."""
    days = request.get_number("days", 7, 90)
    last = request.calls.today
    first = last - timedelta(days=days - 1)
    review = _review(request, first, last)
    before = _review(request, first - timedelta(days=days), first - timedelta(days=1))
    statistics = request.calls.get("statistics.tasks", days=days)
    return {
        "periods": PERIODS,
        "days": days,
        "first": first,
        "last": last,
        "figures": [
            (heading, review[name]["count"], review[name]["count"] - before[name]["count"], direction)
            for heading, name, direction in FIGURES
        ],
        "bars": draw_bars(
            [(date.fromisoformat(day["day"]), (day["completed"], day["created"])) for day in statistics["days"]]
        ),
        "projects_of_review": review["projects"],
        "lists": [
            ("Slipped", review["slipped"]),
            ("Completed", review["completed"]),
            ("Due next", review["due_next_week"]),
        ],
    }


def show_calls(request: ViewRequest) -> Context:
    """Show what assistants asked for: by day, tool, client and error."""
    days = request.get_number("days", 14, 90)
    statistics = request.calls.get("statistics.calls", days=days)
    tools = statistics["tools"]
    slow = request.calls.get("calls.list", slow=True, limit=8)
    return {
        "periods": PERIODS,
        "days": days,
        "statistics": statistics,
        "bars": draw_bars(
            [(date.fromisoformat(day["day"]), (day["succeeded"], day["failed"])) for day in statistics["days"]]
        ),
        "largest": max([1, *(tool["tokens"] for tool in tools)]),
        "slow": slow,
    }


def _review(request: ViewRequest, first: date, last: date) -> Context:
    return request.calls.get("overview.week", start=first.isoformat(), end=last.isoformat())
