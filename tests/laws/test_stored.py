"""What is stored comes back equal."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from panorama.domain.items.item import Item
from panorama.store.items import rows

from .things import OF_KIND, anything, lines, notes, tags, texts
from .world import ORIGIN, World


@given(item=anything)
def test_an_item_comes_back_as_it_was_stored(template: Path, item: Item) -> None:
    with World.made(template) as world:
        world.add(item)

        assert world.items() == {item.id: item}
        assert world.indexed_words() == world.words_to_index()


@given(data=st.data(), old=anything)
def test_an_item_comes_back_as_it_was_changed(template: Path, data: st.DataObject, old: Item) -> None:
    other = data.draw(OF_KIND[old.KIND])
    fields = {name: getattr(other, name) for name in rows.NOUNS[old.KIND].fields if name not in ("id", "version")}
    with World.made(template) as world:
        world.add(old)
        new = old.with_changes(
            other.updated_at, **{name: value for name, value in fields.items() if name != "updated_at"}
        )
        with world.database.transaction(ORIGIN) as session:
            rows.save(session, old, new)

        assert world.items() == {old.id: new}
        assert world.indexed_words() == world.words_to_index()


@given(title=lines, content=texts, words=tags)
def test_a_note_is_read_through_the_door_as_it_was_written(
    template: Path, title: str, content: str, words: tuple[str, ...]
) -> None:
    with World.made(template) as world:
        made = world.do("create_note", title=title, content=content, tags=list(words))["data"]

        read = world.do("get_note", note=made["id"])["data"]

    assert read["title"] == title
    assert read.get("content", "") == content
    assert read.get("tags", []) == list(words)


@given(note=notes, blocks=st.lists(texts.filter(str.strip), max_size=6))
def test_a_note_holds_its_blocks_in_the_order_they_were_added(template: Path, note: Item, blocks: list[str]) -> None:
    with World.made(template) as world:
        made = world.do("create_note", title="Log")["data"]["id"]
        for block in blocks:
            world.do("append_to_note", note=made, block=block, separator="|")

        assert world.items()[made].content == "|".join(blocks)
