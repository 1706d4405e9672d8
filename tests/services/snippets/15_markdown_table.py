# expect: "| title | deadline |\n| --- | --- |\n| A | 2031-01-01 |\n| B | 2031-01-02 |"
p = sdk.projects.create("Tables")
sdk.tasks.create("B", project=p, deadline="2031-01-02")
sdk.tasks.create("A", project=p, deadline="2031-01-01")
tasks = sorted(sdk.tasks.list(project=p), key=lambda t: t.deadline)
table = sdk.markdown_table(tasks, ["title", "deadline"])
note = sdk.notes.create("Overview", content=table, project=p)
return sdk.notes.text(note).strip()
