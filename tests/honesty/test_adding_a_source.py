"""The page on adding a kind of source: doing what it says gives functions that work."""

import subprocess
import sys
from pathlib import Path

from tests.honesty.pages import copy_with_page
from tests.sources.stand_ins import KEY, Call, Reply, allow, require, serve

TRY = """
import sys
from pathlib import Path
from panorama.sources.config import parse_entry
from panorama.sources.secrets import open_secrets
from panorama.sources.source import Deadline, open_source

config = parse_entry("shelf", {"kind": "bookshelf", "url": sys.argv[1], "options": {"key": sys.argv[2]}})
source = open_source(config, open_secrets(Path(".")), Path("."))
deadline = Deadline.after(20)
functions = {function.name: function for function in source.list_functions(deadline)}
first = source.call(functions["books"], {"author": "Lem"}, deadline)
second = source.call(functions["books"], {"author": "Lem", "cursor": first.next_cursor}, deadline)
print(len(first.value) + len(second.value), second.next_cursor == "")
print(source.call(functions["lend"], {"book": "b1", "person": "ada@example.org"}, deadline).value["lent_to"])
print(functions["lend"].reach, functions["books"].reads_only)
source.close()
"""


def answer_as_bookshelf(call: Call) -> Reply:
    """Answer as the service of the page."""
    if call.headers.get("authorization") != f"Bearer {KEY}":
        return Reply(status=401, body={"error": "no"})
    if call.path == "/books":
        allow(call.query, "author", "per_page", "cursor")
        is_first = not call.value("cursor")
        return Reply(body={"books": [{"id": "b1"}] * (100 if is_first else 5), "next": "2" if is_first else None})
    require((call.method, call.path) == ("POST", "/books/b1/loan"), "there is no such endpoint")
    return Reply(body={"id": "b1", "lent_to": call.body["person"]})


def test_the_page_adds_a_kind_of_source_that_works(tmp_path: Path) -> None:
    files = copy_with_page("add-a-source.md", tmp_path)

    with serve(answer_as_bookshelf) as service:
        command = [sys.executable, "-c", TRY, service.url, KEY]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert len(files) == 2
    assert run.stdout.splitlines() == ["105 True", "ada@example.org", "others True"], run.stderr
