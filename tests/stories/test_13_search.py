"""Chapter 13: things are found by their words."""

import pytest

from tests.conftest import Chat, StandingClock

pytestmark = pytest.mark.anyio


async def found(chat: Chat, query: str, **arguments: object) -> list[str]:
    """Search, and return the titles in order."""
    return (await chat("search", query=query, **arguments)).titles


async def test_a_write_is_found_at_once(chat: Chat) -> None:
    await chat("create_note", title="Plan", content="The zebra sleeps.")

    assert await found(chat, "zebra") == ["Plan"]


async def test_what_was_changed_is_found_by_its_new_words_only(chat: Chat) -> None:
    await chat("create_note", title="Plan", content="zebra")
    await chat("edit_note", note="Plan", old_text="zebra", new_text="giraffe")

    assert await found(chat, "giraffe") == ["Plan"]
    assert await found(chat, "zebra") == []


async def test_every_kind_is_found(chat: Chat) -> None:
    await chat("create_project", name="zebra project")
    await chat("create_task", title="task", notes="zebra")
    await chat("create_note", title="note", content="zebra")
    await chat("create_link", url="example.org/zebra", title="zebra link")
    await chat("create_reminder", title="zebra reminder", at="2026-06-01T09:00")
    await chat("add_journal_entry", text="zebra seen")
    table = {"name": "zoo.csv", "text": "animal,count\nzebra,3\n"}
    await chat("batch", operations=[{"tool": "write_file", "args": table}])

    kinds = {row["kind"] for row in (await chat("search", query="zebra")).data}

    assert kinds == {"project", "task", "note", "link", "reminder", "journal", "file"}


async def test_tags_and_descriptions_are_found(chat: Chat) -> None:
    await chat("create_task", title="tagged", tags=["zebra"])
    await chat("create_link", url="example.org", title="described", description="a zebra page")
    await chat("create_project", name="told", description="about a zebra")

    assert sorted(await found(chat, "zebra")) == ["described", "tagged", "told"]


async def test_the_last_word_may_be_only_begun(chat: Chat) -> None:
    await chat("create_note", title="Plan", content="The zebra sleeps.")

    assert await found(chat, "the zeb") == ["Plan"]


async def test_a_star_asks_for_a_beginning(chat: Chat) -> None:
    await chat("create_note", title="Plan", content="The zebra sleeps.")

    assert await found(chat, "zeb* sleeps") == ["Plan"]


async def test_quoted_words_stand_together(chat: Chat) -> None:
    await chat("create_note", title="together", content="green tea from Japan")
    await chat("create_note", title="apart", content="tea that is green")

    assert await found(chat, '"green tea"') == ["together"]


async def test_a_title_weighs_more_than_a_body(chat: Chat) -> None:
    await chat("create_note", title="Shopping", content="tea " + "and other things " * 5)
    await chat("create_note", title="Tea", content="leaves " + "and other things " * 5)

    assert (await found(chat, "tea"))[0] == "Tea"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Café Zürich", "cafe zurich"),
        ("cafe zurich", "Café Zürich"),
        ("naïve", "NAIVE"),
        ("Ångström", "angstrom"),
        ("e\u0301clair", "éclair"),
        ("Łódź", "Łódź"),
        ("ΑΘΗΝΑ", "αθηνα"),
        ("МОСКВА", "москва"),
        ("Straße", "straße"),
    ],
)
async def test_case_and_diacritics_do_not_matter(chat: Chat, text: str, query: str) -> None:
    await chat("create_note", title="Plan", content=text)

    assert await found(chat, query) == ["Plan"]


@pytest.mark.parametrize(
    "query", ["東京", "京都", "会議", "東京都", "会議室", "大阪城", "東京 会議", "カフェ", "ひらがな"]
)
async def test_chinese_and_japanese_words_of_two_signs_are_found(chat: Chat, query: str) -> None:
    await chat("create_note", title="予定", content="明日は東京都の会議室で会議。大阪城とカフェ、ひらがなも。")

    assert await found(chat, query) == ["予定"]


@pytest.mark.parametrize("query", ["京東", "議会", "阪大"])
async def test_signs_in_another_order_are_not_found(chat: Chat, query: str) -> None:
    await chat("create_note", title="予定", content="明日は東京都の会議室で会議。大阪城とカフェ。")

    assert await found(chat, query) == []


async def test_one_sign_finds_words_that_begin_with_it(chat: Chat) -> None:
    await chat("create_note", title="予定", content="東京都")

    assert await found(chat, "東") == ["予定"]


async def test_a_snippet_shows_the_hit_as_it_stands_in_the_text(chat: Chat) -> None:
    await chat("create_note", title="Plan", content="word " * 500 + "明日は東京都の Café" + " word" * 500)

    snippet = (await chat("search", query="東京")).data[0]["snippet"]

    assert "明日は" in snippet.replace("**", "")
    assert "東京都の" in snippet.replace("**", "")
    assert len(snippet) < 400


async def test_a_snippet_marks_the_hit(chat: Chat) -> None:
    await chat("create_note", title="Plan", content="The old Zébra sleeps.")

    assert "**Zébra**" in (await chat("search", query="zebra")).data[0]["snippet"]


async def test_a_snippet_shows_the_word_itself_rather_than_longer_ones_before_it(chat: Chat) -> None:
    longer = "\n".join(f"{number:x} file{number}.txt" for number in range(7700, 7900))
    await chat("create_note", title="Files", content=f"{longer}\nhere is file777.txt")

    for query in ("file777", "file777.txt"):
        assert "here is **file777**" in (await chat("search", query=query)).data[0]["snippet"]


async def test_a_hit_deep_in_a_long_note_has_its_snippet(chat: Chat) -> None:
    await chat("create_note", title="Plan", content="word\n" * 100_000 + "the zebra\n" + "word\n" * 1000)

    assert "zebra" in (await chat("search", query="zebra")).data[0]["snippet"]


async def test_an_item_is_one_row_however_often_it_is_hit(chat: Chat) -> None:
    await chat("create_note", title="zebra", content="zebra line\n" * 50_000)

    assert await found(chat, "zebra") == ["zebra"]


async def test_kinds_narrow_a_search(chat: Chat) -> None:
    await chat("create_note", title="zebra note")
    await chat("create_task", title="zebra task")

    assert await found(chat, "zebra", kinds=["task"]) == ["zebra task"]


async def test_a_project_narrows_a_search(chat: Chat) -> None:
    await chat("create_project", name="House")
    await chat("create_note", title="zebra inside", project="House")
    await chat("create_note", title="zebra outside")

    assert await found(chat, "zebra", project="House") == ["zebra inside"]


async def test_days_narrow_a_search(chat: Chat, clock: StandingClock) -> None:
    for title in ("zebra one", "zebra two", "zebra three"):
        await chat("create_note", title=title)
        clock.advance(days=1)

    assert await found(chat, "zebra", since="2026-05-21", until="2026-05-21") == ["zebra two"]


async def test_the_first_line_says_that_meaning_did_not_run(chat: Chat) -> None:
    hits = await chat("search", query="zebra")

    assert hits.summary == "Nothing found, by words alone"
    assert hits.text.startswith(hits.summary)


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
async def test_every_mode_answers_and_tells_that_keywords_ran(chat: Chat, mode: str) -> None:
    await chat("create_note", title="zebra")

    hits = await chat("search", query="zebra", mode=mode)

    assert hits.titles == ["zebra"]
    assert "by words alone" in hits.summary or mode == "keyword"


@pytest.mark.parametrize(
    "query",
    [
        "zebra AND",
        "NOT zebra",
        "zebra OR",
        "NEAR(zebra",
        'zebra"',
        "zebra)",
        "(zebra",
        "title:zebra",
        "zebra -x*",
        "^zebra",
        "{zebra}",
        "zebra;--",
        "'zebra'",
        "zebra\\",
        "zebra 🦓",
        "+zebra",
        "*zebra",
    ],
)
async def test_operators_and_quotes_are_only_signs(chat: Chat, query: str) -> None:
    await chat("create_note", title="the zebra and or not near title x")

    assert await found(chat, query) == ["the zebra and or not near title x"]


@pytest.mark.parametrize(
    "query", ['"', "*", "()", "AND", "🦓", "a", "-", "''", "%", "_", "\\", "^", ":", "NEAR(", '""', "~"]
)
async def test_a_search_for_next_to_nothing_is_no_accident(chat: Chat, query: str) -> None:
    await chat("create_note", title="zebra")

    result = await chat.raw("search", query=query)

    assert not result.is_error or "[invalid_input]" in getattr(result.content[0], "text", "")


async def test_one_letter_finds_the_word_of_one_letter(chat: Chat) -> None:
    await chat("create_note", title="Plan B")

    assert await found(chat, "b") == ["Plan B"]


async def test_an_emoji_does_not_hide_the_word_beside_it(chat: Chat) -> None:
    await chat("create_note", title="🎉party🎉 2026")

    assert await found(chat, "party") == ["🎉party🎉 2026"]


async def test_a_very_long_query_is_answered(chat: Chat) -> None:
    await chat("create_note", title="zebra")

    result = await chat.raw("search", query="zebra " * 20_000)

    assert not result.is_error or "[invalid_input]" in getattr(result.content[0], "text", "")


@pytest.mark.parametrize(
    "query", ["Strasse", "straße", "STRASSE", "gundelfinger strasse", "Grosser Garten", "größer als"]
)
async def test_a_sharp_s_is_found_as_two(chat: Chat, query: str) -> None:
    await chat("create_note", title="Haus", content="Gundelfinger Straße 4, großer Garten, größer als der alte")
    await chat("create_note", title="Glass", content="A glass of water")

    found = (await chat("search", query=query, mode="keyword")).data

    assert [row["title"] for row in found] == ["Haus"]
    assert "**" in found[0]["snippet"]


@pytest.mark.parametrize(
    ("query", "held", "other"),
    [
        ("mother's birthday", "A birthday in June", "Birgit's strings"),
        ("d'une maison", "Une maison bleue", "Vitamin D"),
        ("what'll the plumber say", "The plumber says no", "ll"),
    ],
)
async def test_what_an_apostrophe_adds_is_not_looked_for(chat: Chat, query: str, held: str, other: str) -> None:
    await chat("create_note", title="One", content=held)
    await chat("create_note", title="Two", content=other)

    assert [row["title"] for row in (await chat("search", query=query, mode="keyword")).data] == ["One"]


async def test_a_letter_is_marked_alone(chat: Chat) -> None:
    await chat("create_note", title="Blood", content="Vitamin D in three days")

    assert "**D** in three days" in (await chat("search", query="vitamin D", mode="keyword")).data[0]["snippet"]
