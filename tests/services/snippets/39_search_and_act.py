# expect: {"hits": 2, "kinds": ["note", "task"], "tagged": 1}
sdk.notes.create("Knee", "Physio says: stretch before jogging.")
sdk.tasks.create("Book physio appointment")
sdk.tasks.create("Buy milk")

hits = sdk.search("physio")
for hit in hits:
    match hit.kind:
        case "task":
            sdk.tasks.update(hit.id, tags=["health"])
        case "note" | "link":
            sdk.notes.append(hit.id, "- seen")
        case other:
            print(f"skipping {other}")

return {"hits": len(hits), "kinds": sorted(h.kind for h in hits), "tagged": len(sdk.tasks.list(tag="health"))}
