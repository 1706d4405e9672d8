# expect: "Dear Hanne,\n\nOpen in Studio: 2\n  * Glaze (todo)\n  * Kiln (in_progress)\n"
from string import Template

studio = sdk.projects.create("Studio")
sdk.tasks.create("Glaze", project=studio.id)
sdk.tasks.create("Kiln", project=studio.id, status="in_progress")
sdk.tasks.create("Clay", project=studio.id, status="done")

letter = Template("Dear $who,\n\nOpen in ${project}: $count\n$lines\n")
open_tasks = [t for t in sdk.tasks.list(project="Studio") if t.status != "done"]
open_tasks.sort(key=lambda t: t.title)
return letter.substitute(
    who="Hanne",
    project=studio.name,
    count=len(open_tasks),
    lines="\n".join(f"  * {t.title} ({t.status})" for t in open_tasks),
)
