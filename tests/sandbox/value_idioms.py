"""What scripts say of slices, of brackets behind classes, of errors of the system, and of `id` and `hash`."""

# ruff: noqa: E501 - scripts, not code of ours

IDIOMS = {
    "slices in all their places": """
        class Table:
            def __init__(self, rows):
                self.rows = rows
            def __getitem__(self, key):
                return self.rows[key] if isinstance(key, slice) else [type(each).__name__ for each in key]
            def __setitem__(self, key, value):
                self.rows[key] = value
            def __delitem__(self, key):
                del self.rows[key]
        text, rows, start, end, step = "abcdefgh", list(range(9)), 2, None, -1
        table = Table([*rows])
        table[start : start + 2] = "xy"
        del table[-start:]
        rows[start : len(rows) - 3] += [7]
        rows[(n := 1) : n + 1] = [9, 9]
        class K:
            width = 3
            head = text[:width]
            parts = [word[1:3] for word in ("one", "two")]
        cut = slice(1, end, start)
        match cut:
            case slice(start=a):
                pass
        chunks = [text[i : i + 3] for i in range(0, len(text), 3)]
        pairs = {k: text[k:stop] for k, stop in [(1, None), (2, 4)]}
        deep = [[text[i:j] for j in range(i, i + 2)] for i in range(2)]
        ahead = [(lambda x: text[x:i])(0) for i in range(3)]
        return table.rows, table[1:3], table[start:end, 1], rows, n, K.head, K.parts, text[cut], a, cut.indices(5), type(cut).__name__, chunks, pairs, deep, ahead, text[::step], text[True:], text[start:end], repr(cut), cut == slice(1, None, 2)
    """,
    "brackets behind classes, while it runs": """
        from collections import defaultdict, Counter, deque, OrderedDict
        from dataclasses import dataclass, field, fields
        from typing import Optional, List, Dict
        Pair = tuple[int, str]
        Rows = dict[str, list[Pair]]
        def f(x: list[int], y: "Optional[Rows]" = None) -> dict[str, int]:
            return dict[str, int](a=x[0])
        class A(dict[str, int]):
            def total(self):
                return sum(self.values())
        class B(List[int]):
            pass
        @dataclass
        class C:
            rows: list[Pair] = field(default_factory=list[Pair])
            known: dict[str, list[int]] = field(default_factory=dict)
        either = list[int] | None
        groups = defaultdict[str, list](list)
        groups["a"].append(Counter[str]("aa"))
        return f([1]), A(a=2).total(), isinstance(A(), dict), B([1]), C([(1, "a")]).rows, C().known, [x.name for x in fields(C)], groups, [*deque[int]([1])], list[int]([2]), Pair((1, "a")), Rows(), OrderedDict[str, int](a=1)
    """,
    "errors of the system": """
        class Missing(OSError):
            def __init__(self, name):
                super().__init__(2, "not there", name)
                self.name = name
        class Late(TimeoutError):
            def __str__(self):
                return f"late: {super().__str__()}"
        said = []
        for error in (Missing("a.md"), Late(1, "after 5 s"), OSError("x"), OSError(1, ["y"]), FileNotFoundError(), Exception({"a": 1})):
            try:
                raise error
            except OSError as e:
                e.args
                said.append((type(e).__name__, str(e), e.errno, e.strerror, repr(e), e.args))
            except Exception as e:
                said.append((str(e), e.args))
        e = Missing("b")
        e.errno, e.strerror = 5, "other"
        return said, str(e)
    """,
    "id and hash": """
        seen, a = {}, [1]
        for x in (a, [1], a):
            seen[id(x)] = seen.get(id(x), 0) + 1
        class P:
            def __init__(self, x, y):
                self.x, self.y = x, y
            def __eq__(self, other):
                return hash(self) == hash(other)
            def __hash__(self):
                return hash((self.x, self.y))
        class Q(P):
            def __hash__(self):
                return super().__hash__() + 1
        class R:
            pass
        r = R()
        return sorted(seen.values()), hash(P(1, 2)) == hash((1, 2)), hash(Q(1, 2)), len({P(1, 2), P(1, 2), P(2, 1)}), hash(5), hash(2.5), hash(r) == hash(r), {r: 1}[r], max(map(hash, [1, 2])), int.__hash__(7), callable(hash), id(r) == id(r), hash(None) == hash(None)
    """,
}  # fmt: skip
