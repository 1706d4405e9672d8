"""Highlighting of Python as HTML with classes, which a strict content policy allows."""

from typing import Any

from markupsafe import Markup

MAX_CHARS = 200_000


def highlight_python(source: str) -> Markup:
    """Return a source text as HTML; Pygments escapes it."""
    from pygments import highlight  # 60 ms, and only for pages with code
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer  # pyright: ignore[reportUnknownVariableType] (Pygments has no types)

    lexer: Any = PythonLexer()  # pyright: ignore[reportUnknownVariableType] (Pygments has no types)
    formatter: Any = HtmlFormatter[str]()
    return Markup(highlight(source[:MAX_CHARS], lexer, formatter))  # pyright: ignore[reportUnknownArgumentType] (as above)
