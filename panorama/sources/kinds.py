"""The kinds of sources."""

KINDS: dict[str, str] = {
    "mcp": "panorama.sources.mcp.kind",
    "claap": "panorama.sources.services.claap",
    "lemlist": "panorama.sources.services.lemlist",
    "notion": "panorama.sources.services.notion",
}
"""The module of each kind, imported when a source of the kind is opened."""
