# expect: 15
titles = [f"Step {i:02d}" for i in range(1, 16)]
for i, title in enumerate(titles, start=1):
    sdk.tasks.create(title, tags=["bulk"])
    sdk.progress(i, len(titles), f"created {title}")
len(sdk.tasks.list(tag="bulk"))
