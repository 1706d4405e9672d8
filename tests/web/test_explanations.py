"""Errors are told in words for the user, in the user's language."""

import re

import pytest

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
        ("jobs.cancel", {"job": "j_0000000000"}, "Auftrag nicht gefunden"),
        ("setting", {"name": "log_days", "value": "-4"}, "log_days muss mindestens 1 sein."),
        ("setting", {"name": "log_days", "value": "x"}, "log_days muss eine Zahl sein."),
        ("import.markdown", {"folder": "/no/such/folder"}, "Es gibt keinen Ordner /no/such/folder."),
    ],
)
def test_a_refusal_is_told_in_the_language_of_the_user(
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


@pytest.mark.parametrize(
    "path",
    [
        "/tasks/t_0000000000",
        "/notes/nowhere",
        "/runs/x_0000000000",
        "/scripts/nothing",
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
