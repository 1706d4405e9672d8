"""The texts of the page in other languages than English, by their English ones."""

from panorama.web.translations import data, general, planning

GERMAN: dict[str, str] = {**general.TEXTS, **planning.TEXTS, **data.TEXTS}
