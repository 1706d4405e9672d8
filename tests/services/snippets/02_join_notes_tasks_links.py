# expect: [{"project": "Attic", "tasks": 1, "notes": 0, "links": 2}, {"project": "Garden", "tasks": 2, "notes": 1, "links": 0}]
from collections import Counter

garden = sdk.projects.create(name="Garden")
attic = sdk.projects.create(name="Attic")
sdk.tasks.create(title="Prune roses", project="Garden")
sdk.tasks.create(title="Order compost", project=garden)
sdk.tasks.create(title="Measure the beams", project=attic.id)
sdk.notes.create(title="Planting plan", content="# Beds\n\n- tulips", project=garden["id"])
sdk.links.create(url="https://example.org/beams", title="Beams", project=attic)
sdk.links.create(url="https://example.org/wool", title="Wool", project=attic)

tasks = Counter(t.project for t in sdk.tasks.list())
notes = Counter(n.project for n in sdk.notes.list())
links = Counter(l.project for l in sdk.links.list())

rows = [
    {"project": p.name, "tasks": tasks[p.id], "notes": notes[p.id], "links": links[p.id]}
    for p in sdk.projects.list()
]
sorted(rows, key=lambda r: r["project"])
