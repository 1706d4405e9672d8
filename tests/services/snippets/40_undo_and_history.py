# expect: {"title": "Final", "versions": 2, "titles": [["Draft", "Final"]], "unit": true}
from time import perf_counter

start = perf_counter()
task = sdk.tasks.create("Draft")
updated = sdk.tasks.update(task.id, title="Final")
history = sdk.history(task.id)
titles = [c.fields["title"] for c in history if c.action == "update"]
print(f"took {perf_counter() - start:.3f} s")
return {"title": updated.title, "versions": len(history), "titles": titles, "unit": len({c.unit for c in history}) == 1}
