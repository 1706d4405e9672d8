"""The texts of the page and of the views in the chat in other languages than English, by their English ones."""

from panorama.translations import chat, data, errors, general, planning, settings

GERMAN: dict[str, str] = {
    **general.TEXTS, **planning.TEXTS, **data.TEXTS, **chat.TEXTS, **settings.TEXTS, **errors.TEXTS,
}  # fmt: skip
