"""The operations that pages call, as the user of this machine."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from panorama.app import App
from panorama.calls import PAGE, Answer, Conversation
from panorama.domain.changes import WEB_ACTOR
from panorama.domain.markdown.wiki_links import make_keys
from panorama.services.history.project_writes import ProjectWrite, list_project_writes
from panorama.store.graph.edges import resolve_keys
from panorama.store.log.changes import get_last_id
from panorama.web.page_cache import DataState

CLIENT = "browser"


class PageCalls:
    """Calls operations for the user, whose audience is a page: long texts whole, and nothing read is remembered."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._conversation = Conversation(CLIENT, actor=WEB_ACTOR, client=CLIENT)
        self._script_changes = 0
        app.calls.promoted_tools.subscribe_to_scripts(self._count_script_change)

    def call(self, operation: str, agreed: str = "", /, **arguments: Any) -> Answer:
        """Call an operation.

        Args:
            agreed: The agreement of the ConfirmationError whose question the user confirmed.

        Raises:
            PanoramaError: The call failed.
        """
        return self._app.calls.call(operation, arguments, self._conversation, agreed, PAGE)

    def get(self, operation: str, /, **arguments: Any) -> Any:
        """Call a reading operation and return its data."""
        return self.call(operation, **arguments).data

    def list_all(self, operation: str, /, **arguments: Any) -> list[Any]:
        """Call an operation that lists in pages, and return the rows of all pages."""
        answer = self.call(operation, limit=PAGE.most_rows, **arguments)
        rows = [*answer.data]
        while cursor := answer.metadata.get("next_cursor"):
            answer = self.call(operation, limit=PAGE.most_rows, cursor=cursor, **arguments)
            rows += answer.data
        return rows

    def get_number(self) -> int:
        """Return the number of the last change."""
        with self._app.context.database.reading() as session:
            return get_last_id(session)

    def get_state(self) -> DataState:
        """Return the state of the data; read it before the data, since what is written meanwhile makes a page old."""
        number, scripts = self.get_number(), self._script_changes
        return DataState(number, scripts, self.now.replace(second=0, microsecond=0))

    def _count_script_change(self) -> None:
        self._script_changes += 1

    def list_project_names(self) -> Mapping[str, str]:
        """Return the names of all projects by their ids, favourites first."""
        return {row["id"]: row["name"] for row in self.list_all("projects.list")}

    def list_project_writes(self, project: str, limit: int) -> list[ProjectWrite]:
        """Return the last writes of a project and its items, the newest first."""
        with self._app.context.database.reading() as session:
            return list_project_writes(session, project, limit, self._app.context.zone)

    def resolve_link(self, target: str) -> str:
        """Return the id of the item that `[[target]]` means, "" if there is none."""
        key, tail = make_keys(target)
        with self._app.context.database.reading() as session:
            known = resolve_keys(session, {name for name in (key, tail) if name})
        return known.get(key) or known.get(tail, "")

    @property
    def now(self) -> datetime:
        """The current time in the user's zone."""
        return self._app.context.now().astimezone(self._app.context.zone)

    @property
    def today(self) -> date:
        """Today in the user's zone."""
        return self.now.date()

    @property
    def app(self) -> App:
        """The product."""
        return self._app
