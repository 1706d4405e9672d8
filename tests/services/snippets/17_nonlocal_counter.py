# expect: {"calls": 3, "log": ["1: create one", "2: create two", "3: create three"]}
def make_logger():
    n = 0
    log = []

    def record(what: str) -> None:
        nonlocal n
        n += 1
        log.append(f"{n}: {what}")

    def summary():
        return {"calls": n, "log": log}

    return record, summary


record, summary = make_logger()
for title in ("one", "two", "three"):
    sdk.tasks.create(title)
    record(f"create {title}")

summary()
