"""Errors are explained in words for the user, in the user's language."""

import re

import pytest

from panorama.kinds import ITEM_KINDS, name_kind
from panorama.translations.explanations import explain
from panorama.web.texts import Texts
from tests.web.page_client import PageClient

FOR_MODELS = re.compile(r"[a-z]_[a-z]|\bcall\b|parameters|next_cursor|`")


@pytest.mark.parametrize(
    ("form", "fields", "words"),
    [
        ("tasks.update", {"title": ""}, "„Titel“ ist leer."),
        ("tasks.update", {"deadline": "someday"}, "„Frist“ ist kein Datum: someday."),
        ("tasks.update", {"recurrence": "sometimes"}, "Das ist keine Regel"),
        ("tasks.update", {"project": "Nowhere"}, "Projekt nicht gefunden: Nowhere."),
        ("notes.create", {"title": "", "content": "x"}, "„Titel“ ist leer."),
        ("people.create", {"name": "Ida", "email": "x"}, "Das ist keine E-Mail-Adresse: x."),
        ("projects.create", {"name": "Garden"}, "Es gibt schon ein Projekt Garden."),
        ("events.create", {"title": "A", "starts_at": "2026-12-02", "ends_at": "2026-12-01"}, "Der Termin endet"),
        ("tasks.update", {"deadline": "2026-02-30"}, "„Frist“ ist kein Datum: 2026-02-30."),
        ("jobs.cancel", {"job": "j_0000000000"}, "Auftrag nicht gefunden"),
        ("import.markdown", {"folder": "/home/it's"}, "Es gibt keinen Ordner /home/it's."),
        ("setting", {"name": "log_days", "value": "-4"}, "log_days muss mindestens 1 sein."),
        ("setting", {"name": "log_days", "value": "x"}, "log_days muss eine Zahl sein."),
        ("import.markdown", {"folder": "/no/such/folder"}, "Es gibt keinen Ordner /no/such/folder."),
        ("import.markdown", {"folder": "/etc/passwd"}, "/etc/passwd ist kein Ordner."),
        ("import.memory", {"file": "/etc/passwd"}, "/etc/passwd enthält keine Einträge und keine Beziehungen."),
        ("import.memory", {"file": "/no/such/file"}, "Es gibt keine Datei /no/such/file."),
        ("tasks.update", {"title": "x" * 501}, "„Titel“ ist zu lang: 501 Zeichen"),
        ("tasks.update", {"title": "a\0b"}, "„Titel“ enthält ein Zeichen"),
        ("tasks.update", {"status": "lost"}, "„Status“ kann nicht lost sein."),
        ("tasks.update", {"deadline": "2999-01-01"}, "„Frist“ liegt außerhalb der Jahre 1900 bis 2199"),
        ("quick", {"line": "x" * 501}, "„Titel“ ist zu lang"),
        (
            "notes.create",
            {"title": "A", "tags": ",".join(map(str, range(60)))},
            "„Schlagwörter“ hat zu viele Wörter: 60",
        ),
        ("notes.update", {"note": "n_0000000000", "title": "A"}, "Notiz nicht gefunden: n_0000000000."),
        ("people.create", {"name": "Bo", "birthday": "1066-10-14"}, "„Geburtstag“ liegt außerhalb der Jahre"),
        (
            "events.create",
            {"title": "A", "starts_at": "2026-06-01 10:00", "ends_at": "2026-06-02"},
            "Von Beginn und Ende",
        ),
        ("history.undo", {"unit": "c_0000000000"}, "Diese Änderung steht nicht im Verlauf"),
        ("chosen", {"chosen": "t_0000000000", "action": "delete"}, "Aufgabe nicht gefunden: t_0000000000."),
        ("setting", {"name": "timezone", "value": "Mars"}, "Es gibt keine Zeitzone Mars."),
    ],
)
def test_a_refusal_is_in_the_language_of_the_user(
    page: PageClient, form: str, fields: dict[str, str], words: str
) -> None:
    page.call("projects.create", name="Garden")
    task = page.call("tasks.create", title="Rake")["id"]
    more = {"task": task} if form == "tasks.update" else {}

    answer = page.post(
        f"/do/{form}", {"token": page.token, **fields, **more}, accept="application/json", accept_language="de"
    ).json()

    assert answer["failed"]
    assert words in answer["message"]
    assert not FOR_MODELS.search(answer["hint"]), answer["hint"]


def test_a_refusal_of_what_is_not_as_the_page_shows_it_is_in_german(page: PageClient) -> None:
    def refuse(form: str, **fields: str) -> str:
        sent = {"token": page.token, **fields}
        answer = page.post(f"/do/{form}", sent, accept="application/json", accept_language="de").json()
        assert answer["failed"]
        assert not FOR_MODELS.search(answer["hint"]), answer["hint"]
        return str(answer["message"])

    task, gone = (page.call("tasks.create", title=title)["id"] for title in ("Rake", "Sow"))
    person = page.call("people.create", name="Ida")["id"]
    event = page.call("events.create", title="Fair", starts_at="2026-06-01")["id"]
    page.call("projects.create", name="Garden")
    page.call("items.delete", item=gone)
    unit = page.call("history.list")[0]["unit"]
    home = str(page.app.settings.home)

    assert refuse("tasks.update", task=gone, title="Reap") == "Sow liegt im Papierkorb."
    assert refuse("items.delete", item=gone) == "Sow liegt im Papierkorb."
    assert refuse("items.restore", item=task).startswith("Rake liegt nicht im Papierkorb")
    assert refuse("tasks.update", task=task, parent=task).startswith("Eine Aufgabe kann nicht unter sich")
    assert refuse("people.update", person=person, manager=person) == "Niemand kann sich selbst unterstellt sein."
    assert refuse("events.update", event=event, starts_at="") == "„Beginnt“ ist leer."
    assert refuse("import.markdown", folder=home) == f"{home} gehört zu Panoramas eigenen Daten."
    page.send("history.undo", unit=unit)
    assert refuse("history.undo", unit=unit) == "Das ist schon zurückgenommen; nichts wurde geändert."
    page.call("tasks.create", title="Rake")
    assert refuse("tasks.update", task="Rake", title="Twice") == "2 Einträge heißen Rake."


@pytest.mark.parametrize(
    "path",
    [
        "/tasks/t_0000000000",
        "/notes/nowhere",
        "/runs/x_0000000000",
        "/scripts/zzzz",
        "/history?cursor=x",
        "/trash?cursor=x",
    ],
)
def test_a_page_that_is_not_there_gives_no_advice_for_models(page: PageClient, path: str) -> None:
    for language, word in (("de", "nicht"), ("en", "no")):
        html = page.get(path, accept_language=language).text
        shown = re.sub("<[^>]+>", " ", html[html.index('id="nothing"') :].partition("</div>")[0])

        assert not FOR_MODELS.search(shown), shown
        assert word in shown


def test_a_refusal_in_english_names_the_field_as_its_form_does(page: PageClient) -> None:
    task = page.call("tasks.create", title="Rake")["id"]

    answer = page.send("tasks.update", task=task, deadline="someday")

    assert answer["message"] == "“Deadline” is not a date: someday."
    assert "2026-05-31" in answer["hint"]


def test_a_preview_of_an_import_says_in_german_that_there_is_no_folder(page: PageClient) -> None:
    assert "Es gibt keinen Ordner" in page.page("/imports?folder=/no/such/folder", accept_language="de")


def test_the_question_before_an_approval_is_asked_in_german(page: PageClient) -> None:
    page.call("scripts.save", name="count_tasks", code='"""Count."""\n\ndef main():\n    return 1\n')
    digest = page.call("scripts.get", script="count_tasks")["digest"]

    answer = page.post(
        "/do/scripts.approve", {"token": page.token, "script": "count_tasks", "digest": digest},
        accept="application/json", accept_language="de",
    ).json()  # fmt: skip

    assert answer["question"] == f"Das Skript count_tasks freigeben? Sein Text hat die Prüfsumme {digest}."


@pytest.mark.parametrize(
    ("message", "hint", "explained", "next_step"),
    [
        ("There is no such page.", "", "There is no such page.", ""),
        ("There is no source 'mail'.", "Did you mean mails? `panorama sources list` shows the configured ones.",
         "Data source not found: mail.", "Did you mean mails?"),
        ("There is no script 'reprt'.", "Did you mean report or project_report?", "Script not found: reprt.",
         "Did you mean report or project_report?"),
        ("There is no job 'w_1'.", "get_job() lists them.", "Job not found: w_1.", ""),
        ("There is no script 'search': that name is used by something else.", "Rename it.",
         "There is no script 'search': that name is used by something else.", "Rename it."),
        ("person: there is no person “Ida”.", "", "Person not found: Ida.",
         "It may have been deleted: look in the trash, or search for it."),
        ("Step 0 (update_task): deadline is not a date in any form: 'x'. No step of the batch was kept.", "",
         "“Deadline” is not a date: x.", "Write a date such as"),
        ("The settings cannot be used: log_days: greater than or equal to 1; trash_days: no valid integer.",
         "Fix config.toml in the data directory, or the PANORAMA_ variable.", "log_days has to be at least 1.",
         "Fix config.toml"),
        ("The database is locked.", "Try again; if it persists, run `panorama doctor`.", "The database is locked.",
         "Try again; if it persists, run `panorama doctor`."),
    ],
)  # fmt: skip
def test_an_error_keeps_its_meaning_and_the_advice_for_a_person(
    message: str, hint: str, explained: str, next_step: str
) -> None:
    found = explain(message, hint, Texts("en"))

    assert found["message"] == explained
    assert found["hint"].startswith(next_step)
    assert bool(found["hint"]) == bool(next_step)


@pytest.mark.parametrize("kind", [name_kind(kind.name) for kind in ITEM_KINDS])
def test_an_item_of_any_kind_that_is_not_found_may_be_in_the_trash(kind: str) -> None:
    found = explain(f"item: there is no {kind} “Rake”.", "", Texts("de"))

    assert found["message"].endswith(" nicht gefunden: Rake.")
    assert "Papierkorb" in found["hint"]
