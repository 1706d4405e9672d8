# expect: {"done": ["Oil hinges"], "in_progress": ["Sand door"], "todo": ["Buy paint", "Paint door"]}
from collections import defaultdict

project = sdk.projects.create("Door")
for title, status in [("Buy paint", "todo"), ("Sand door", "in_progress"), ("Paint door", "todo"), ("Oil hinges", "done")]:
    sdk.tasks.create(title, project=project.id, status=status)

groups = defaultdict(list)
for task in sdk.tasks.list(project=project, status="any"):
    groups[task.status].append(task.title)

return {status: sorted(titles) for status, titles in sorted(groups.items())}
