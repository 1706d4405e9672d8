"""Types of rows, for readers and type checkers; at run time every row is a plain `Row`.

Moments are ISO texts in the user's time zone (2026-05-31T15:00+02:00), days are 2026-05-31.
"""

from panorama.sdk.core.types import answers, items
from panorama.sdk.core.types.answers import *  # noqa: F403 (as its `__all__` names them)
from panorama.sdk.core.types.choices import *  # noqa: F403 (as its `__all__` names them)
from panorama.sdk.core.types.items import *  # noqa: F403 (as its `__all__` names them)

__all__: list[str] = []
"""The types that `panorama.sdk` exports."""

__all__ += items.__all__
__all__ += answers.__all__
