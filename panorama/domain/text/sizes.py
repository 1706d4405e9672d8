"""Formats numbers of bytes and durations for display."""


def format_size(count: int) -> str:
    """Return a number of bytes as text, such as 1.2 MB."""
    number = float(count)
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def format_span(seconds: float) -> str:
    """Format a duration: 9 s, 1:05 min, 12 min."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min" if minutes > 9 else f"{minutes}:{rest:02} min" if minutes else f"{rest} s"
