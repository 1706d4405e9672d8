# expect: {"overdue": ["Pay invoice"], "this week": ["Call plumber", "Send forms"], "later": ["Plan holiday"], "someday": ["Learn Finnish"]}
from datetime import date, timedelta

today = date.fromisoformat(sdk.status().today)
p = sdk.projects.create("Triage")
seed = {"Pay invoice": -2, "Call plumber": 1, "Send forms": 5, "Plan holiday": 40, "Learn Finnish": None}
for title, offset in seed.items():
    deadline = today + timedelta(days=offset) if offset is not None else None
    sdk.tasks.create(title, project=p.id, deadline=deadline)

def bucket(task):
    if not task.deadline:
        return "someday"
    days = (date.fromisoformat(task.deadline) - today).days
    if days < 0:
        return "overdue"
    return "this week" if days <= 7 else "later"

result = {name: [] for name in ("overdue", "this week", "later", "someday")}
for t in sorted(sdk.tasks.list(project=p.id), key=lambda t: t.title):
    result[bucket(t)].append(t.title)
return result
