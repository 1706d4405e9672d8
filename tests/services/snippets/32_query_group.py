# expect: {"done": 1, "todo": 2}
sdk.tasks.create("a")
sdk.tasks.create("b")
sdk.tasks.create("c", status="done")
rows = sdk.query("tasks", group_by="status")
return {row.status: row.count for row in rows}
