"""What people write with the parts of the library that scripts get in versions of ours."""

# ruff: noqa: E501 - scripts, not code of ours

IDIOMS = {
    "encodings of files": """
        names = ("utf-16-le", "utf-16-be", "utf-16", "utf-8-sig", "cp1252", "iso-8859-1", "iso-8859-15")
        return ["é".encode(name) for name in names], b"a\\x00".decode("UTF-16LE")
    """,
    "iterators": """
        from itertools import accumulate, chain, count, cycle, islice, pairwise, zip_longest
        import operator
        def told(act):
            try:
                return act()
            except (TypeError, ValueError) as error:
                return type(error).__name__, str(error)
        stack, steps = [3, 2, 1, 0, 5], iter("abc")
        class Numbered:
            def __getitem__(self, number):
                if number > 2:
                    raise IndexError
                return number * 10
        return (
            list(islice(count(3), 4)), list(islice(cycle("ab"), 5)), list(chain([1], "ab", ())), next(count(1, 0.5)),
            list(chain.from_iterable([[1], [2, 3]])), list(pairwise("abc")), list(accumulate([1, 2, 3])),
            list(accumulate([1, 2, 3], operator.mul, initial=2)), list(zip_longest("ab", "c", fillvalue="-")),
            list(iter(stack.pop, 0)), stack, next(steps), list(steps), next(iter([]), "none"), list(islice("abcdef", 1, None, 2)),
            told(lambda: iter(1, 2)), told(lambda: iter()), told(lambda: islice([1], -1)), told(lambda: iter(5)),
            list(Numbered()), 20 in Numbered(), 5 in Numbered(), list(zip(Numbered(), "abc")), [*map(str, Numbered())], max(Numbered()),
            sum(islice((each * each for each in count()), 10)), dict(zip("ab", count())),
        )
    """,
    "private attributes in comprehensions": """
        class Item:
            def __init__(self, number):
                self._number, self.name = number, f"i{number}"
        class Items:
            def __init__(self):
                self._all = [Item(3), Item(1), Item(2)]
            def names(self):
                return [each.name for each in sorted(self._all, key=lambda item: item._number)]
            def total(self):
                return sum(number for number in map(lambda item: item._number, self._all))
            def largest(self):
                return max((each for each in self._all), key=lambda item: (lambda: item._number)())._number
        items = Items()
        found = [(lambda item: item._number)(each) for each in items._all]
        return items.names(), items.total(), items.largest(), found, {each._number: [y._number for y in items._all] for each in items._all}
    """,
    "an OrderedDict": """
        from collections import OrderedDict
        d = OrderedDict([("a", 1), ("b", 2)], c=3)
        d.move_to_end("a")
        d.move_to_end("c", last=False)
        first = list(d), list(d.items()), list(reversed(d)), list(reversed(d.values())), d.popitem(last=False), d.popitem()
        e = d | {"z": 1}
        f = {"y": 0} | d
        d |= [("q", 5)]
        other = OrderedDict([("q", 5), ("b", 2)])
        return (
            first, repr(e), str(f), d == other, d != other, d == dict(other), dict(d) == other, d == 5, len(d), "q" in d,
            OrderedDict.fromkeys("ab", 0), OrderedDict.fromkeys("ab", value=1), repr(OrderedDict()), d.copy() is d,
            d.copy(), d.pop("b"), d.pop("b", None), d.pop("b", default=7), d.setdefault("n", default=[]), {**d},
            type(d).__name__, type(d) is OrderedDict, isinstance(d, dict), type(d | e) is OrderedDict, d.get("no"),
        )
    """,
    "an OrderedDict's errors": """
        from collections import OrderedDict
        def told(act):
            try:
                return act()
            except (KeyError, TypeError, RuntimeError) as error:
                return type(error).__name__, error.args if type(error) is KeyError else ()
        d = OrderedDict(a=1)
        def turned():
            for key in (d := OrderedDict(a=1, b=2, c=3)):
                d.move_to_end(key), d.update(x=len(d))
        empty = OrderedDict()
        return [told(act) for act in (
            empty.popitem, lambda: empty.popitem(last=False), lambda: empty.move_to_end("x"), lambda: empty.pop("x"),
            lambda: empty["x"], lambda: OrderedDict(1, 2), lambda: OrderedDict(5), lambda: d < d, lambda: hash(d), turned,
            lambda: d | [("a", 1)],
        )]
    """,
    "an OrderedDict in others": """
        import copy, json, pprint
        from collections import OrderedDict
        d = OrderedDict(b=1, a=OrderedDict(c=[1]))
        deep, flat = copy.deepcopy(d), copy.copy(d)
        d["self"] = d
        text = repr(d)
        del d["self"]
        wide = OrderedDict((letter * 20, number) for number, letter in enumerate("zyx"))
        return (
            json.dumps(d), json.loads('{"b": 1, "a": {}}', object_pairs_hook=OrderedDict), text, deep == d, flat["a"] is d["a"],
            deep["a"] is d["a"], type(deep["a"]).__name__, pprint.pformat(wide), pprint.pformat(d), dict(d), list(d),
            sorted(d), max(d), d.keys() & {"a"}, list(zip(d, d.values())),
        )
    """,
    "classes derived from OrderedDict": """
        from collections import Counter, OrderedDict
        class Last(OrderedDict):
            def __setitem__(self, key, value):
                super().__setitem__(key, value)
                self.move_to_end(key)
        class Cache(OrderedDict):
            def __init__(self, size=2, *args, **kwargs):
                self.size = size
                super().__init__(*args, **kwargs)
            def __getitem__(self, key):
                value = super().__getitem__(key)
                self.move_to_end(key)
                return value
            def __setitem__(self, key, value):
                if key in self:
                    self.move_to_end(key)
                super().__setitem__(key, value)
                if len(self) > self.size:
                    del self[next(iter(self))]
        class OrderedCounter(Counter, OrderedDict):
            def __repr__(self):
                return "%s(%r)" % (type(self).__name__, OrderedDict(self))
        class Missing(OrderedDict):
            def __missing__(self, key):
                self[key] = made = []
                return made
        last = Last(a=1, b=2)
        last["a"] = 3
        last.update({"b": 4}, c=5)
        last.setdefault("d", 6)
        cache = Cache(2, [("x", 1), ("y", 2)])
        cache["x"]
        cache["z"] = 3
        missing = Missing()
        missing["k"].append(1)
        return (
            last, repr(last), type(last.copy()).__name__, last | {"a": 0}, type(last | {}).__name__, Last.fromkeys("ba"),
            list(cache), repr(cache), repr(OrderedCounter("abracadabra")), missing, last == OrderedDict(last), cache == last,
        )
    """,
    "a queue of an OrderedDict": """
        from collections import OrderedDict
        d = OrderedDict((number, -number) for number in range(5000))
        taken = []
        while d:
            taken.append(d.popitem(last=False))
            if len(taken) % 7 == 0:
                d[5000 + len(taken)] = 0
            if len(d) > 3:
                d.move_to_end(next(iter(d)))
        return len(taken), sum(key for key, _ in taken), taken[::500]
    """,
    "a Counter": """
        from collections import Counter
        words = "the cat and the dog and the bird".split()
        c = Counter(words)
        c.update(word for word in ["cat", "emu"])
        c.update({"dog": 2})
        c.update(cat=1)
        class Own(Counter):
            def __setitem__(self, key, value):
                super().__setitem__(key, min(value, 2))
        half = Counter({"a": 1.5, "b": True})
        half.update("ab")
        try:
            Counter([[1]])
        except TypeError as error:
            said = str(error)
        return (
            c, c.most_common(2), c["none"], Counter(zip(words, words[1:])).most_common(1), Counter(map(len, words)), Own("aaab"),
            c - Counter(words), c + c, Counter({1, 2}), Counter({"k": 5}), Counter(b"aab"), Counter([None, True, 1, 1.0]), half,
            Counter(range(3)).total(), said, Counter("abca") == Counter("aabc"),
        )
    """,
    "groupby": """
        import itertools
        from itertools import groupby
        rows = [("a", 1), ("a", 2), ("b", 3), ("a", 4)]
        groups = [(key, list(members)) for key, members in groupby(rows, key=lambda row: row[0])]
        kept = [members for _, members in groupby(rows, lambda row: row[0])]
        nan = float("nan")
        class Same:
            def __eq__(self, other):
                return True
        it = itertools.groupby("aabbb")
        key, members = next(it)
        one = next(members)
        key2, members2 = next(it)
        def bad(row):
            if row == 2:
                raise ValueError("two")
            return 0
        steps, told = groupby([1, 2, 3], bad), []
        for _, each in steps:
            try:
                told.append(list(each))
            except ValueError as error:
                told.append(str(error))
        try:
            groupby(5)
        except TypeError as error:
            told.append(str(error))
        return (
            groups, [list(each) for each in kept], [key for key, _ in groupby("aAbB", str.lower)], one, list(members), key2,
            list(members2), next(it, "end"), [len(list(g)) for _, g in groupby([nan, nan, 1])], list(groupby([])), told,
            len(list(groupby([Same(), 1, 2]))), {k: len([*g]) for k, g in groupby(sorted("banana"))}, list(groupby([None]))[0][0],
        )
    """,
    "a deque": """
        import copy, pprint
        from collections import deque
        d = deque([3, 1, 2, 1], maxlen=5)
        d.remove(1)
        class Own(deque):
            def __contains__(self, value):
                return value == "any" or super().__contains__(value)
        told = []
        for act in (lambda: d.remove(9), lambda: d.index(9), lambda: hash(d), lambda: d < [1]):
            try:
                act()
            except (ValueError, TypeError) as error:
                told.append(type(error).__name__)
        o = Own("ab")
        return (
            d, d.index(1), d.index(1, 1), d.count(1), 2 in d, 7 in d, d == deque([3, 2, 1]), d != deque([3]), d == [3, 2, 1],
            deque([1, 2]) < deque([1, 3]), deque([2]) >= deque([1, 9]), deque([1]) <= deque(), deque([1]) > deque(), repr(d), told,
            "any" in o, "a" in o, "c" in o, type(o.copy()).__name__, d + deque([4]), d * 2, type(d.copy()) is deque, d.maxlen,
            copy.copy(d), copy.deepcopy(d), copy.deepcopy(d) == d, repr(o), isinstance(o, deque), list(reversed(d)),
            pprint.pformat(d), type(d).__name__, deque([nan := float("nan")]) == deque([nan]),
        )
    """,
    "functions that remember": """
        import functools
        from functools import cache, lru_cache
        calls = []
        @lru_cache
        def bare(x):
            calls.append(x)
            return x * 2
        @lru_cache(maxsize=2)
        def few(x, y=1):
            calls.append((x, y))
            return x + y
        @functools.lru_cache(maxsize=None, typed=True)
        def typed(x):
            return type(x).__name__
        @cache
        def fibonacci(n):
            "Numbers."
            return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
        class Shop:
            def __init__(self):
                self.asked = 0
            @lru_cache(maxsize=None)
            def price(self, name):
                self.asked += 1
                return len(name)
            @staticmethod
            @cache
            def tax(x):
                return x / 5
            @property
            @cache
            def open(self):
                return True
        shop = Shop()
        class Point:
            def __init__(self, x):
                self.x = x
        points, lengths, method = lru_cache(Point), cache(len), cache("a-b".split)
        told = []
        for act in (lambda: lru_cache("x"), lambda: cache(5), lambda: few([]), lambda: lru_cache(1)(2)):
            try:
                act()
            except TypeError as error:
                told.append(str(error))
        return (
            bare(1), bare(1), few(1), few(1), few(1, y=2), few(3), tuple(few.cache_info()), few.cache_info().hits, few.cache_clear(),
            tuple(few.cache_info()), typed(1), typed(1.0), tuple(typed.cache_info()), fibonacci(60), fibonacci.__doc__, calls,
            shop.price("a"), shop.price("a"), shop.asked, Shop.tax(5), shop.open, points(1) is points(1), points(2).x,
            lengths("abc"), method("-"), tuple(lengths.cache_info()), told, few.cache_parameters(), cache(max)(1, 2),
        )
    """,
    "a defaultdict": """
        import copy, dataclasses, json, pprint
        from collections import defaultdict
        from typing import DefaultDict
        def told(act):
            try:
                return act()
            except (KeyError, TypeError) as error:
                return type(error).__name__, error.args
        groups, tree = defaultdict(list, {"a": [1]}, b=[2]), lambda: defaultdict(tree)
        groups["c"].append(3)
        groups["a"] += [4]
        counts = defaultdict(int)
        for letter in "abracadabra":
            counts[letter] += 1
        nested = defaultdict(lambda: defaultdict(int))
        nested["x"]["y"] += 5
        deep, flat, other, joined = copy.deepcopy(groups), copy.copy(groups), groups.copy(), groups | {"z": []}
        deep["a"].append(9)
        joined["new"] = []
        counts |= {"q": 7}
        before = {"y": [0]} | groups
        before["n"]
        empty, plain = defaultdict(), defaultdict(None, a=1)
        keys = defaultdict.fromkeys("ab", 0)
        counts.default_factory is int and counts.pop("r")
        @dataclasses.dataclass
        class Held:
            by: DefaultDict[str, list] = dataclasses.field(default_factory=lambda: defaultdict(list))
        held = Held()
        held.by["k"].append(1)
        return (
            groups, repr(groups), str(counts), f"{counts}", deep, flat["a"] is groups["a"], type(flat) is defaultdict, other, joined, before,
            type(joined).__name__, joined.default_factory is list, told(lambda: empty["no"]), told(lambda: plain["no"]), plain, keys,
            told(lambda: defaultdict(5)), told(lambda: defaultdict(list, 5)),
            groups == {"a": [1, 4], "b": [2], "c": [3]}, isinstance(groups, dict), isinstance(groups, defaultdict), issubclass(defaultdict, dict),
            groups.get("none"), "none" in groups, groups.setdefault("s", [8]), len(groups), {**counts}, dict(nested["x"]), sorted(counts),
            json.dumps(groups), json.dumps(nested, sort_keys=True), pprint.pformat(groups, width=20), pprint.pformat(nested["x"]),
            held.by, groups.__missing__("m"), dict.get(groups, "m"), list(reversed(keys)), list(tree()["a"]["b"]), max(counts),
        )
    """,
    "classes derived from defaultdict": """
        import copy
        from collections import defaultdict
        class Keyed(defaultdict):
            def __missing__(self, key):
                if self.default_factory is None:
                    raise KeyError((key,))
                self[key] = value = self.default_factory(key)
                return value
        class Noted(defaultdict):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                self.set = []
            def __setitem__(self, key, value):
                self.set.append(key)
                super().__setitem__(key, value)
            def __missing__(self, key):
                return super().__missing__(key) + ["missed"]
        class Own(defaultdict):
            def make(self):
                return len(self)
        keyed, noted, own = Keyed(str.upper), Noted(list), Own()
        own.default_factory = own.make
        text = repr(own).partition(" of ")[2]
        found = [own["a"], own["b"], own["a"]]
        own.default_factory = None
        try:
            own["c"]
        except KeyError as error:
            found.append(error.args)
        keyed["a"], noted["b"], noted["b"]
        noted.update(c=1)
        twice = copy.copy(keyed)
        twice.default_factory = str.lower
        return (
            keyed, noted, noted.set, noted.copy(), type(noted.copy()).__name__, own, found, twice["Q"], twice, keyed | {"z": 1}, text,
            type(keyed | {}).__name__, type({} | keyed).__name__, copy.deepcopy(own), repr(own), isinstance(own, defaultdict), Keyed.__name__,
            noted["new"], Own(list, a=[1])["x"],
        )
    """,
    "namespaces": """
        from types import SimpleNamespace
        class Settings(SimpleNamespace):
            def double(self):
                return self.size * 2
        one, own = SimpleNamespace(a=1, b="x"), Settings(size=2)
        one.c, own.name = [one, own], "n"
        del one.b
        one.self = one
        text = repr(one), str(own), f"{own!r}"
        del one.self, one.c
        setattr(one, "", 5)
        return (
            text, repr(one), repr(SimpleNamespace()), repr(Settings()), own.double(), one == SimpleNamespace(a=1), own == Settings(size=2, name="n"),
            isinstance(own, SimpleNamespace), type(one) is SimpleNamespace, vars(own), type(own).__name__, SimpleNamespace(**{"x y": 1}),
        )
    """,
    "classes of dates and times": """
        import datetime as d, time, functools, json
        from datetime import date, datetime, time as clock, timedelta, timezone
        day, now, at = date(2026, 2, 3), datetime(2026, 2, 3, 4, 5, 6, 7, timezone.utc), clock(8, 9, tzinfo=timezone.utc, fold=1)
        def told(act):
            try:
                return act()
            except (TypeError, ValueError) as error:
                return type(error).__name__, str(error)
        def kind(value):
            match value:
                case datetime(hour=hour):
                    return "datetime", hour
                case date(year=year, month=2):
                    return "date", year
                case clock():
                    return "time"
                case time.struct_time(year, tm_mon=month):
                    return "struct_time", year, month
                case _:
                    return "none"
        def plainly(value):
            if isinstance(value, (date, clock)):
                return value.isoformat()
            raise TypeError
        moment = time.gmtime(0)
        made = time.struct_time([2026, 2, 3, 4, 5, 6, 1, 34, 0])
        wide = time.struct_time((2026, 2, 3, 4, 5, 6, 1, 34, 0, "UTC", 0))
        return (
            [*map(kind, (now, day, at, moment, 5))], [isinstance(now, each) for each in (date, datetime, clock, d.tzinfo, int | date, object)],
            isinstance(day, datetime), issubclass(datetime, date), issubclass(date, datetime), issubclass(type(day), date), issubclass(bool, date),
            type(day) is date, type(now) is datetime, type(at) is clock, now.__class__ is datetime, type(now) == date, {date: 1, datetime: 2}[type(now)],
            date.__name__, repr(datetime), str(clock), type(day).__name__, date.min, date.max, datetime.min, clock.resolution, datetime.max.year,
            date.fromisoformat("2026-02-03") == day, datetime.strptime("3.2.26", "%d.%m.%y"), datetime.combine(day, at), date.fromordinal(5),
            datetime.fromtimestamp(0, tz=timezone.utc), datetime.fromisoformat("2026-01-02T03:04:05+00:00"), date.today() >= day, clock.fromisoformat("10:11"),
            date(year=2026, month=1, day=31), date(2026, True, 1), clock(), clock(1, 2, 3), datetime(2026, 1, 1, fold=1).fold, day + timedelta(1), type(day + timedelta(1)) is date,
            told(lambda: date("2026-01-02")), told(lambda: date(2026, 13, 1)), told(lambda: date("2026", 1, 1)), told(lambda: date()), told(lambda: datetime("now")),
            told(lambda: datetime(2026, 1)), told(lambda: clock("10:00")), told(lambda: clock(24)), told(lambda: date(2026.0, 1, 1)), told(lambda: now < day),
            [*map(date.isoformat, [day])], [*map(datetime.timestamp, [now])], functools.partial(date, 2026)(1, 2), json.dumps([day, at], default=plainly),
            sorted([now.date(), date.min]), day.replace(year=2027), {day: 1}[date(2026, 2, 3)], [date(*args) for args in [(2026, 1, 2)]], date is d.date,
            made, wide.tm_zone, wide.tm_gmtoff, made.tm_zone, tuple(made), time.strftime("%Y-%m-%d %H", made), made == moment, isinstance(moment, time.struct_time),
            isinstance(made, tuple), type(moment) is time.struct_time, time.struct_time(range(9)), time.mktime(made) > 0, time.struct_time(moment) == moment, now.timetuple() == made,
            isinstance((1, 2), time.struct_time), time.struct_time.__name__, issubclass(time.struct_time, tuple), told(lambda: time.struct_time([1])),
            time.struct_time(made, {"tm_zone": "CET"}).tm_zone, [*made[:3]], made.tm_year, repr(made), time.strptime("2026", "%Y").tm_year, "fromisoformat" in dir(date),
        )
    """,
    "JSON without a look at circles": """
        import json
        class Point:
            def __init__(self, x):
                self.x = x
        class Encoder(json.JSONEncoder):
            def default(self, value):
                return vars(value)
        value = {"a": [Point(1), {"b": Point([Point(2)])}], "c": [[], {}, (1, None)]}
        return (
            json.dumps(value, default=vars, check_circular=False), Encoder(check_circular=False).encode(value), json.dumps(value, cls=Encoder),
            json.dumps([value["c"]] * 2, check_circular=False, sort_keys=True, separators=(",", ":")), json.dumps("x", check_circular=False),
        )
    """,
}  # fmt: skip
