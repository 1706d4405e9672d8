# expect: [["2030-05", 2, "Mow, Weed"], ["2030-06", 1, "Harvest"]]
from itertools import groupby, chain
from operator import attrgetter

sdk.tasks.create("Mow", deadline="2030-05-02")
sdk.tasks.create("Weed", deadline="2030-05-30")
sdk.tasks.create("Harvest", deadline="2030-06-15")

tasks = sorted(sdk.tasks.list(), key=attrgetter("deadline", "title"))
months = []
for month, items in groupby(tasks, key=lambda t: t.deadline[:7]):
    items = list(items)
    months.append([month, len(items), ", ".join(i.title for i in items)])
months
