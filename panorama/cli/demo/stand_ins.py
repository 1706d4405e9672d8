"""Stand-ins of Claap, lemlist and Notion on this machine, with made-up data, for the demo's act about sources.

They answer in the form of the services' documentation, page by page, to the three requests that the act makes.
"""

import json
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from panorama.sources.sources_file import edit_entries

KINDS = ("claap", "lemlist", "notion")
MEETINGS, REPLIES = 240, 900
COMPANIES = ("Halden Museum", "Stadtbibliothek Bregenz", "Atelier Nord", "Kunsthalle Ulm", "Café Riva", "Verlag Lenz")
STAGES = ("won", "offer sent", "first talk")
CAMPAIGNS = ("Museums in spring", "Libraries", "Signage", "Old friends")
_FIRST_NAMES = ("Ada", "Milo", "Benedikt", "Ines", "Jonas", "Clara", "Theo")


def list_recordings(day: date) -> list[dict[str, Any]]:
    """Return the recordings of Claap, the newest first; every second one has the label `product`."""
    return [_build_recording(number, day) for number in range(MEETINGS)]


def list_replies(day: date) -> list[dict[str, Any]]:
    """Return the replies to campaigns of lemlist."""
    return [
        {
            "_id": f"act_{number}", "type": "emailsReplied", "leadId": f"lea_{number}", "leadEmail": _email(number * 3),
            "leadFirstName": _FIRST_NAMES[number % 7], "campaignId": f"cam_{number % 4}",
            "campaignName": CAMPAIGNS[number % 4], "sequenceStep": number % 5, "bot": False,
            "createdAt": f"{day - timedelta(days=number % 30)}T12:00:00Z",
        }
        for number in range(REPLIES)
    ]  # fmt: skip


def list_companies() -> list[dict[str, Any]]:
    """Return the pages of Notion: one for each company, with its stage."""
    return [
        {
            "object": "page", "id": f"page{number}", "url": f"https://notion.example/page{number}", "in_trash": False,
            "properties": {
                "Name": {"id": "title", "type": "title", "title": [{"plain_text": name}]},
                "Stage": {"id": "stage", "type": "status", "status": {"name": STAGES[number % 3]}},
            },
        }
        for number, name in enumerate(COMPANIES)
    ]  # fmt: skip


@contextmanager
def serve_stand_ins(home: Path, day: date) -> Generator[None]:
    """Serve the three services and configure them as sources of a data directory, until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(_build_routes(day)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    url = f"http://127.0.0.1:{server.server_port}"
    try:
        with edit_entries(home) as entries:
            for kind in KINDS:
                entries[kind] = {"kind": kind, "url": f"{url}/{kind}", "options": {"key": "demo"}}
        yield
    finally:
        with edit_entries(home) as entries:
            for kind in KINDS:
                entries.pop(kind, None)
        server.shutdown()
        server.server_close()
        thread.join()


Route = Callable[[Mapping[str, Any]], Any]


def _build_routes(day: date) -> Mapping[str, Route]:
    recordings, replies, companies = list_recordings(day), list_replies(day), list_companies()

    def answer_recordings(query: Mapping[str, Any]) -> Any:
        label, at, size = query.get("labels", ""), int(query.get("cursor", 0)), int(query.get("limit", 20))
        rows = [row for row in recordings if not label or label in row["labels"]]
        following = str(at + size) if at + size < len(rows) else None
        return {"result": {"recordings": rows[at : at + size], "pagination": {"nextCursor": following}}}

    def answer_activities(query: Mapping[str, Any]) -> Any:
        at = int(query.get("offset", 0))
        return replies[at : at + int(query.get("limit", 100))]

    def answer_query(_: Mapping[str, Any]) -> Any:
        return {"object": "list", "results": companies, "has_more": False, "next_cursor": None}

    return {
        "/claap/recordings": answer_recordings,
        "/lemlist/activities": answer_activities,
        "/notion/data_sources/companies/query": answer_query,
    }


def _make_handler(routes: Mapping[str, Route]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

        def _answer(self) -> None:
            url = urlsplit(self.path)
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            route = routes.get(url.path)
            content = json.dumps(route(query) if route else {"message": "There is no such thing"}).encode()
            self.send_response(200 if route else 404)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _answer  # noqa: N815 (the names of http.server)

    return Handler


def _build_recording(number: int, day: date) -> dict[str, Any]:
    company = COMPANIES[number % len(COMPANIES)]
    people = [{"name": _FIRST_NAMES[at % 7], "email": _email(at), "attended": True} for at in (number, number + 5)]
    return {
        "id": f"rec{number}", "title": f"{company}: call {number}", "durationSeconds": 1500 + 60 * (number % 20),
        "createdAt": f"{day - timedelta(days=number // 8)}T09:00:00Z", "labels": ["product"] if number % 2 else [],
        "state": "ready", "url": f"https://claap.example/rec{number}", "companies": [{"id": company, "name": company}],
        "recorder": {"name": "Hanne", "email": "hanne@studio.example"}, "meeting": {"participants": people},
        "keyTakeaways": [{"text": f"{company} wants to see a sample before the next call, and asks for dates."}],
        "actionItems": [{"langIso2": "en", "items": [{"description": "Send the sample", "isChecked": False}]}],
    }  # fmt: skip


def _email(number: int) -> str:
    return f"{_FIRST_NAMES[number % 7].lower()}{number % 90}@guests.example"
