"""Formats numbers of bytes for display."""


def format_size(count: int) -> str:
    """Return a number of bytes as text, such as 1.2 MB."""
    number = float(count)
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
