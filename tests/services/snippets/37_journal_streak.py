# expect: {"streak": 3, "days": ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-06"]}
from datetime import date, datetime, timedelta, timezone

for day in (1, 2, 2, 3, 6):
    sdk.journal.create(text=f"ran on day {day}", at=datetime(2026, 3, day, 12, 0, tzinfo=timezone.utc))

entries = sdk.journal.list(first_day="2026-03-01", last_day="2026-03-31")
days = sorted({datetime.fromisoformat(e.at).date() for e in entries})
best = run = 0
previous = None
for d in days:
    run = run + 1 if previous and d - previous == timedelta(days=1) else 1
    best = max(best, run)
    previous = d
return {"streak": best, "days": [d.isoformat() for d in days]}
