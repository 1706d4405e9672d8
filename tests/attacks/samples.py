"""One of everything that a script can make, for the crawl to begin with."""

SAMPLES = """
import collections, copy, csv, dataclasses, datetime, decimal, enum, fractions, functools, io, itertools, json
import random, re, statistics, string, types, typing, uuid, zoneinfo, calendar, difflib, textwrap, contextlib, operator
import asyncio, hashlib, time, urllib.parse, collections.abc, abc, numbers

class Plain:
    kind = 1
    def __init__(self):
        self.value, self._own = 1, 2
    def method(self):
        return 1
    @property
    def shown(self):
        return self._own
    @staticmethod
    def still():
        return 1
    @classmethod
    def made(cls):
        return cls()
    def parent(self):
        return super()

@dataclasses.dataclass(order=True)
class Data:
    a: int = 1
    b: list = dataclasses.field(default_factory=list)

class Color(enum.Enum):
    RED = 1

class Mode(enum.IntFlag):
    R = 1
    W = 2

class Point(typing.NamedTuple):
    x: int = 1

class Failed(Exception):
    pass

class Wrong(AttributeError):
    pass

class Bag(dict):
    def __getattr__(self, name):
        return self.get(name)

class Base(abc.ABC):
    @abc.abstractmethod
    def run(self):
        return 1

class Run(Base):
    def run(self):
        return 2

class Text(str):
    def parent(self):
        return super()

class Stack(typing.Generic[typing.TypeVar("T")]):
    pass

class Encoder(json.JSONEncoder):
    def default(self, value):
        return super().default(value)

def generated():
    got = yield 1
    yield got

@contextlib.contextmanager
def managed():
    yield 1

caught = []
for act in (
    lambda: 1 / 0, lambda: {}["k"], lambda: [][1], lambda: Plain().missing, lambda: json.loads("{"),
    lambda: re.compile("("), lambda: int("x"), lambda: json.nothing, lambda: next(iter([])), lambda: b"\\xff".decode(),
    lambda: datetime.datetime.strptime("x", "%Y"), lambda: zoneinfo.ZoneInfo("No/Where"), lambda: undefined_name,
):
    try:
        act()
    except Exception as error:
        caught.append(error)

generator = generated()
next(generator)
left, given = [], {}

class Leaving:
    def __enter__(self):
        return self
    def __exit__(self, *error):
        left.append(error)
        return True

with Leaving():
    raise Failed("x")

[
    Plain(), Plain, Plain().method, Plain.made, Plain().parent(), Data(), Data, Color.RED, Color, Mode.R | Mode.W,
    Point(), Point, Failed("x"), Bag(a=1), Run(), Run, Base, Text("x"), Text("x").parent(), Stack, Encoder(),
    generator, generated, managed, managed(), caught, left, lambda: 0, iter([]), iter({}), iter(set()), given,
    given.items(), given.keys(), range(3), slice(1), property(lambda self: 1), classmethod(len), staticmethod(len),
    super, object(), zip([1]), map(len, [""]), filter(None, [1]), enumerate([1]), reversed([1]), re.compile("(?P<a>a)"),
    re.match("(a)", "a"), re.finditer("a", "a"), collections.Counter("a"), collections.defaultdict(list),
    collections.deque([1]), collections.OrderedDict(a=1), collections.ChainMap({}), collections.namedtuple("N", "a")(1),
    datetime.datetime.now(), datetime.timezone.utc, datetime.timedelta(1), datetime.date.today(), io.StringIO("x"),
    io.BytesIO(b"x"), decimal.getcontext(), decimal.localcontext(), decimal.Decimal(1), fractions.Fraction(1, 2),
    random.Random(1), functools.partial(len), functools.lru_cache(len), functools.cmp_to_key(lambda a, b: 0)(1),
    uuid.uuid4(), zoneinfo.ZoneInfo("Europe/Berlin"), types.SimpleNamespace(a=1), type(lambda: 0), type(generator),
    type(json), type(int), type, list[int], dict[str, typing.Any], int | None, string.Template("$a"),
    csv.reader(["a"]), csv.writer(io.StringIO()), csv.DictReader(["a", "b"]), csv.DictWriter(io.StringIO(), ["a"]),
    csv.Sniffer(), json.JSONEncoder(), json.JSONDecoder(), difflib.SequenceMatcher(None, "a", "b"), difflib.Differ(),
    textwrap.TextWrapper(), statistics.NormalDist(), calendar.Calendar(), calendar.TextCalendar(), calendar.month_name,
    hashlib.sha256(b""), time.gmtime(), urllib.parse.urlparse("http://a/b?c=d"), itertools.count(), itertools.tee([1]),
    contextlib.suppress(KeyError), contextlib.nullcontext(), contextlib.closing(io.StringIO()),
    asyncio.create_task(1), asyncio.Lock(), asyncio.TaskGroup(), "{}".format, str.format, "x".format_map, print,
    dataclasses.fields(Data), dataclasses.MISSING, dataclasses.field(), operator.itemgetter(1),
    operator.attrgetter("a"), Stack[int], typing.Optional[int],
    operator.methodcaller("a"), Exception.args, AttributeError.name, collections.abc.Sequence, numbers.Number, sdk,
    vars(Plain()), vars(Plain), Plain.__dict__, Color.__members__, hasattr, getattr, setattr, functools.wraps(len),
]
"""
