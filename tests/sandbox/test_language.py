"""The language of scripts: what runs gives what plain Python gives."""

# ruff: noqa: E501 - scripts, not code of ours

import textwrap

import pytest

from panorama.sandbox import language
from panorama.sandbox.facades import Facade
from tests.sandbox.running import SDK, modules, ran, ran_plainly

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
    "a plain class": """
        class Account:
            rate = 2
            def __init__(self, start=0):
                self._total = start
                self.__secret = start + 1
                self.history = []
            def add(self, n):
                self._total += n
                self.__secret += n
                self.history.append(n)
                return self
            @property
            def total(self):
                return self._total
            @total.setter
            def total(self, value):
                self._total = value
            @classmethod
            def of(cls, *parts):
                made = cls()
                for part in parts:
                    made.add(part)
                return made
            @staticmethod
            def twice(x):
                return x * 2
            def __secretly(self):
                return self.__secret
            def tell(self):
                return self.__secretly()
            def __eq__(self, other):
                return self._total == other._total
            def __lt__(self, other):
                return self._total < other._total
            def __hash__(self):
                return hash(self._total)
            def __repr__(self):
                return f"<{self.__class__.__name__} {self._total}>"
            __str__ = __repr__
            def __len__(self):
                return len(self.history)
            def __getitem__(self, i):
                return self.history[i]
            def __contains__(self, x):
                return x in self.history
            def __iter__(self):
                return iter(self.history)
            def __call__(self, x):
                return x + self.rate
            def __add__(self, other):
                return Account(self._total + other._total)
            def __iadd__(self, n):
                return self.add(n)
            def __bool__(self):
                return self._total > 0
            def __enter__(self):
                return self
            def __exit__(self, *error):
                return False
        a = Account.of(1, 2)
        a.total = 10
        a += 5
        b = Account(15)
        return (a.total, a == b, a < b, repr(a), str(b), len(a), a[0], 2 in a, list(a), a(1), repr(a + b), bool(b), a.twice(4), {a: 1}[b], a.tell(), sorted([b, Account(1)])[0].total, Account.__name__, a.__dict__["_total"])
    """,
    "inheritance and super": """
        class Base:
            kind = "base"
            def __init__(self, x, **kw):
                super().__init__(**kw)
                self.x = x
            def tell(self):
                return f"{self.kind}:{self.x}"
        class Mixin:
            def __init__(self, y=0, **kw):
                super().__init__(**kw)
                self.y = y
        class Child(Base, Mixin):
            kind = "child"
            def __init__(self, x, y):
                Base.__init__(self, x, y=y)
            def tell(self):
                return super().tell() + f"/{self.y}"
        c = Child(1, 2)
        return c.tell(), isinstance(c, Mixin), issubclass(Child, Base), super(Child, c).tell(), type(c) is Child
    """,
    "classes derived from Python's own": """
        import json
        class Bag(dict):
            def __missing__(self, key):
                self[key] = 0
                return 0
            def __setitem__(self, key, value):
                dict.__setitem__(self, key.lower(), value)
        class Stack(list):
            def push(self, x):
                self.append(x)
                return self
        class Encoder(json.JSONEncoder):
            def default(self, o):
                return sorted(o) if isinstance(o, set) else super().default(o)
        class Name(str):
            def shout(self):
                return self.upper() + "!"
        b = Bag()
        b["A"] += 2
        return dict(b), Stack([1]).push(2), json.dumps({"s": {2, 1}}, cls=Encoder), Name("x").shout(), "{} {n}".format(Name("y"), n=1)
    """,
    "an attribute bag": """
        class Bag(dict):
            def __getattr__(self, name):
                try:
                    return self[name]
                except KeyError:
                    raise AttributeError(name) from None
        b = Bag(a=1)
        return b.a, hasattr(b, "b"), getattr(b, "b", 2)
    """,
    "dataclasses": """
        from dataclasses import dataclass, field, asdict, astuple, replace, fields, InitVar
        from typing import ClassVar
        @dataclass(order=True)
        class Item:
            rank: int
            name: str = "x"
            tags: list[str] = field(default_factory=list, compare=False)
            _seen: int = field(default=0, repr=False, compare=False)
            count: ClassVar[int] = 7
            scale: InitVar[int] = 2
            def __post_init__(self, scale):
                self.rank *= scale
            @property
            def label(self) -> str:
                return f"{self.rank}-{self.name}"
        @dataclass(frozen=True)
        class Point:
            x: int
            y: int = 0
            def __post_init__(self):
                object.__setattr__(self, "x", self.x + 1)
        @dataclass
        class Child(Item):
            extra: str = ""
        @dataclass(slots=True, kw_only=True)
        class Small:
            a: int
        i = Item(1, tags=["t"])
        i._seen += 1
        try:
            Point(1).x = 5
        except Exception as e:
            frozen = type(e).__name__
        return (asdict(i), astuple(Point(1)), i < Item(2), i.label, replace(i, name="z", scale=1).name, [f.name for f in fields(Item)], Item.count, frozen, Child(1, extra="e").extra, Small(a=1).a, Point(1) == Point(1), hash(Point(1)) == hash(Point(1)), repr(Point(1)).endswith("Point(x=2, y=0)"))
    """,
    "enumerations": """
        from enum import Enum, IntEnum, Flag, StrEnum, auto, unique
        @unique
        class Color(Enum):
            RED = 1
            GREEN = "g"
            def tell(self):
                return f"{self.name.lower()}={self.value}"
            @classmethod
            def first(cls):
                return list(cls)[0]
            @property
            def warm(self):
                return self is Color.RED
        class Level(IntEnum):
            LOW = auto()
            HIGH = auto()
        class Mode(Flag):
            R = auto()
            W = auto()
            RW = R | W
        class Kind(str, Enum):
            A = "a"
        class Word(StrEnum):
            HELLO = auto()
        class Planet(Enum):
            EARTH = (1, 2)
            def __init__(self, mass, radius):
                self.mass = mass
                self.radius = radius
        Size = Enum("Size", "S M L")
        return (Color(1).tell(), Color["GREEN"].value, [c.name for c in Color], Color.first().warm, Level.HIGH > Level.LOW, Level.HIGH + 1, (Mode.R | Mode.W) == Mode.RW, Mode.RW.value, Kind.A == "a", Kind("a").name, str(Word.HELLO), Planet.EARTH.radius, [s.value for s in Size], Color.RED in {Color.RED: 1}, list(Color.__members__), isinstance(Level.LOW, Enum), isinstance(Level.LOW, int), len(Color), repr(Color.RED))
    """,
    "named tuples": """
        from collections import namedtuple
        from typing import NamedTuple
        Point = namedtuple("Point", ["x", "y"], defaults=[0])
        class Row(NamedTuple):
            id: int
            name: str = "n"
            def tell(self):
                return f"{self.id}{self.name}"
        class Wide(namedtuple("Base", "a b")):
            def total(self):
                return self.a + self.b
        p, r = Point(1), Row(2)
        return p.x, p._replace(y=5), r.tell(), r._asdict(), Row._fields, Point._make([3, 4]), Wide(1, 2).total(), [*p], p == (1, 0), repr(r)
    """,
    "typed dicts and other names of typing": """
        from typing import TypedDict, Optional, Any, cast, TypeVar, Generic, NewType, Callable, Protocol, Literal, Union, List
        class Movie(TypedDict, total=False):
            title: str
            year: int
        T = TypeVar("T")
        class Stack(Generic[T]):
            def __init__(self) -> None:
                self.items: list[T] = []
            def push(self, item: T) -> "Stack[T]":
                self.items.append(item)
                return self
        class HasName(Protocol):
            name: str
            def tell(self) -> str: ...
        UserId = NewType("UserId", int)
        Handler = Callable[[int], Optional[str]]
        def f(x: Union[int, str], *rest: Any, mode: Literal["a", "b"] = "a") -> List[int]:
            y: int = 3
            z: int
            return [y]
        return Movie(title="x", year=1), Stack[int]().push(1).items, UserId(5), cast(int, "s"), f(1)
    """,
    "abstract classes": """
        from abc import ABC, ABCMeta, abstractmethod
        from collections.abc import Iterator, Mapping
        class Shape(ABC):
            @property
            @abstractmethod
            def area(self): ...
        class Square(Shape):
            def __init__(self, a):
                self._a = a
            @property
            def area(self):
                return self._a ** 2
        class Old(metaclass=ABCMeta):
            @abstractmethod
            def run(self): ...
        class Count(Iterator):
            def __init__(self):
                self.n = 0
            def __next__(self):
                self.n += 1
                if self.n > 3:
                    raise StopIteration
                return self.n
        failed = []
        for kind in (Shape, Old):
            try:
                kind()
            except TypeError:
                failed.append(kind.__name__)
        return Square(3).area, failed, list(Count()), isinstance({}, Mapping)
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
    "a class attribute of the same name": """
        limit = 5
        total = 1
        class Config:
            limit = limit * 2 if "limit" in () else 10
            total: int = 3
        return Config.limit, Config.total, limit, total
    """,
    "slots and match_args": """
        class Point:
            __slots__ = ("x", "_y")
            __match_args__ = ("x",)
            def __init__(self, x, y):
                self.x, self._y = x, y
        match Point(1, 2):
            case Point(x):
                return x, Point(1, 2)._y
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
        return log, a, three
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
    "how a class says it is copied": """
        import copy
        class A:
            def __init__(self):
                self.c = [1]
            def __copy__(self):
                return "copied"
            def __deepcopy__(self, memo):
                new = A()
                memo[id(self)] = new
                new.c = copy.deepcopy(self.c, memo)
                return new
        a = A()
        two = copy.deepcopy([a, a])
        return copy.copy(a), two[0] is two[1], two[0].c, two[0].c is a.c
    """,
    "the variables of an object": """
        from types import SimpleNamespace
        space = SimpleNamespace(a=1)
        vars(space)["b"] = 2
        space.__dict__.update(c=3)
        class K:
            def __init__(self, **kw):
                self.__dict__.update(kw)
                vars(self).setdefault("z", 1)
                del self.__dict__["gone"]
                vars(self).pop("gone too")
        k = K(q=1, gone=2, **{"gone too": 3})
        return repr(space), vars(k), k.z, k.q, sorted(vars(k).items()), isinstance(vars(k), dict), {**vars(k)}
    """,
    "fields with names of files, and methods of others": """
        from dataclasses import dataclass
        @dataclass
        class Doc:
            path: str
            format: str = "md"
            filename: str = ""
            object: int = 1
        class Log:
            def __init__(self):
                self.seen = []
            def leave(self, kind, error, trace):
                self.seen.append(type(self).__name__)
                return True
            def find(self, name):
                return type(self).__name__, name
        log = Log()
        class Step:
            def __enter__(self):
                return self
            __exit__ = log.leave
            __getattr__ = log.find
        with Step() as step:
            1 / 0
        d = Doc("a")
        return d.path, d.format, f"{d.path:>3}", "{0.filename}".format(d), log.seen, step.anything
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


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in IDIOMS.items()])
def test_a_script_gives_what_plain_python_gives(code: str) -> None:
    text = textwrap.dedent(code)

    assert ran(text) == ran_plainly(text)


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("1 + 1", 2),
        ("x = 3\nx * 2", 6),
        ("x = 3", None),
        ("", None),
        ("# nothing", None),
        ("def main():\n    return 4\n\nif __name__ == '__main__':\n    main()", 4),
        ("if True:\n    5", None),
        ("for x in [1]:\n    pass\nx", 1),
        ("return 7\n8", 7),
        ("if 1 > 0:\n    return 'early'\nreturn 'late'", "early"),
        ("from __future__ import annotations\nx: 'Nope' = 1\nx", 1),
        ("import asyncio\nasync def f():\n    return 5\nawait f()", 5),
        ("async def f():\n    yield 1\n[x async for x in f()]", [1]),
    ],
)
def test_the_result_is_what_is_returned_or_the_last_expression(code: str, result: object) -> None:
    assert ran(code) == result


def test_inputs_are_names_that_the_script_may_change() -> None:
    code = (
        "limit = limit or 10\nif tags:\n    tags = tags[:1]\ndef f():\n    return limit\nreturn limit, tags, f(), sum"
    )

    assert ran(code, limit=0, tags=["a", "b"], sum=3) == (10, ["a"], 10, 3)


def test_globals_of_functions_are_the_scripts_variables() -> None:
    code = "n = 1\ndef up():\n    global n, m\n    n += 1\n    m = n\nup()\nup()\nreturn n, m"

    assert ran(code) == (3, 3)


def test_a_built_in_can_be_taken_over_and_called_before() -> None:
    assert ran("x = max(1, 2)\nmax = min(3, 4)\nreturn x, max") == (2, 3)


def test_functions_and_classes_are_called_what_a_module_calls_them() -> None:
    code = "class A:\n    def f(self): pass\ndef g(a): pass\ntry:\n    g()\nexcept TypeError as e:\n    said = str(e)\nreturn A.__qualname__, A.f.__qualname__, g.__qualname__, said, repr(A)"

    assert ran(code) == ("A", "A.f", "g", "g() missing 1 required positional argument: 'a'", "<class 'script.A'>")


def test_print_is_the_one_that_was_given() -> None:
    said: list[tuple[object, ...]] = []

    ran("print('a', 1)\nfor x in map(print, [2]): pass", printed=lambda *parts: said.append(parts))

    assert said == [("a", 1), (2,)]


@pytest.mark.parametrize("line", ["import sdk", "from panorama import sdk", "import panorama.sdk as sdk", "import panorama.sdk\nsdk = panorama.sdk"])  # fmt: skip
def test_the_sdk_is_there_and_can_be_imported_too(line: str) -> None:
    assert ran(f"before = sdk\ndef f():\n    {line.splitlines()[0]}\n    return 1\nf()\nbefore") is SDK
    assert ran(f"{line}\nreturn sdk is given", given=SDK) is True


def test_a_noun_of_the_sdk_can_be_imported() -> None:
    found = Facade("sdk", {"tasks": Facade("sdk.tasks", {"list": lambda: [1]})})

    assert ran("from panorama.sdk import tasks\nfrom sdk import tasks as again\ntasks.list(), again is tasks", sdk=found) == ([1], True)  # fmt: skip


def test_rows_of_the_sdk_take_fields_by_both_names() -> None:
    code = "row = sdk.Row(id='t_1', title='Tea', n=1)\nrow.mark = True\nrow['x'] = 1\nrow['n'] += 2\nreturn row.title, row['mark'], row.x, row.n, dict(row), '{0.title}'.format(row)"

    assert ran(code) == ("Tea", True, 1, 3, {"id": "t_1", "title": "Tea", "n": 3, "mark": True, "x": 1}, "Tea")


def test_a_name_that_is_missing_in_a_module_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        AttributeError, match=r"'json' has no 'dumsp' in scripts; did you mean 'dump' or 'dumps'[?] It has: JSON"
    ):
        ran("import json\njson.dumsp([])")
    with pytest.raises(ImportError, match=r"'math' has no 'squareroot' in scripts"):
        ran("from math import squareroot")


def test_types_that_a_script_may_not_have_are_stood_in_for() -> None:
    code = "f = type(lambda: 0)\nreturn f.__name__, isinstance(print, f) in (True, False), type(len) is type(max), repr(f), isinstance((lambda: 1), f)"

    assert ran(code) == ("function", True, True, "<class 'function'>", True)


def test_a_script_changes_nothing_for_the_next_one() -> None:
    ran("import json\nclass A: pass\nA.x = json\nglobal leak\nleak = 1")

    with pytest.raises(NameError):
        ran("return leak")


def test_namespaces_do_not_share_what_they_hold() -> None:
    one = language.namespace(modules(), printed=print, sdk=SDK, inputs={})
    two = language.namespace(modules(), printed=print, sdk=SDK, inputs={})

    assert one["__builtins__"] is not two["__builtins__"]
