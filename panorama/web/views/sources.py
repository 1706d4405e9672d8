"""Sources: where they are, what scripts may call of them, and what the user allowed."""

from panorama.web.view import Context, ViewRequest

DECISIONS = (("allow", "Allow"), ("ask", "Ask"), ("deny", "Deny"))
REACHES = {
    "here": "this machine", "own": "your own account", "others": "other people", "anywhere": "any address",
}  # fmt: skip
STATES = {"ready": "Ready", "unread": "Not read yet", "disabled": "Disabled"}
MAX_FUNCTIONS = 300


def show_sources(request: ViewRequest) -> Context:
    """Show all sources with their functions; no source is started."""
    listed = request.calls.get("sources.describe")
    sources = [
        {
            **source,
            "functions": source["functions"][:MAX_FUNCTIONS],
            "more": max(0, len(source["functions"]) - MAX_FUNCTIONS),
            "conversations": sum(function["conversations"] for function in source["functions"]),
            "everything": source["rules"].get("*", ""),
        }
        for source in listed["sources"]
    ]
    return {
        "sources": sources,
        "problem": listed.get("problem", ""),
        "decisions": DECISIONS,
        "reaches": REACHES,
        "states": STATES,
    }
