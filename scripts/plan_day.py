"""Plan a day in boxes of time: events and what has a time keep it, and overdue, due or begun tasks fill the hours.

Nothing is changed unless `apply` is set; then each task gets its time of work. For today the plan begins now; when the
hours of today are over, it is made for tomorrow. What has a time on the day stays where it is, so another run adds no
more than what still fits.
"""

from datetime import date, datetime, timedelta

LENGTHS = (5, 480)
TITLE_CHARS = 70
LEFT_SHOWN = 8


def main(
    day: date | None = None,
    begin: str = "09:00",
    end: str = "17:00",
    minutes: int = 45,
    pause: int = 10,
    apply: bool = False,
) -> str:
    """Return the plan in Markdown.

    Args:
        day: The day to plan; if left out today, or tomorrow when the hours of today are over.
        begin: When work begins, as 09:00.
        end: When work ends, as 17:00.
        minutes: How long a task takes that does not say so itself, 5 to 480.
        pause: Minutes of rest after each task, 0 to 120.
        apply: Give the tasks their times; otherwise they are only proposed.
    """
    hours = clock(begin, "begin"), clock(end, "end")
    if hours[0] >= hours[1] or not LENGTHS[0] <= minutes <= LENGTHS[1] or not 0 <= pause <= 120:
        raise ValueError(
            f"begin {begin}, end {end}, minutes {minutes}, pause {pause}: end comes after begin, "
            "minutes are 5 to 480, pause is 0 to 120."
        )
    now = datetime.fromisoformat(sdk.status().now[:16])
    if day and not 0 <= (day - now.date()).days <= 366:
        raise ValueError(f"{day} is not within a year from today.")
    chosen = day or now.date()
    passed = -(-(now.hour * 60 + now.minute) // 5) * 5 if chosen == now.date() else 0
    if not day and passed >= hours[1]:
        chosen, passed = chosen + timedelta(days=1), 0
    fixed, loose = sorted_out(chosen)
    boxes, left = filled(fixed, loose, (max(hours[0], passed), hours[1]), minutes, pause)
    if apply:
        for at, length, task in boxes:
            sdk.tasks.update(task, scheduled_at=f"{chosen}T{worded(at)}", scheduled_minutes=length)
    return told(chosen, fixed, boxes, left, apply)


def clock(text: str, name: str) -> int:
    """Return a time of day in minutes."""
    hour, colon, minute = text.strip().partition(":")
    if colon and hour.isdecimal() and minute.isdecimal() and int(hour) < 24 and int(minute) < 60:
        return int(hour) * 60 + int(minute)
    raise ValueError(f"{name} is {text!r}; give a time of day, as 09:00.")


def sorted_out(day: date) -> tuple[list, list]:
    """Return the boxes that stand on a day, and the tasks that want one, the most pressing first."""
    fixed, loose = events(day), []
    for task in sdk.tasks.list():
        at, deadline = (task.scheduled_at or "")[:10], (task.deadline or "9999")[:10]
        if at == str(day):
            fixed.append((clock(task.scheduled_at[11:16], "scheduled_at"), task.scheduled_minutes, task))
        elif at < str(day) and (deadline <= str(day) or at or task.urgent or task.status == "in_progress"):
            loose.append((deadline > str(day), not task.urgent, not task.important, deadline, task.rank, task))
        elif not at and task.important and deadline <= str(day + timedelta(days=3)):
            loose.append((True, True, False, deadline, task.rank, task))
    fixed.sort(key=lambda each: each[0])
    return fixed, [each[-1] for each in sorted(loose, key=lambda each: each[:-1])]


def events(day: date) -> list[tuple]:
    """Return the boxes of the events of a day; those of all day, and cancelled ones, leave the hours free."""
    boxes = []
    for entry in sdk.events.list(day=day):
        if entry.kind == "event" and not entry.all_day and entry.status != "cancelled":
            start = clock(entry.starts_at[11:16], "starts_at") if entry.starts_at[:10] == str(day) else 0
            end = clock(entry.ends_at[11:16], "ends_at") if entry.ends_at[:10] == str(day) else 24 * 60
            boxes.append((start, end - start, entry))
    return boxes


def filled(fixed: list, loose: list, hours: tuple[int, int], minutes: int, pause: int) -> tuple[list, list]:
    """Return a box for each task that fits between those that stand, and the tasks that do not fit."""
    begin, end = hours
    taken = [(at, at + (length or minutes) + pause) for at, length, _ in fixed]
    boxes, left = [], []
    for task in loose:
        length = task.scheduled_minutes or minutes
        starts = sorted(at for at in (begin, *(until for _, until in taken)) if at >= begin and at + length <= end)
        free = (at for at in starts if all(until <= at or at + length + pause <= start for start, until in taken))
        if (at := next(free, None)) is None:
            left.append(task)
        else:
            taken.append((at, at + length + pause))
            boxes.append((at, length, task))
    return boxes, left


def told(day: date, fixed: list, boxes: list, left: list, applied: bool) -> str:
    """Return the plan as a list."""
    head = f"# {day:%A} {day.day} {day:%B %Y}"
    if not (fixed or boxes or left):
        return f"{head}\n\nNothing has a time, is due or begun: the day is free."
    rows = [(at, f"{cut(task.title)} (stands)") for at, _, task in fixed]
    rows += [(at, f"{cut(task.title)} ({length} min)") for at, length, task in boxes]
    lines = [f"- {worded(at)} {text}" for at, text in sorted(rows)]
    if left:
        lines += ["", f"**No room for {len(left)}:**", "", *(f"- {cut(task.title)}" for task in left[:LEFT_SHOWN])]
        lines += [f"- … and {len(left) - LEFT_SHOWN} more"] if len(left) > LEFT_SHOWN else []
    done = f"{len(boxes)} given a time." if applied else "Nothing was changed; with `apply` the tasks get these times."
    return "\n".join([head, "", *lines, "", done])


def worded(at: int) -> str:
    """Return minutes as a time of day: 09:05."""
    return f"{at // 60:02}:{at % 60:02}"


def cut(title: str) -> str:
    """Return a title that fits on a line."""
    return title if len(title) <= TITLE_CHARS else title[: TITLE_CHARS - 1] + "…"
