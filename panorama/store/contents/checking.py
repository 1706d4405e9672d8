"""Checks the contents that rows name: none is missing or damaged."""

from collections.abc import Collection

from panorama.domain.text.sizes import format_size
from panorama.domain.text.wording import pluralize
from panorama.store.backend import CheckResult, ContentStore
from panorama.store.contents.parts import is_intact

MAX_COMPARED_BYTES = 256 << 20
"""The number of bytes that are read and compared with their digests; a backup compares everything."""


def check_contents(store: ContentStore, named: Collection[str]) -> CheckResult:
    """Return whether every named content exists, and whether the first ones are intact."""
    sizes = dict(store.iter_sizes())
    missing = sorted(set(named) - sizes.keys())
    damaged: list[str] = []
    left = MAX_COMPARED_BYTES
    for name in sorted(set(named) & sizes.keys()):
        left -= sizes[name]
        if left < 0:
            break
        if not is_intact(store, name):
            damaged.append(name)
    if missing or damaged:
        found = (
            f"{len(missing):,} missing, {len(damaged):,} damaged; the first is {store.describe((missing + damaged)[0])}"
        )
        return CheckResult("fail", found, "Restore a backup (`panorama restore PATH`), or write these files again.")
    count, size = pluralize(len(sizes), "content", "contents"), format_size(sum(sizes.values()))
    return CheckResult("ok", f"{count} of files, {size}{'' if left >= 0 else '; the first 256 MB were compared'}")
