# expect: {"a": 1, "b": 2}
import asyncio

pa = sdk.projects.create("a")
pb = sdk.projects.create("b")
sdk.tasks.create("x", project=pa.id)
sdk.tasks.create("y", project=pb.id)
sdk.tasks.create("z", project=pb.id)


async def count(project):
    tasks = sdk.tasks.list(project=project.id)
    return project.name, len(tasks)


async def main():
    results = await asyncio.gather(*(count(p) for p in sdk.projects.list()))
    return dict(sorted(results))


return await main()
