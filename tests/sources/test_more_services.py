"""WordPress and Help Scout: every endpoint, against stand-ins that check each request."""

import json

import pytest

from panorama.errors import SourceError
from tests.sources.conftest import Caller, OpenCaller
from tests.sources.documented import answer_as_helpscout, answer_as_wordpress
from tests.sources.stand_ins import KEY, Reply


@pytest.fixture
def wordpress(open_caller: OpenCaller) -> Caller:
    return open_caller("wordpress", answer_as_wordpress, options={"user": "ada", "password": KEY})


@pytest.fixture
def helpscout(open_caller: OpenCaller) -> Caller:
    return open_caller("helpscout", answer_as_helpscout, options={"app_id": "app", "app_secret": KEY})


@pytest.mark.parametrize("name", ["posts", "pages", "media", "comments", "categories", "tags", "users"])
def test_lists_of_wordpress_are_read_whole(wordpress: Caller, name: str) -> None:
    assert len(wordpress.list_all(name, search="tea")) == 230


def test_pages_keep_the_size_of_the_first(wordpress: Caller) -> None:
    first = wordpress.call_page("posts", limit=20, fields=["id", "title"])
    second = wordpress.call_page("posts", limit=5, cursor=first.next_cursor)

    assert [row["id"] for row in second.value] == list(range(20, 40))
    assert wordpress.stand_in.calls[0].value("_fields") == "id,title"


@pytest.mark.parametrize("name", ["post", "page"])
def test_a_post_and_a_page_are_read(wordpress: Caller, name: str) -> None:
    assert wordpress.call(name, **{name: 7}) == {"id": 7}


def test_conversations_are_read_with_one_token(helpscout: Caller) -> None:
    rows = helpscout.list_all("conversations", status="all", query="tea", threads=True)

    assert len(rows) == 60
    assert [call.path for call in helpscout.stand_in.calls] == ["/oauth2/token", *["/conversations"] * 3]


def test_messages_of_a_conversation_are_read(helpscout: Caller) -> None:
    assert len(helpscout.list_all("threads", conversation=7)) == 60


def test_the_token_is_hidden_as_the_secret_is(helpscout: Caller) -> None:
    assert "t0k3n" not in json.dumps(helpscout.call("conversation", conversation=7))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("create_conversation", {"mailbox": 1, "customer_email": "a@example.org", "subject": "s", "text": "t"}),
        ("reply", {"conversation": 7, "customer": 3, "text": "t", "draft": True}),
        ("add_note", {"conversation": 7, "text": "t"}),
    ],
)
def test_what_is_created_comes_back_as_its_id(helpscout: Caller, name: str, arguments: dict[str, object]) -> None:
    assert helpscout.call(name, **arguments) == 42


def test_a_wrong_app_is_refused(open_caller: OpenCaller) -> None:
    caller = open_caller("helpscout", answer_as_helpscout, options={"app_id": "other", "app_secret": KEY})

    with pytest.raises(SourceError, match="Help Scout does not accept the key"):
        caller.call("conversations")


@pytest.mark.parametrize("body", [[], {}, {"access_token": 7}, {"access_token": "x", "expires_in": "soon"}])
def test_an_odd_token_is_refused(helpscout: Caller, body: object) -> None:
    helpscout.stand_in.fail_next(Reply(body=body))

    with pytest.raises(SourceError, match="no access token"):
        helpscout.call("conversations")
