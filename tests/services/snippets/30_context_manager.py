# expect: {"tag_during": 1, "tag_after": 0, "entered": true}
from contextlib import contextmanager


@contextmanager
def temporary_tag(task, tag):
    before = list(task.tags or [])
    sdk.tasks.update(task.id, tags=before + [tag])
    try:
        yield sdk.tasks.get(task.id)
    finally:
        sdk.tasks.update(task.id, tags=before)


task = sdk.tasks.create("Spike", tags=["lab"])
with temporary_tag(task, "wip") as current:
    entered = "wip" in current.tags
    during = len(sdk.tasks.list(tag="wip"))
return {"tag_during": during, "tag_after": len(sdk.tasks.list(tag="wip")), "entered": entered}
