"""Stand-ins of web services, and the sources that reach them."""

from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from panorama.domain.sources.functions import SourceResult
from panorama.sources.config import SourceConfig
from panorama.sources.secrets import open_secrets
from panorama.sources.source import Deadline, Source, open_source
from tests.sources.stand_ins import KEY, Route, StandIn, serve


class Caller:
    """A source at a stand-in; `call` passes what the caller of a source has checked."""

    def __init__(self, source: Source, stand_in: StandIn) -> None:
        self.source = source
        self.stand_in = stand_in
        self.functions = {function.name: function for function in source.list_functions(Deadline.after(5))}

    def call(self, name: str, seconds: float = 20.0, **arguments: Any) -> Any:
        """Call a function and return its value."""
        return self.call_page(name, seconds, **arguments).value

    def call_page(self, name: str, seconds: float = 20.0, **arguments: Any) -> SourceResult:
        """Call a function and return its result with the cursor."""
        return self.source.call(self.functions[name], arguments, Deadline.after(seconds))

    def list_all(self, name: str, **arguments: Any) -> list[Any]:
        """Return the rows of all pages."""
        rows: list[Any] = []
        cursor = ""
        while True:
            page = self.call_page(name, **arguments, **({"cursor": cursor} if cursor else {}))
            rows += page.value
            cursor = page.next_cursor
            if not cursor:
                return rows


OpenCaller = Callable[..., Caller]


@pytest.fixture
def open_caller(tmp_path: Path) -> Generator[OpenCaller]:
    """Serve a stand-in and open a source of a kind for it."""
    with ExitStack() as stack:

        def open_(
            kind: str,
            answer: Route,
            *,
            url: str = "",
            call_seconds: float = 9000,
            options: Mapping[str, Any] | None = None,
        ) -> Caller:
            stand_in = stack.enter_context(serve(answer))
            config = SourceConfig(
                name=kind,
                kind=kind,
                call_seconds=call_seconds,
                url=url or stand_in.url,
                options=options or {"key": KEY},
            )
            source = open_source(config, open_secrets(tmp_path), tmp_path)
            stack.callback(source.close)
            return Caller(source, stand_in)

        yield open_
