"""Copies contents from one store to another, and compares them."""

from collections.abc import Callable, Collection
from contextlib import closing

from panorama.errors import UnavailableError
from panorama.store.archive.safe_files import UnreadableError
from panorama.store.backend import noop
from panorama.store.backend.contents import ContentStore
from panorama.store.contents.parts import is_intact


def copy_contents(
    source: ContentStore, target: ContentStore, names: Collection[str], progress: Callable[[int, int], None] = noop
) -> list[str]:
    """Copy contents, read each back, and return the digests of those that are missing or damaged in the source.

    A content that the target has is only compared, so an interrupted copy can be continued.

    Args:
        progress: Called with the number of finished contents and of all.

    Raises:
        UnavailableError: A store cannot be read or written, or a content differs after it was copied.
    """
    missing: list[str] = []
    for number, name in enumerate(sorted(names)):
        progress(number, len(names))
        if is_intact(target, name):
            continue
        try:
            with closing(source.iter_parts(name)) as parts:
                target.put_parts(name, parts)
        except UnreadableError:
            missing.append(name)
            continue
        if not is_intact(target, name):
            raise UnavailableError(
                f"The content of a file differs after it was copied: {target.describe(name)}.",
                hint="Check the disk of the target, then try again.",
            )
    return missing
