# expect: [["Call Mum", true], ["Stretch", false]]
from datetime import datetime, timedelta

base = datetime(2031, 7, 1, 9, 0)
task = sdk.tasks.create("Birthday")
sdk.reminders.create("Call Mum", at=base, item=task.id)
r = sdk.reminders.create("Stretch", at=(base + timedelta(hours=2)).isoformat(), recurrence="FREQ=DAILY")
sdk.reminders.update(r.id, enabled=False)
return [[x.title, x.enabled] for x in sdk.reminders.list()]
