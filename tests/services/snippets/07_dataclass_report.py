# expect: [{"name": "Alpha", "open": 1, "done": 2, "ratio": 0.67}, {"name": "Beta", "open": 1, "done": 0, "ratio": 0.0}]
from dataclasses import dataclass, asdict, field


@dataclass
class ProjectStats:
    name: str
    open: int = 0
    done: int = 0
    ratio: float = field(init=False, default=0.0)

    def finish(self) -> "ProjectStats":
        total = self.open + self.done
        self.ratio = round(self.done / total, 2) if total else 0.0
        return self


for name, statuses in {"Alpha": ["done", "done", "todo"], "Beta": ["in_progress"]}.items():
    p = sdk.projects.create(name)
    for i, status in enumerate(statuses):
        sdk.tasks.create(f"{name} {i}", project=p.id, status=status)

stats = []
for p in sdk.projects.list():
    s = ProjectStats(p.name)
    for t in sdk.tasks.list(project=p.id, status="any"):
        if t.status == "done":
            s.done += 1
        else:
            s.open += 1
    stats.append(s.finish())
return [asdict(s) for s in sorted(stats, key=lambda s: s.name)]
