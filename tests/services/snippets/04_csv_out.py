# expect: "title,status,tags\nBake bread,todo,kitchen;weekend\n\"Call Zoë, again\",done,\n"
import csv
import io

sdk.tasks.create("Bake bread", tags=["weekend", "kitchen"])
t = sdk.tasks.create("Call Zoë, again")
sdk.tasks.update(t.id, status="done")

buf = io.StringIO()
writer = csv.writer(buf, lineterminator="\n")
writer.writerow(["title", "status", "tags"])
for task in sorted(sdk.tasks.list(status="any"), key=lambda t: t.title):
    writer.writerow([task.title, task.status, ";".join(sorted(task.tags or []))])

f = sdk.files.write("tasks.csv", buf.getvalue(), media_type="text/csv")
return sdk.files.text(f.id)
