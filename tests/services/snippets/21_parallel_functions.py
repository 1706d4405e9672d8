# expect: [1, 2, 0]
sdk.projects.create("P")
sdk.tasks.create("a")
sdk.tasks.create("b")
projects, tasks, notes = sdk.parallel(
    lambda: sdk.projects.list(),
    lambda: sdk.tasks.list(),
    lambda: sdk.notes.list(),
)
[len(projects), len(tasks), len(notes)]
