"""The status: what it says of the store."""

from panorama.app import App
from tests.services.test_waiting_reminders import Call


def test_the_size_of_the_database_counts_what_is_only_in_its_log(call: Call, app: App) -> None:
    before = call("status").data["database_bytes"]

    call("create_note", title="Long", content="quince jam " * 20_000)

    assert call("status").data["database_bytes"] > before + 200_000
    assert app.desk.database.path.stat().st_size < before + 200_000
