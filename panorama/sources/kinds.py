"""The kinds of sources."""

KINDS: dict[str, str] = {
    "mcp": "panorama.sources.mcp.kind",
}
"""The module of each kind, imported when a source of the kind is opened."""
