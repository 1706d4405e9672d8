"""Builds the answer to a call from the result of its operation."""

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

from panorama.calls import model_text, msgpack_rows, read_dates, rendering
from panorama.calls.arguments import Arguments
from panorama.calls.call import Call
from panorama.calls.rendering import Answer, to_plain
from panorama.domain.changes import SCRIPT_ACTOR
from panorama.domain.items.item import Item, kind_of
from panorama.domain.paging import Page, PageRequest, is_page
from panorama.domain.text.json_types import SCALARS, is_list, is_object
from panorama.domain.text.wording import pluralize
from panorama.services import summaries as say
from panorama.services.base import ServiceContext
from panorama.store.backend import Session
from panorama.store.items import lookup
from panorama.store.items.lookup import NamedItem


class AnswerBuilder:
    """Builds the answer to one call: the page that it asked for, its size, its summary and its metadata.

    `metadata` is filled while the call runs. `raw_arguments` are the call's arguments without nulls. It takes the
    arguments about the answer (limit, cursor, detail) out of `values`.
    """

    def __init__(
        self,
        context: ServiceContext,
        arguments: Arguments,
        call: Call,
        raw_arguments: Mapping[str, Any],
        values: dict[str, Any],
    ) -> None:
        self._context = context
        self._arguments = arguments
        self._operation = arguments.operation
        self._call = call
        self._reader = call.reader
        self._raw_arguments = raw_arguments
        self._limit: int | None = values.pop("limit", None) if arguments.page_parameter else None
        self._cursor: str = values.pop("cursor", "")
        plainly = "brief" if self._operation.writes else "full"
        detail = values.pop("detail") if arguments.has_detail else plainly
        self._brief = detail == "brief" and not self._reader.wants_all
        self._question = ""
        self._recalled: list[NamedItem] = []
        self.metadata: dict[str, Any] = {}

    def request_page(self, values: dict[str, Any]) -> None:
        """Set the page request of a listing operation, by limit and cursor."""
        if self._arguments.page_parameter:
            self._question = rendering.query_digest(self._operation.name, values)
            after = rendering.decode_cursor(self._cursor, self._question) if self._cursor else None
            limit = self._reader.rows if self._reader.wants_all else self._reader.most_rows
            counts = after is None or not self._reader.wants_all  # the total was reported with the first page
            values[self._arguments.page_parameter] = PageRequest(
                min(self._limit or self._default_rows, limit), after, counts
            )

    @property
    def _default_rows(self) -> int:
        return self._reader.rows if self._reader.wants_all else self._operation.rows or self._reader.rows

    def set_hint(self, hint: str) -> None:
        """Add a hint, unless it is empty."""
        if hint:
            self.metadata["hint"] = hint

    def add_recalled(self, parameter: str, id_: str, item: NamedItem) -> None:
        """Add an item that was read before and is now the value of a parameter; the summary names it."""
        self.metadata.setdefault("bound", {})[parameter] = id_
        self._recalled.append(item)

    def build(self, value: Any, session: Session | None, *, is_unchanged: bool) -> Answer:
        """Return the answer with a result as its data."""
        packed = None
        if is_page(value):
            value, data, packed = self._fit_page(value)
        else:
            data = self.to_plain(value)
            data = rendering.drop_withheld(value, data) if self._call.is_for_script else data
            if not (self._reader.wants_all or self._reader.is_page):
                data = rendering.shrink(data, self._reader.most_chars)
        if self._call.conversation.actor != SCRIPT_ACTOR:
            self._add_names(data, session)
        is_as_it_was = is_unchanged and isinstance(value, Item)
        summary = say.summarize_no_change(value) if is_as_it_was else self._operation.summary(value)
        return Answer(
            data=data, summary=self._complete_summary(summary, data), metadata=self.metadata, rows=packed,
            shortfall=str(getattr(value, "shortfall", "")), exact=getattr(value, "TOLD_EXACTLY", ()),
            hidden=getattr(value, "HIDDEN", ()), line=self._operation.line,
        )  # fmt: skip

    def to_plain(self, value: Any) -> Any:
        """Return a single result as plain data for the reader."""
        return self._to_plain(value, self._reader.alone)

    def _complete_summary(self, summary: str, data: Any) -> str:
        """Return a summary with what the arguments and the size of the answer add to it."""
        if dates := self._list_read_dates(data):
            summary += f": {dates}" if self._operation.writes else f" ({dates})"
        if not self._reader.wants_all and (cut := rendering.count_cut_texts(data)):
            summary += f"; {pluralize(cut, 'long text')} cut"
        for kind, id_, label in self._recalled:
            summary += f" · the {kind} read last" + ("" if id_ in summary else f": “{label[:80]}” ({id_})")
        return summary

    def _list_read_dates(self, data: Any) -> str:
        """Return how dates in words were parsed."""
        now, zone = self._context.now(), self._context.zone
        if self._operation.writes:
            return read_dates.list_read_dates(self._raw_arguments, data, now, zone)
        return read_dates.list_read_filters(self._raw_arguments, now, zone)

    def _to_plain(self, value: Any, long: int) -> Any:
        return to_plain(value, self._context.zone, brief=self._brief, long=long, nulls=self._reader.wants_all)

    def _fit_page(self, page: Page[Any]) -> tuple[Page[Any], list[Any], list[bytes] | None]:
        """Cut a page to the size limit and set its cursor; return it, its rows, and the packed rows."""
        reader = self._reader
        packed: list[bytes] | None = None
        row = (self._to_plain(item, reader.in_row) for item in page.items)
        if reader.wants_all:
            rows, packed = msgpack_rows.take_fitting(row, reader.page_chars)
        else:
            rows = rendering.take_fitting(list(row), reader.most_chars if self._limit else reader.page_chars)
            if self._operation.line and self._operation.page_chars and not (self._limit or reader.is_page):
                room = self._operation.page_chars - len(page.hint)
                rows = rendering.take_fitting_lines(rows, self._operation.line, room)
            rows = rows if reader.is_page else rendering.shrink(rows, reader.most_chars)
        count = len(rows)
        if page.total is not None:
            self.metadata["total"] = page.total
        more = page.more or count < len(page.items)
        if count and page.keys[count - 1] and more:
            self.metadata["next_cursor"] = rendering.encode_cursor(page.keys[count - 1], self._question)
        if page.index is not None:
            self.metadata["index"] = dict(page.index)
        self.set_hint(page.hint)
        return replace(page, items=page.items[:count], more=more), rows, packed

    def _add_names(self, data: Any, session: Session | None) -> None:
        """Add the names of the rows' projects, people and teams once."""
        ids = sorted({id_ for id_ in _iter_references(data) if kind_of(id_)})
        if ids and session is not None:
            known = lookup.get_labels(session, [(kind_of(id_) or "", id_) for id_ in ids])
            self.metadata["names"] = {id_: known[id_][2] for id_ in ids if id_ in known}


def _iter_references(data: Any) -> Generator[str]:
    if is_object(data):
        for name, value in data.items():
            if name in model_text.NAMED_REFERENCES and (isinstance(value, str) or is_list(value)):
                yield from (text for text in (value if is_list(value) else [value]) if isinstance(text, str))
            elif type(value) not in SCALARS:
                yield from _iter_references(value)
    elif is_list(data):
        for entry in data:
            yield from _iter_references(entry)
