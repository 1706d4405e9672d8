"""A process to fork scripts from that all tests of a worker share: to start one takes a third of a second."""

from collections.abc import Iterator, Mapping

import pytest

from panorama.sandbox.host import worker_pool
from panorama.sandbox.host.template_process import TemplateProcess

TIMEZONE = "Europe/Berlin"
LAYERS = {"language": True, "seccomp": True, "landlock": True}


class SharedTemplate(TemplateProcess):
    """A template that outlives the runners that use it, unless it is killed."""

    def get_for(self, timezone: str, layers: Mapping[str, bool]) -> TemplateProcess:
        """Return this template if it has the time zone and the layers, else a new one, which its runner ends."""
        is_same = self.is_alive and (timezone, dict(layers)) == (TIMEZONE, LAYERS)
        return self if is_same else TemplateProcess(timezone, layers)

    def close(self) -> None:
        """Go on, so that the next runner has it."""
        if not self.is_alive:
            super().close()

    def end(self) -> None:
        """End the process."""
        super().close()


class SharedTemplates:
    """Starts a template for the first test that needs one, and another one after a test has killed it."""

    def __init__(self) -> None:
        self._template: SharedTemplate | None = None

    def get(self) -> SharedTemplate:
        """Return a living template."""
        if self._template and not self._template.is_alive:
            self.close()
        if not self._template:
            self._template = SharedTemplate(TIMEZONE, LAYERS)
        return self._template

    def close(self) -> None:
        """End the template."""
        if self._template:
            self._template.end()
        self._template = None


@pytest.fixture(scope="session")
def script_templates() -> Iterator[SharedTemplates]:
    """The templates of a worker."""
    templates = SharedTemplates()
    yield templates
    templates.close()


@pytest.fixture(scope="module")
def one_template(script_templates: SharedTemplates) -> Iterator[None]:
    """Let the scripts of a module's tests be forked from one process, which was started before the first test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker_pool, "TemplateProcess", script_templates.get().get_for)
        yield


@pytest.fixture(scope="module")
def no_template(script_templates: SharedTemplates) -> None:
    """End the shared process before a module whose tests look at the children of this process."""
    script_templates.close()
