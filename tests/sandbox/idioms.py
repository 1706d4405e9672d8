"""What scripts say of all but classes, by what it is."""

# ruff: noqa: E501 - scripts, not code of ours

IDIOMS = {
    "f-strings with formats, conversions and nesting": """
        name, part = "Ada", 0.256
        return f"{name!r:>8}|{part:6.1%}|{1234567:,}|{'x' * 3:-^9}|{len(name)=}|{part:.{2}f}|{ {'a': 1}['a'] }"
    """,
    "items and slices are changed in place": """
        d, grid = {"n": 1}, [[0] * 3 for _ in range(2)]
        d["n"] += 4
        d["new"] = d.get("new", 0) + 1
        grid[1][2] -= 5
        grid[0][1:] = [7, 8]
        del grid[1][0], d["new"]
        return d, grid
    """,
    "the parts of d[k] += v are evaluated once and in order": """
        said = []
        def say(x):
            said.append(x)
            return x
        d = {1: 10}
        d[say(1)] += say(2)
        return said, d
    """,
    "attributes are changed in place": """
        class Box:
            size = 1
        box = Box()
        box.size += 1
        box._hidden = 3
        box._hidden *= 2
        Box.size -= 5
        del box._hidden
        return box.size, Box.size, hasattr(box, "_hidden")
    """,
    "the walrus": """
        if (n := len("abc")) > 2:
            found = [y for x in range(6) if (y := x * 2) % 4 == 0]
        return n, found, y
    """,
    "comprehensions": """
        rows = [{"a": i, "b": i % 2} for i in range(5)]
        return [r["a"] for r in rows if r["b"]], {r["a"]: r["b"] for r in rows}, {r["b"] for r in rows}, sum(x for x in range(3)), [[y for y in range(x)] for x in range(3)]
    """,
    "unpacking": """
        first, *middle, last = range(5)
        (a, b), [c, d] = (1, 2), [3, 4]
        a, b = b, a
        return first, middle, last, a, b, c, d, [*middle, *"xy"], {**{"k": 1}, "l": 2}
    """,
    "arguments of every kind": """
        def f(a, /, b, *args, c=3, **kw):
            return a, b, args, c, sorted(kw.items())
        return f(1, 2), f(1, 2, 3, c=4, d=5), f(*[1, 2, 3], **{"z": 0}), (lambda x, *y, k=1: (x, y, k))(1, 2, k=3)
    """,
    "closures and nonlocal": """
        def counter():
            n = 0
            def step(by=1):
                nonlocal n
                n += by
                return n
            return step
        step = counter()
        return step(), step(5)
    """,
    "generators": """
        def numbers(n):
            while n:
                got = yield n
                n -= got or 1
        def both():
            yield from numbers(2)
            yield from (x * x for x in range(3))
            return 1
        g = numbers(5)
        return next(g), g.send(3), list(g), list(both())
    """,
    "exceptions": """
        log = []
        class Late(ValueError):
            def __init__(self, days):
                super().__init__(f"{days} days")
                self.days = days
        for days in (0, 3):
            try:
                if days:
                    raise Late(days) from KeyError("x")
            except (Late, TypeError) as e:
                log.append((type(e).__name__, e.__class__.__name__, str(e), e.args, e.days, repr(e)))
            else:
                log.append("fine")
            finally:
                log.append("done")
        try:
            {}["k"]
        except LookupError as e:
            log.append(e.args[0])
        try:
            assert 1 > 2, "no"
        except AssertionError as e:
            log.append(str(e))
        return log
    """,
    "with": """
        log = []
        class Step:
            def __init__(self, name):
                self.name = name
            def __enter__(self):
                log.append(f"in {self.name}")
                return self
            def __exit__(self, kind, error, trace):
                log.append(kind.__name__ if kind else "ok")
                return True
        with Step("a") as a, Step("b"):
            log.append(a.name)
        with Step("c"):
            raise KeyError("x")
        return log
    """,
    "match": """
        from dataclasses import dataclass
        from enum import Enum
        class Color(Enum):
            RED = 1
        @dataclass
        class Point:
            x: int
            y: int
        def tell(value):
            match value:
                case {"type": "create", "id": int(i)}:
                    return f"created {i}"
                case {"type": "delete", **rest} if rest:
                    return sorted(rest)
                case Point(x=0, y=0):
                    return "origin"
                case Point(x, 0) | Point(0, x):
                    return f"axis {x}"
                case Color.RED:
                    return "red"
                case [first, *others]:
                    return first, others
                case "ping" | "pong" as word:
                    return word
                case str() | bytes():
                    return "text"
                case -1 | 2.5 | None | True:
                    return "constant"
                case _:
                    return "other"
        return [tell(v) for v in ({"type": "create", "id": 7}, {"type": "delete", "x": 1}, Point(0, 0), Point(4, 0), Point(0, 5), Color.RED, [1, 2, 3], "pong", "x", -1, None, True, 3, Point(1, 1))]
    """,
    "decorators": """
        import functools
        def logged(f):
            @functools.wraps(f)
            def wrapper(*args, **kwargs):
                wrapper.calls += 1
                return f(*args, **kwargs)
            wrapper.calls = 0
            return wrapper
        @logged
        def add(a, b):
            "Adds."
            return a + b
        class Sizes:
            @functools.cached_property
            def total(self):
                self.asked = getattr(self, "asked", 0) + 1
                return 42
        @functools.lru_cache(maxsize=None)
        def fib(n):
            return n if n < 2 else fib(n - 1) + fib(n - 2)
        @functools.total_ordering
        class Version:
            def __init__(self, n):
                self.n = n
            def __eq__(self, other):
                return self.n == other.n
            def __lt__(self, other):
                return self.n < other.n
        s = Sizes()
        return add(1, 2), add.calls, add.__name__, add.__doc__, s.total + s.total, s.asked, fib(30), Version(2) >= Version(1)
    """,
    "asynchronous code, run in order": """
        import asyncio
        log = []
        async def fetch(n):
            await asyncio.sleep(0)
            log.append(n)
            return n * 2
        class Session:
            async def __aenter__(self):
                return self
            async def __aexit__(self, *error):
                log.append("closed")
        async def numbers():
            for i in range(3):
                yield i
        async def main():
            one = await fetch(1)
            many = await asyncio.gather(fetch(2), fetch(3))
            task = asyncio.create_task(fetch(4))
            four = await task
            async with Session() as s:
                found = [x async for x in numbers()]
            total = 0
            async for x in numbers():
                total += x
            async with asyncio.Semaphore(2):
                five = await asyncio.wait_for(fetch(5), timeout=1)
            return one, list(many), four, found, total, five, task.result()
        return asyncio.run(main()), log
    """,
    "loops": """
        out = []
        for i, (a, b) in enumerate(zip([1, 2, 3], "abc"), start=1):
            if i == 2:
                continue
            out.append((i, a, b))
        else:
            out.append("else")
        n = 3
        while True:
            n -= 1
            if not n:
                break
        return out, n
    """,
    "formatting by method and by percent": """
        row = {"name": "Bo", "n": 3}
        return "{} {:>5} {!r}".format("a", 1, "b"), "{name}:{n:02d}".format(**row), "{0[name]}".format(row), "%s=%05.2f %(n)d"[:0] + "%s=%05.2f" % ("pi", 3.14159), "{:{w}.{p}f}".format(3.14159, w=8, p=2), "{n}".format_map(row), list(map("<{}>".format, [1, 2])), "{{}}".format()
    """,
    "looking at values": """
        class A:
            x = 1
            def __init__(self):
                self.y = 2
        a = A()
        setattr(a, "z", 3)
        delattr(a, "y")
        return getattr(a, "x"), getattr(a, "nope", None), hasattr([], "__len__"), hasattr(a, "__iter__"), vars(a), type(a).__name__, type(3) is int, type(int) is type, isinstance(int, type), callable(len), isinstance(3, (int, str)), type(None), (lambda: 0).__name__
    """,
    "names with underscores": """
        _cache = {}
        __version__ = "1"
        def _key(x, _sep=":"):
            return f"k{_sep}{x}"
        for _ in range(2):
            _cache[_key(_)] = _
        _getattr_ = _tmp0 = _print = 5
        return _cache, _getattr_ + _tmp0, __version__
    """,
    "built-in names as the script's own": """
        id, type, input, filter = 1, "task", [3], {"status": "open"}
        def open(path):
            return path
        max = len
        list = sorted
        return id, type, input, filter, open("x"), max([1]), list([2, 1])
    """,
    "the main guard": """
        def main():
            return 5
        if __name__ == "__main__":
            result = main()
        return result, __name__
    """,
    "optional imports": """
        try:
            import numpy_that_is_not_there as np
        except ImportError:
            np = None
        try:
            from nothing_at_all import x
        except ModuleNotFoundError if False else ImportError as e:
            x = 1
        return np, x
    """,
    "contexts from generators": """
        from contextlib import contextmanager, suppress, nullcontext, closing
        log = []
        @contextmanager
        def step(name):
            log.append(name)
            try:
                yield name.upper()
            finally:
                log.append("end")
        with step("a") as a, suppress(KeyError), nullcontext(3) as three:
            {}["k"]
        @step("b")
        def twice(x):
            return x * 2
        return log, a, three, twice(2), twice(3), twice.__name__, log
    """,
    "copies": """
        import copy
        from dataclasses import dataclass
        @dataclass
        class A:
            parts: list
        class B:
            def __init__(self):
                self._x = [1]
        a = A([1])
        b, c = copy.copy(a), copy.deepcopy(a)
        d = copy.deepcopy(B())
        c.parts.append(2)
        return a.parts, b.parts is a.parts, c.parts, d._x
    """,
    "copies of all kinds": """
        import copy
        from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
        from dataclasses import asdict, astuple, dataclass, field, fields, replace
        from enum import Enum
        from types import SimpleNamespace
        class Colour(Enum):
            RED = 1
        @dataclass
        class P:
            x: int
            tags: list = field(default_factory=list)
        @dataclass(frozen=True, slots=True)
        class Q:
            p: P
            d: dict
        class Own(list):
            def __init__(self, *a):
                super().__init__(*a)
                self.extra = [1]
        class Node:
            def __init__(self, parent=None):
                self.parent, self.kids = parent, []
        class Wrong(ValueError):
            pass
        T = namedtuple("T", "a b")
        node = Node()
        node.kids.append(Node(node))
        same = copy.deepcopy(node)
        q = Q(P(1, ["a"]), {"k": P(2)})
        q2 = copy.deepcopy(q)
        own = Own([1, [2]])
        deep, flat = copy.deepcopy(own), copy.copy(own)
        error = Wrong("x", [1])
        error.more = [2]
        error2 = copy.deepcopy(error)
        many = defaultdict(list, {"a": [1]})
        many2 = copy.deepcopy(many)
        many2["a"].append(2)
        many2["z"].append(1)
        few = copy.deepcopy(deque([[1]], maxlen=3))
        space = SimpleNamespace(a=[1])
        space2 = copy.deepcopy(space)
        space2.a.append(2)
        circle = [1]
        circle.append(circle)
        circle2 = copy.deepcopy(circle)
        return [
            same.kids[0].parent is same, same is not node, q2 == q, q2.p is not q.p, asdict(q), astuple(q),
            asdict(q, dict_factory=lambda pairs: len(pairs)), replace(q, p=P(5)).p.x, [f.name for f in fields(P(1))],
            deep, deep.extra, deep[1] is own[1], flat[1] is own[1], flat.extra is own.extra, type(deep).__name__,
            error2.args, error2.more, error2.more is error.more, type(error2).__name__, copy.copy(Counter("aab")),
            many, many2, few.maxlen, list(few), repr(space), repr(space2), copy.deepcopy(Colour.RED) is Colour.RED,
            copy.deepcopy(T(1, [2])), copy.copy(OrderedDict(a=1)), copy.deepcopy({1: (1, [2])}), circle2[1] is circle2,
            copy.deepcopy((1, "a")), copy.copy({1, 2}), copy.deepcopy(frozenset([(1, 2)])), copy.copy(len) is len,
        ]
    """,
    "very large numbers": "return str(7 ** 3000 // 3 ** 2000)[:10], divmod(10 ** 5000, 10 ** 20)[1], int('9' * 4000) % 7",
    "dates": """
        from datetime import datetime, date, timedelta, timezone
        from zoneinfo import ZoneInfo
        d = datetime.strptime("2026-11-01 15:30", "%Y-%m-%d %H:%M")
        z = datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))
        return d.strftime("%A %d %B %Y"), (date(2026, 11, 20) - d.date()).days, d.isoformat(), z.utcoffset(), z.astimezone(timezone.utc).isoformat(), f"{d:%d/%m}", z.tzname(), d + timedelta(weeks=1), repr(z), date.today() == datetime.now().date()
    """,
}  # fmt: skip
