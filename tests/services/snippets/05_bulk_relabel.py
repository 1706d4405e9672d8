# expect: {"changed": 3, "tags": {"home": 3, "urgent": 1, "work": 1}}
from collections import Counter

sdk.tasks.create("Fix tap", tags=["house"])
sdk.tasks.create("Paint fence", tags=["house", "urgent"])
sdk.tasks.create("Sweep", tags=["house", "home"])
sdk.tasks.create("Write report", tags=["work"])

changed = 0
for task in sdk.tasks.list(tag="house"):
    tags = {("home" if tag == "house" else tag) for tag in task.tags}
    sdk.tasks.update(task.id, tags=sorted(tags))
    changed += 1

counts = Counter(tag for t in sdk.tasks.list() for tag in (t.tags or []))
return {"changed": changed, "tags": dict(sorted(counts.items()))}
