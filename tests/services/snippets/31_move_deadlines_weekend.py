# expect: {"Fri task": "2030-05-31", "Sat task": "2030-06-03", "Sun task": "2030-06-03"}
from datetime import date, timedelta

sdk.tasks.create("Fri task", deadline=date(2030, 5, 31))
sdk.tasks.create("Sat task", deadline=date(2030, 6, 1))
sdk.tasks.create("Sun task", deadline=date(2030, 6, 2))

for task in sdk.tasks.list(due_from="2030-05-01"):
    day = date.fromisoformat(task.deadline)
    if day.weekday() >= 5:
        monday = day + timedelta(days=7 - day.weekday())
        sdk.tasks.update(task, deadline=monday)

return {t.title: str(t.deadline) for t in sdk.tasks.list()}
