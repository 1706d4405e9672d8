# expect: {"trash": ["Broken", "Stale"], "after": ["Broken", "Fresh"]}
for title in ["Fresh", "Stale", "Broken"]:
    sdk.tasks.create(title)

for task in sdk.tasks.list():
    if task.title != "Fresh":
        sdk.tasks.delete(task.id)

trash = sdk.items.trash()
for item in trash:
    if item.label == "Broken":
        sdk.items.restore(item.id)

return {"trash": sorted(i.label for i in trash), "after": sorted(t.title for t in sdk.tasks.list())}
