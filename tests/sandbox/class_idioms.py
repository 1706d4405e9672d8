"""What scripts say of classes and their objects, by what it is."""

# ruff: noqa: E501 - scripts, not code of ours

IDIOMS = {
    "enumerations made of names": """
        from enum import Enum, Flag, IntEnum, IntFlag, StrEnum
        made = (IntFlag("F", "A B C"), Flag("G", ["A", "B"], start=4), Flag("H", "A B C", start=5), StrEnum("I", "P Q"),
                Enum("J", "X Y", start=3), IntEnum("K", [("A", 5), ("B", 7)]), Enum("L", {"a": 1}))
        return [[(each.name, each.value) for each in kind] for kind in made], repr(made[0](5)), str(made[3].P)
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
}  # fmt: skip
