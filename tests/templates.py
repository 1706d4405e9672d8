"""A process to fork scripts from that the tests of a module share: to start one takes a third of a second."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from panorama.sandbox.host import worker_pool
from panorama.sandbox.host.template_process import TemplateProcess


class SharedTemplate(TemplateProcess):
    """A template that outlives the runners that use it, unless it is killed."""

    def __init__(self, timezone: str, left_out: Mapping[str, bool]) -> None:
        super().__init__(timezone, left_out)
        self._made_for = timezone, dict(left_out)

    def lent(self, timezone: str, left_out: Mapping[str, bool]) -> TemplateProcess:
        """Return this one if it is what is wanted, else a new one, which its runner ends."""
        suits = self.is_alive and self._made_for == (timezone, dict(left_out))
        return self if suits else TemplateProcess(timezone, left_out)

    def close(self) -> None:
        """Go on, so that the next runner has it."""
        if not self.is_alive:
            super().close()


@contextmanager
def shared(timezone: str) -> Iterator[None]:
    """Let all runners that have all layers fork their workers from one process."""
    one = SharedTemplate(timezone, {"language": True, "seccomp": True, "landlock": True})
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(worker_pool, "TemplateProcess", one.lent)
            yield
    finally:
        TemplateProcess.close(one)
