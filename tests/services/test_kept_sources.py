"""Sources in backups: kept without their secrets, and restored when the person agrees."""

import json
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App
from tests.services.keeping import Call, below

SOURCES: dict[str, Any] = {
    "clock": {"command": "uvx", "args": ["mcp-server-time"], "allow": ["get_*"], "local": True},
    "docs": {"url": "https://docs.example/mcp", "headers": {"X-API-Key": "keyring:docs/X-API-Key"}, "auth": "oauth"},
    "claap": {"kind": "claap", "options": {"key": "${CLAAP_KEY}"}, "deny": ["delete_*"]},
}


def configure(app: App, sources: dict[str, Any], **more: Any) -> None:
    (app.settings.home / "sources.json").write_text(json.dumps({"mcpServers": sources, **more}))


def read(folder: Path) -> Any:
    return json.loads((folder / "sources.json").read_text())


@pytest.mark.parametrize("made", ["backup", "export"])
def test_sources_come_back_with_their_rules_when_the_person_agrees(
    made: str, app: App, call: Call, tmp_path: Path
) -> None:
    configure(app, SOURCES)
    path = call(made, folder=str(tmp_path / "out"), confirm=True).data["path"]

    checked = call("backups.check", path=path).data
    left_out = call("restore", source=path, folder=str(tmp_path / "without")).data
    restored = call("restore", source=path, folder=str(tmp_path / "with"), with_sources=True).data

    assert checked["sources"] == [
        'clock: {"command": "uvx", "args": ["mcp-server-time"], "allow": ["get_*"], "local": true}',
        'docs: {"url": "https://docs.example/mcp", "headers": {"X-API-Key": "keyring:docs/X-API-Key"}, '
        '"auth": "oauth"}',
        'claap: {"kind": "claap", "options": {"key": "${CLAAP_KEY}"}, "deny": ["delete_*"]}',
    ]
    assert read(tmp_path / "with") == {"mcpServers": SOURCES}
    assert (restored["sources"], restored["left_out"]) == (list(SOURCES), [])
    assert (left_out["sources"], left_out["left_out"]) == ([], list(SOURCES))
    assert "sources.json" not in below(tmp_path / "without")


def test_a_backup_has_no_secret_of_a_source_also_if_the_file_has_it_in_clear_text(
    app: App, call: Call, tmp_path: Path
) -> None:
    sources: dict[str, Any] = {
        "crm": {
            "command": "crm", "args": ["--api-key", "geheim-1", "--token=geheim-2", "https://me:geheim-3@x.example"],
            "env": {"TOKEN": "geheim-4", "PASSWORD": "${CRM:-geheim-5}", "TZ": "UTC", "KEY": "${CRM}"},
        },
        "docs": {
            "url": "https://me:geheim-6@docs.example/mcp?api_key=geheim-7&page=1",
            "headers": {"Authorization": "Bearer geheim-8-geheim", "X": "Bearer ${DOCS}"},
        },
        "claap": {"kind": "claap", "options": {"key": "geheim-9"}},
    }  # fmt: skip
    configure(app, sources, inputs=[{"id": "geheim-10"}])
    (app.settings.home / "sources.keys").write_text('{"crm/a": "geheim-11"}')
    (app.settings.home / "sources").mkdir(exist_ok=True)
    (app.settings.home / "sources" / "docs.tokens").write_text("geheim-12")

    made = call("backup", with_secrets=True, folder=str(tmp_path / "out"), confirm=True).data
    kept = read(Path(made["path"]))["mcpServers"]

    assert not [path for path in Path(made["path"]).rglob("*") if path.is_file() and b"geheim" in path.read_bytes()]
    assert kept == {
        "crm": {
            "command": "crm", "args": ["--api-key", "keyring:crm/argument_2", "keyring:crm/argument_3",
                                       "keyring:crm/argument_4"],
            "env": {"TOKEN": "keyring:crm/TOKEN", "PASSWORD": "keyring:crm/PASSWORD", "TZ": "UTC", "KEY": "${CRM}"},
        },
        "docs": {
            "url": "https://${DOCS_LOGIN}@docs.example/mcp?api_key=${DOCS_API_KEY}&page=1",
            "headers": {"Authorization": "keyring:docs/Authorization", "X": "Bearer ${DOCS}"},
        },
        "claap": {"kind": "claap", "options": {"key": "keyring:claap/key"}},
    }  # fmt: skip
    assert [name.removeprefix("sources.json: ") for name in made["withheld"]] == [
        "crm.TOKEN", "crm.PASSWORD", "crm.argument_2", "crm.argument_3", "crm.argument_4",
        "docs.Authorization", "docs.${DOCS_LOGIN}", "docs.${DOCS_API_KEY}", "claap.key",
    ]  # fmt: skip


SECRETS: dict[str, Any] = {
    "defaults in a login": {"url": "https://${U:-anna}:${P:-geheim}@docs.example"},
    "half of a login": {"url": "https://${U}:geheim@docs.example"},
    "address as a default": {"url": "${B:-https://me:geheim@docs.example/}"},
    "default of a default": {"url": "https://docs.example/?api_key=${A:-${B:-geheim}}"},
    "fragment": {"url": "https://docs.example/#token=geheim"},
    "fragment without a name": {"url": "https://docs.example/#sk-geheim0123456789012345"},
    "path": {"url": "https://docs.example/sk-geheim0123456789012345/mcp"},
    "half of a header": {"url": "https://docs.example", "headers": {"Authorization": "Token geheim${X}"}},
    "default of a header": {"url": "https://docs.example", "headers": {"Authorization": "Bearer ${X:-geheim}"}},
    "half of a variable": {"command": "crm", "env": {"BASIC_AUTH": "${LOGIN}:geheim"}},
    "no reference to a file": {"command": "crm", "env": {"A": "file:x?password=geheim"}},
    "no reference to the keyring": {"command": "crm", "env": {"TOKEN": "keyring:geheim"}},
    "inner default": {"command": "crm", "env": {"PASSWORD": "${A:-${B:-geheim}}"}},
    "default of an argument": {"command": "crm", "args": ["--api-key", "${X:-sk-geheim}"]},
    "default after an equals sign": {"command": "crm", "args": ["--token=${X:-geheim}"]},
    "half of an argument": {"command": "crm", "args": ["--header", "Authorization: Bearer geheim${X}"]},
    "login in an argument": {"command": "crm", "args": ["https://${U}:geheim@crm.example"]},
    "default of an option": {"kind": "claap", "options": {"key": "${CLAAP:-geheim}"}},
}


@pytest.mark.parametrize("source", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("made", ["backup", "export"])
def test_a_secret_beside_a_reference_or_as_a_default_is_left_out_and_named(
    made: str, app: App, call: Call, tmp_path: Path, source: Any
) -> None:
    configure(app, {"crm": source})

    data = call(made, folder=str(tmp_path / "out"), confirm=True).data

    assert "geheim" not in (Path(data["path"]) / "sources.json").read_text()
    assert len(data["withheld"]) == 1
    assert data["withheld"][0].startswith("sources.json: crm.")


REFERENCES: dict[str, Any] = {
    "login": {"url": "https://${U}:${P}@docs.example/${PATH_}?api_key=${K}&page=1#token=${T}"},
    "defaults": {"url": "${BASE:-https://docs.example}/mcp?page=${PAGE:-1}"},
    "headers": {"url": "https://docs.example", "headers": {"Authorization": "Bearer ${X}", "Cookie": "${A}:${B}"}},
    "stored": {"command": "crm", "env": {"TOKEN": "file:crm/TOKEN", "X-API-Key": "keyring:crm/X-API-Key"}},
    "empty default": {"command": "crm", "env": {"PASSWORD": "${P:-}", "TZ": "${TZ:-UTC}"}},
    "arguments": {
        "command": "npx",
        "args": ["mcp-remote", "--header", "Authorization: Bearer ${TOKEN}", "--api-key", "${K}", "--token=${T}",
                 "https://${U}:${P}@crm.example", "TOKEN=${T} crm --password=${P} -v", "keyring:crm/argument_9"],
    },
}  # fmt: skip


def test_references_and_defaults_without_a_secret_are_kept_as_they_are(app: App, call: Call) -> None:
    configure(app, {f"a{at}": source for at, source in enumerate(REFERENCES.values())})

    made = call("backup").data

    assert list(read(Path(made["path"]))["mcpServers"].values()) == list(REFERENCES.values())
    assert made["withheld"] == []


def test_a_source_whose_name_is_taken_by_now_stops_neither_a_backup_nor_a_restore(
    app: App, call: Call, tmp_path: Path
) -> None:
    configure(app, {**SOURCES, "tasks": {"command": "todo"}})
    call("create_note", title="Tea")
    made = call("backup", folder=str(tmp_path / "out"), confirm=True).data

    answer = call("restore", source=made["path"], folder=str(tmp_path / "again"), with_sources=True)
    declined = call("restore", source=made["path"], folder=str(tmp_path / "without")).data

    assert (made["is_complete"], read(Path(made["path"]))["mcpServers"]["tasks"]) == (True, {"command": "todo"})
    assert read(tmp_path / "again") == {"mcpServers": SOURCES}
    assert (answer.data["sources"], answer.data["left_out"]) == (list(SOURCES), ["tasks"])
    assert "1 source was left out" in answer.summary
    assert declined["left_out"] == [*SOURCES, "tasks"]


def test_a_file_that_cannot_be_used_is_named_and_all_else_is_kept(app: App, call: Call) -> None:
    (app.settings.home / "sources.json").write_text("{")

    made = call("backup").data

    assert made["is_complete"] is False
    assert made["problems"][0].startswith("sources.json: it cannot be used (sources.json is not valid JSON")
    assert "sources.json" not in below(Path(made["path"]))


def test_a_backup_from_before_it_had_sources_is_restored_as_it_was(app: App, call: Call, tmp_path: Path) -> None:
    call("create_note", title="Tea")
    path = call("backup", folder=str(tmp_path / "out"), confirm=True).data["path"]
    assert "sources.json" not in below(Path(path))

    answer = call("restore", source=path, folder=str(tmp_path / "again"), with_sources=True)

    assert (answer.data["sources"], answer.data["left_out"]) == ([], [])
    assert "source" not in answer.summary
    assert "sources.json" not in below(tmp_path / "again")
