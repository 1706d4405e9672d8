# expect: {"ok": true, "names": ["Concert", "Rehearse"]}
result = sdk.batch([
    {"tool": "create_project", "args": {"name": "Concert"}},
    {"tool": "create_task", "args": {"title": "Rehearse", "project": "Concert"}},
])
ok = all(r.ok for r in result.results)
names = [p.name for p in sdk.projects.list()] + [t.title for t in sdk.tasks.list(project="Concert")]
{"ok": ok, "names": names}
