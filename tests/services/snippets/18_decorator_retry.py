# expect: {"value": "Deep work", "attempts": 3}
from functools import wraps
from sdk import NotFoundError


def retry(times):
    def decorate(fn):
        @wraps(fn)
        def wrapper(*args, **kwargs):
            for attempt in range(1, times + 1):
                try:
                    return fn(*args, **kwargs), attempt
                except NotFoundError:
                    if attempt == times:
                        raise
                    if attempt == times - 1:
                        sdk.tasks.create("Deep work", tags=["focus"])
        return wrapper
    return decorate


@retry(times=3)
def fetch(title):
    return sdk.tasks.get(title)


task, attempts = fetch("Deep work")
return {"value": task.title, "attempts": attempts}
