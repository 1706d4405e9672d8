# expect: {"n": 5, "mean": 44.8, "median": 30, "stdev": 39.73, "longest": "Build shed"}
import statistics
import re

for t, d in [("Fix bike", "30m"), ("Build shed", "2h"), ("Email", "5m"), ("Plan", "45m"), ("Read", "24m")]:
    sdk.tasks.create(t, notes=f"estimate: {d}")

def minutes(text: str | None) -> int:
    m = re.search(r"estimate: (\d+)([hm])", text or "")
    if not m:
        return 0
    return int(m.group(1)) * (60 if m.group(2) == "h" else 1)

est = {t.title: minutes(t.notes) for t in sdk.tasks.list()}
values = list(est.values())
return {
    "n": len(values),
    "mean": statistics.mean(values),
    "median": statistics.median(values),
    "stdev": round(statistics.pstdev(values), 2),
    "longest": max(est, key=est.get),
}
