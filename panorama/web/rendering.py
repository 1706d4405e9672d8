"""Templates: one environment per language, with autoescape for everything."""

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from panorama.web.attachments import LIMITS
from panorama.web.texts import Language, Texts

HERE = Path(__file__).parent
STATIC = HERE / "static"


@cache
def load_static_files() -> Mapping[str, bytes]:
    """Return the static files by their names; they are less than 100 KB."""
    return {path.name: path.read_bytes() for path in sorted(STATIC.iterdir())}


@cache
def static_version() -> str:
    """Return a digest of the static files, which is part of their addresses so that browsers may keep them."""
    whole = hashlib.sha256()
    for content in load_static_files().values():
        whole.update(content)
    return whole.hexdigest()[:12]


@cache
def get_environment(language: Language) -> Environment:
    """Return the templates with the texts of a language."""
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    texts = Texts(language)
    shared: dict[str, Any] = {
        "t": texts,
        "upload_limits": LIMITS,
        "static": f"/static/{static_version()}",
        "language": language,
    }
    environment.globals.update(shared)  # pyright: ignore[reportUnknownMemberType] (Jinja2 declares a plain dict)
    return environment


def render(template: str, language: Language, values: Mapping[str, Any]) -> str:
    """Return a page."""
    return get_environment(language).get_template(f"{template}.html").render(values)


def compile_all(languages: Iterable[Language]) -> None:
    """Compile the templates, so that the first page does not wait for it."""
    for language in languages:
        environment = get_environment(language)
        for name in environment.list_templates():
            environment.get_template(name)
