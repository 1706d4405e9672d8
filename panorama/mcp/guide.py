"""The guide for models: how to write a script worth saving, with an example; under 2 KB."""

GUIDE = '''\
A script worth saving does one thing a user asks for again, takes what varies as parameters, and gives a short answer.

```python
"""Move what is overdue to a new day, and list it. Proposes only, unless `apply` is set."""

from datetime import date
from typing import Literal


def main(day: date, project: str = "", which: Literal["all", "unimportant"] = "all", apply: bool = False) -> str:
    """Return the tasks as a table in Markdown.

    Args:
        day: The new deadline.
        project: Only this project, by its name or id.
        apply: Move them; otherwise they are only proposed.
    """
    late = sdk.tasks.list(view="overdue", project=project or None)
    moved = [task for task in late if which == "all" or not task.important]
    for at, task in enumerate(moved, 1):
        if apply:
            sdk.tasks.update(task, deadline=day)
            sdk.progress(at, len(moved))
    return sdk.markdown_table(moved, columns=["title", "deadline"]) if moved else "Nothing is overdue."
```

- First sentence of the docstring: what it does, in the user's words. They read it, and the code, before they approve.
- Parameters have types and defaults: str, int, float, bool, date, datetime, list[str], Literal, X | None.
- Running it twice does no harm: check first, change only what differs. If nothing matches, say so; do not fail.
- The user decides what the data cannot: propose by default, change with `apply`.
- Return a table or a few numbers; long things go into sdk.files.write(...) and you return its name.
- Find functions with search_sdk; another saved script is sdk.scripts.plan_day(day="today").

Then: run_code until it is right, save_script, run_script with dry_run=true, show the user what it would do, and
promote_script: only they can approve. Any change of the text needs their approval again.
'''
