# expect: {"lines": ["Bike: Chain", "Bike: Tyres", "-: Milk"], "hits": 1}
from functools import lru_cache, reduce

bike = sdk.projects.create("Bike")
sdk.tasks.create("Chain", project=bike.id)
sdk.tasks.create("Tyres", project=bike.id)
sdk.tasks.create("Milk")


@lru_cache(maxsize=None)
def project_name(project_id: str) -> str:
    return sdk.projects.get(project_id).name


lines = []
for t in sorted(sdk.tasks.list(), key=lambda t: (t.project is None, t.title)):
    lines.append(f"{project_name(t.project) if t.project else '-'}: {t.title}")
return {"lines": lines, "hits": project_name.cache_info().hits}
