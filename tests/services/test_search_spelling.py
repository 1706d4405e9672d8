"""Search with misspelt words: what is corrected, and what is searched as it was typed."""

from pathlib import Path

import pytest

from panorama.index.embedders import bundled
from tests.services.searching import OFF, SearchServices, StandInSearch, context, meaning

__all__ = ["context", "meaning"]


def test_a_misspelt_word_is_repaired_for_its_words_and_asked_as_typed_for_its_meaning(
    context: SearchServices, meaning: StandInSearch
) -> None:
    context.note("Architect", "Her fee is due.")

    page = context.found("archetect fee")

    assert [row.title for row in page.items] == ["Architect"]
    assert page.hint == "Searched for “architect” instead of “archetect”, which no item contains."
    assert meaning.asked[-1][0] == "archetect fee"


@pytest.mark.parametrize(
    ("text", "query", "searched"),
    [
        ("new heat pump", "heatpump", "heat pump"),
        ("a butterfly bush", "butter fly", "butterfly"),
        ("Café Zürich", "zurihc", "zürich"),
        ("receive the parcel", "recieve parcel", "receive"),
        ("Entscheidungen am Montag", "Entschiedungen", "entscheidungen"),
        ("планируем встречу", "всречу", "встречу"),
    ],
)
def test_slips_of_many_sorts_are_repaired(context: SearchServices, text: str, query: str, searched: str) -> None:
    context.note("Plan", text)

    page = context.found(query)

    assert [row.title for row in page.items] == ["Plan"]
    assert f"“{searched}”" in page.hint


@pytest.mark.parametrize("query", ['"archetect"', "archetect*", "xyzzy", "arc", "1234", "residence"])
def test_what_is_quoted_begun_known_or_far_from_all_is_not_repaired(context: SearchServices, query: str) -> None:
    context.note("Plan", "architect, residual 1235")

    assert "Searched for" not in context.found(query).hint


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("a dormer to the courtyard", "dónde vamos a dormir"),
        ("a jar of plums", "dieses Jahr"),
        ("it was made at home", "la caída de mi madre"),
        ("der Zeuge zeigt darauf", "keine Zeit"),
    ],
)
def test_a_frequent_word_of_another_language_is_no_misspelt_word_of_the_store(
    context: SearchServices, text: str, query: str
) -> None:
    context.note("Plan", text)

    assert "Searched for" not in context.found(query).hint


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("profesional", "professional"),
        ("posible", "possible"),
        ("imposible", "impossible"),
        ("oficial", "official"),
        ("profesor", "professor"),
        ("comision", "commission"),
        ("responsable", "responsible"),
        ("exemple", "example"),
        ("interes", "interest"),
        ("succes", "success"),
        ("proces", "process"),
        ("mariage", "marriage"),
        ("contrat", "contract"),
        ("modell", "model"),
        ("programm", "program"),
    ],
)
def test_a_slip_in_a_long_word_is_repaired_although_another_language_spells_it_so(
    context: SearchServices, query: str, text: str
) -> None:
    context.note("Plan", f"our {text} indemnity")

    assert context.titles(query) == context.titles(query, "keyword") == ["Plan"]
    assert context.titles(f"{query} music", "keyword") == ["Plan"]


@pytest.mark.parametrize(("query", "text"), [("lettre", "letter"), ("objet", "object"), ("lokal", "local")])
def test_a_short_word_of_another_language_is_repaired_among_english_ones(
    context: SearchServices, query: str, text: str
) -> None:
    context.note("Plan", f"our {text} of March")

    assert f"“{text}” instead of “{query}”" in context.found(f"find the {query} about music").hint
    assert context.titles(f"find the {query} about music") == ["Plan"]


@pytest.mark.parametrize(("query", "text"), [("lettre", "letter"), ("objet", "object"), ("lokal", "local")])
def test_a_short_word_of_another_language_is_repaired_if_only_words_are_searched(
    context: SearchServices, meaning: StandInSearch, query: str, text: str
) -> None:
    context.note("Plan", f"our {text} of March")

    by_words, also_by_meaning = context.found(query, "keyword"), context.found(query)
    meaning.gap = OFF
    without_a_model = context.found(query)

    assert [row.title for row in by_words.items] == [row.title for row in without_a_model.items] == ["Plan"]
    assert f"Searched for “{text}” instead of “{query}”, which no item contains." in by_words.hint
    assert "Searched for" in without_a_model.hint
    assert "Searched for" not in also_by_meaning.hint


@pytest.mark.parametrize(
    "query", ["dónde vamos a dormir", "mi madre", "dieses Jahr", "la lettre", "keine Zeit", "Bilder der Kirchen"]
)
def test_a_query_in_another_language_is_not_repaired_if_only_words_are_searched(
    context: SearchServices, query: str
) -> None:
    context.note("Plan", "a dormer was made; a jar zeigt the letter; the builder of the kitchen")

    page = context.found(query, "keyword")

    assert (page.items, "Searched for" in page.hint) == ((), False)


@pytest.mark.parametrize(
    ("text", "query", "searched"), [("la próxima semana", "próximo", "próxima"), ("los jardines", "jardin", "jardines")]
)
def test_another_form_of_a_frequent_word_is_found(
    context: SearchServices, text: str, query: str, searched: str
) -> None:
    context.note("Plan", text)

    page = context.found(query)

    assert [row.title for row in page.items] == ["Plan"]
    assert page.hint == "" or f"“{searched}”" in page.hint


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("dann zum Markt", "Wann ist der Termin"),
        ("vier Stühle", "Wie viel kostet das"),
        ("wegen der Miete", "Einwand gegen die Miete"),
        ("la nuca", "nunca llega el tren"),
    ],
)
def test_a_word_that_holds_sentences_together_is_no_misspelt_other_one(
    context: SearchServices, text: str, query: str
) -> None:
    context.note("Plan", text)

    assert "Searched for" not in context.found(query).hint


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("QX-83K2", "qx83k2"),
        ("QX83K2", "QX-83K2"),
        ("XK 900 pump", "xk900"),
        ("model XK900", "XK 900"),
        ("RTX4090", "rtx 4090 x"),
    ],
)
def test_a_code_is_found_with_and_without_its_hyphen(context: SearchServices, text: str, query: str) -> None:
    context.note("Plan", f"reference {text} of May")
    context.note("Other", "reference QX 900 83 RTX 83K1")

    assert context.titles(query)[0] == "Plan"


def test_a_last_word_that_begins_another_is_not_repaired(context: SearchServices) -> None:
    context.note("Plan", "architect")

    assert (context.titles("archit"), context.found("archit").hint) == (["Plan"], "")


def test_a_last_word_that_is_known_is_not_taken_for_a_beginning(context: SearchServices) -> None:
    context.note("Car", "car")
    context.note("Floor", "carpet")

    assert context.titles("car") == ["Car"]


@pytest.mark.parametrize("content", [b"\xff\xfe\x81", None])
def test_a_search_repairs_words_when_the_files_of_the_model_are_damaged_or_missing(
    context: SearchServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    context.note("Architect", "Her fee is due.")
    monkeypatch.setattr(bundled, "FOLDER", tmp_path)
    for file in (bundled.VOCABULARY, bundled.USE_PIECES):
        if content is not None:
            (tmp_path / file.name).write_bytes(content)

    assert [row.title for row in context.found("archetect fee").items] == ["Architect"]
