"""Python names of the functions of sources."""

import keyword
import random

import pytest

from panorama.domain.sources.names import assign_names, to_identifier


@pytest.mark.parametrize(
    ("own_name", "name"),
    [
        ("API-get-user", "api_get_user"), ("getUser", "get_user"), ("HTTPGet", "http_get"),
        ("git.add-all", "git_add_all"), ("2fa", "n2fa"), ("import", "import_"), ("Ω", "function"), ("", "function"),
        ("a__b", "a_b"), ("x" * 200, "x" * 80),
    ],
)  # fmt: skip
def test_a_name_is_written_as_python_writes_it(own_name: str, name: str) -> None:
    assert to_identifier(own_name) == name
    assert to_identifier(own_name).isidentifier()
    assert not keyword.iskeyword(to_identifier(own_name))


def test_names_do_not_depend_on_the_order_of_the_list() -> None:
    own_names = ["get-user", "getUser", "get_user", "get.user", "GetUser"]
    shuffled = random.Random(1).sample(own_names, len(own_names))

    assert assign_names(own_names) == assign_names(shuffled)
    assert assign_names(own_names)["get_user"] == "get_user"


def test_a_name_never_moves_to_another_function() -> None:
    first = assign_names(["get-user"])

    later = assign_names(["get_user"], first)

    assert later == {"get-user": "get_user", "get_user": "get_user_2"}
