# expect: {"first": null, "second": 2, "new": ["n2"]}
import json

first = sdk.state.get("seen")
sdk.notes.create("n1")
seen = {n.id for n in sdk.notes.list()}
sdk.state["seen"] = sorted(seen)
sdk.notes.create("n2")
previous = set(sdk.state["seen"])
new = [n.title for n in sdk.notes.list() if n.id not in previous]
second = len(sdk.notes.list())
del sdk.state["seen"]
print(json.dumps({"keys": list(sdk.state.keys())}))
return {"first": first, "second": second, "new": new}
