"""What people write with the classes of `collections`, and `groupby`."""

# ruff: noqa: E501 - scripts, not code of ours

IDIOMS = {
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
}  # fmt: skip
