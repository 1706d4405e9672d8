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
