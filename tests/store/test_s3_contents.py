"""Contents in a bucket: what is refused, what an error says, and the product with a bucket beside both databases."""

import math
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.cli.main import main
from panorama.config import read_settings
from panorama.databases import open_contents
from panorama.errors import InvalidInputError, UnavailableError
from tests.store.content_stores import s3_contents
from tests.store.s3_server import BUCKET, KEY, KEY_ID, run_s3_server

pytestmark = [pytest.mark.s3, pytest.mark.usefixtures("s3_address")]  # the client starts its threads there

NOBODY = "http://127.0.0.1:9"
PERSON = Conversation(id="v_s3", actor="tool", client="tests")


@pytest.fixture
def variables(s3_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of a machine whose contents are in a bucket."""
    settings = {
        "HOME": str(tmp_path / "home"), "NO_DAEMON": "1", "EMBEDDER": "none",
        "FILES_URL": f"s3://{BUCKET}/{tmp_path.name}", "FILES_ENDPOINT": s3_address, "FILES_KEY_ID": KEY_ID,
        "FILES_KEY": KEY,
    }  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setenv(f"PANORAMA_{name}", value)


def call(app: App, operation: str, **arguments: Any) -> Any:
    return app.calls.call(operation, arguments, PERSON).to_dict()["data"]


@pytest.mark.parametrize("url", ["https://bucket/files", "s3://", "s3://Bucket", "s3://b/x?y", "s3://user@bucket/x"])
def test_an_address_that_is_no_bucket_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="files_url"):
        s3_contents("", url, tmp_path)


@pytest.mark.parametrize(
    "endpoint", ["http://minio.example.org", "minio.example.org", "ftp://minio", "http://10.0.0.1"]
)
def test_a_key_is_not_sent_unencrypted_beyond_this_machine(endpoint: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="files_endpoint"):
        s3_contents(endpoint, f"s3://{BUCKET}", tmp_path)


def test_without_a_key_an_unencrypted_endpoint_is_accepted(tmp_path: Path) -> None:
    s3_contents("http://minio.example.org", f"s3://{BUCKET}", tmp_path, key="")


def test_a_store_that_cannot_be_reached_says_so_and_changes_nothing(tmp_path: Path) -> None:
    contents = s3_contents(NOBODY, f"s3://{BUCKET}", tmp_path)

    with pytest.raises(UnavailableError, match="cannot be reached; nothing was changed"):
        contents.put(b"tea")
    with pytest.raises(UnavailableError, match="cannot be reached"):
        contents.get("0" * 64)


def test_a_bucket_that_does_not_exist_is_named(s3_address: str, tmp_path: Path) -> None:
    contents = s3_contents(s3_address, "s3://no-such-bucket/files", tmp_path)

    for act in (lambda: contents.put(b"tea"), lambda: contents.get("0" * 64), lambda: list(contents.iter_sizes())):
        with pytest.raises(UnavailableError, match="no bucket no-such-bucket") as refusal:
            act()
        assert KEY not in refusal.value.text()


def test_a_key_that_the_store_refuses_is_reported_without_it(tmp_path: Path) -> None:
    with run_s3_server(checks_keys=True) as address:
        contents = s3_contents(address, f"s3://{BUCKET}/files", tmp_path)

        for act in (lambda: contents.put(b"tea"), lambda: contents.get("0" * 64), lambda: list(contents.iter_sizes())):
            with pytest.raises(UnavailableError, match="refuses access to the bucket team-files") as refusal:
                act()
            assert "files_key_id" in refusal.value.hint
            assert KEY not in refusal.value.text()


def test_a_large_content_is_sent_in_parts(s3_address: str, tmp_path: Path) -> None:
    contents = s3_contents(s3_address, f"s3://{BUCKET}/large", tmp_path)
    part = os.urandom(1 << 20)
    digest = sha256()
    for _ in range(40):
        digest.update(part)

    contents.put_parts(digest.hexdigest(), (part for _ in range(40)))

    assert dict(contents.iter_sizes()) == {digest.hexdigest(): 40 << 20}
    assert contents.read_range(digest.hexdigest(), (39 << 20) + 5, 10) == part[5:15]


@pytest.mark.usefixtures("variables")
def test_a_file_is_written_read_backed_up_forgotten_and_restored(tmp_path: Path) -> None:
    with open_app(read_settings()) as app:
        file = call(app, "write_file", name="plan.md", text="one")["id"]
        backup = call(app, "create_backup")["path"]
        call(app, "delete_item", item=file)
        app.calls.call("purge", {"days": 0, "confirm": True}, PERSON)
        assert call(app, "list_files") == []

    assert not (tmp_path / "home" / "files").exists()
    assert main(["restore", backup, "--yes"]) == 0
    with open_app(read_settings()) as app:
        assert call(app, "get_file", file="plan.md")["text"] == "one"
        call(app, "write_file", name="plan.md", text="two")
    assert not (tmp_path / "home" / "files").exists()


@pytest.mark.usefixtures("variables")
def test_contents_of_before_come_into_the_bucket_by_a_backup_that_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANORAMA_FILES_URL", "")
    with open_app(read_settings()) as app:
        call(app, "write_file", name="plan.md", text="one")
        backup = call(app, "create_backup")["path"]
    monkeypatch.setenv("PANORAMA_FILES_URL", f"s3://{BUCKET}/{tmp_path.name}")
    with open_app(read_settings()) as app, pytest.raises(UnavailableError, match=f"there is no s3://{BUCKET}/"):
        call(app, "get_file", file="plan.md")

    assert main(["restore", backup, "--yes"]) == 0

    with open_app(read_settings()) as app:
        assert call(app, "get_file", file="plan.md")["text"] == "one"


@pytest.mark.usefixtures("variables")
def test_a_prefix_belongs_to_one_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = sha256(b"one").hexdigest()
    with open_app(read_settings()) as app:
        call(app, "write_file", name="plan.md", text="one")
    monkeypatch.setenv("PANORAMA_HOME", str(tmp_path / "other"))
    with open_app(read_settings()) as other:
        with pytest.raises(UnavailableError, match="holds the contents of another database"):
            call(other, "write_file", name="plan.md", text="two")
        with pytest.raises(UnavailableError, match="holds the contents of another database"):
            open_contents(other.settings, other.context.database).delete([one], before=math.inf)
        assert call(other, "list_files") == []
    monkeypatch.setenv("PANORAMA_HOME", str(tmp_path / "home"))

    with open_app(read_settings()) as app:
        assert call(app, "get_file", file="plan.md")["text"] == "one"
        call(app, "write_file", name="plan.md", text="three")


@pytest.mark.postgres
@pytest.mark.usefixtures("variables")
def test_a_move_to_a_space_and_back_keeps_the_contents(tmp_path: Path, postgres_url: str) -> None:
    from tests.postgres.machines import drop_spaces

    with open_app(read_settings()) as app:
        call(app, "write_file", name="plan.md", text="one")
    try:
        assert main(["move", "--to", postgres_url, "--space", "bucket", "--yes"]) == 0
        with open_app(read_settings()) as app:
            assert call(app, "get_file", file="plan.md")["text"] == "one"
            call(app, "write_file", name="plan.md", text="two")
        assert main(["move", "--to", "sqlite", "--yes"]) == 0
        with open_app(read_settings()) as app:
            assert call(app, "get_file", file="plan.md")["text"] == "two"
            call(app, "write_file", name="plan.md", text="three")
    finally:
        drop_spaces(postgres_url, "bucket")
