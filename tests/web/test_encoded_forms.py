"""Reading encoded forms: as the standard library decodes them, and outside the event loop."""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_plus

import anyio.to_thread
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException

from panorama.app import App
from panorama.web import forms
from panorama.web.access import Access
from panorama.web.forms import MAX_FIELDS, parse_encoded
from panorama.web.site import Site
from tests.web.page_client import PORT, PageClient

PARTS = ("%", "=", "+", "a", "0", "2", "%2", "%C3%A9", "%E2", "%0D%0A", "%3D", "%25", "\n", "\r\n", " ", "_", "\t", "-")


@given(st.lists(st.sampled_from(PARTS), max_size=40).map("".join))
def test_a_field_is_decoded_as_the_standard_library_does(encoded: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forms, "PIECE_BYTES", 5)
        form = parse_encoded(b"text=" + encoded.encode())

    assert form["text"] == unquote_plus(encoded)


def test_fields_keep_their_order_and_may_repeat() -> None:
    form = parse_encoded(b"a=1&b=&a=2&&caf%C3%A9")

    assert form.multi_items() == [("a", "1"), ("b", ""), ("a", "2"), ("café", "")]


def test_a_form_of_too_many_fields_is_refused() -> None:
    with pytest.raises(HTTPException, match="more than 1000 fields"):
        parse_encoded(b"a=1&" * MAX_FIELDS + b"a=1")


def test_an_encoded_form_is_decoded_in_a_worker_thread(app: App) -> None:
    results: list[Any] = []

    async def run(function: Callable[[], Any]) -> Any:
        results.append(await anyio.to_thread.run_sync(function))
        return results[-1]

    access = Access(app.settings.home)
    access.keep_port(PORT)
    page = PageClient(app, Site(app, access, run, lambda _: None))
    content = "Tea für zwei + 100 %\r\n" * 50_000

    page.post("/do/notes.create", {"token": page.token, "title": "Tea", "content": content})

    assert any(isinstance(result, FormData) and result["content"] == content for result in results)
