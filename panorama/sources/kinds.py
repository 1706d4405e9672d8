"""The kinds of sources."""

KINDS: dict[str, str] = {
    "mcp": "panorama.sources.mcp.kind",
    "claap": "panorama.sources.services.claap",
    "lemlist": "panorama.sources.services.lemlist",
    "notion": "panorama.sources.services.notion",
    "helpscout": "panorama.sources.services.helpscout",
    "wordpress": "panorama.sources.services.wordpress",
    "folder": "panorama.sources.folder.kind",
}
"""The module of each kind, imported when a source of the kind is opened."""
