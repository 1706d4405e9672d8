# expect: {"DO": ["Tax return"], "PLAN": ["Learn to weld"], "DELEGATE": ["Book room"], "DROP": ["Sort cables"]}
from enum import Enum, auto


class Quadrant(Enum):
    DO = auto()
    PLAN = auto()
    DELEGATE = auto()
    DROP = auto()


def quadrant(task) -> Quadrant:
    match (bool(task.important), bool(task.urgent)):
        case (True, True):
            return Quadrant.DO
        case (True, False):
            return Quadrant.PLAN
        case (False, True):
            return Quadrant.DELEGATE
        case _:
            return Quadrant.DROP


sdk.tasks.create("Tax return", important=True, urgent=True)
sdk.tasks.create("Learn to weld", important=True)
sdk.tasks.create("Book room", urgent=True)
sdk.tasks.create("Sort cables")

out = {q.name: [] for q in Quadrant}
for task in sdk.tasks.list():
    out[quadrant(task).name].append(task.title)
out
