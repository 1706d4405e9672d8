"""Attacks by reading twice: the guard looks at one value, and Python takes another past it."""

# ruff: noqa: E501 - one attack, one line

import dis
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import pytest

from panorama.sandbox.language import restricted
from panorama.sandbox.rules import allowlist
from tests.attacks.reach import Reach, outside, reach
from tests.sandbox.running import Attack, loot, ran_plainly, run_restricted, table
from tests.sandbox.runs import nothing_is_left, runs, unguarded

__all__ = ["nothing_is_left", "outside", "reach", "runs", "unguarded"]

_SPY = """
class Spy:
    def __radd__(self, other):
        self.got = other
        return 1
    __rmul__ = __ror__ = __radd__
class S(str): pass
s, spy = S("{0.__globals__}"), Spy()
def f(): pass
"""

AUGMENTED = (
    Attack("format", f"{_SPY}s.format += spy\nreturn spy.got(f)"),
    Attack("format_map", f"{_SPY}s = S('{{f.__globals__}}')\ns.format_map += spy\nreturn spy.got({{'f': f}})"),
    Attack("another operator", f"{_SPY}s.format *= spy\nreturn spy.got(f)"),
    Attack("a third operator", f"{_SPY}s.format |= spy\nreturn spy.got(f)"),
    Attack("format of the class", f"{_SPY}S.format += spy\nreturn spy.got('{{0.__globals__}}', f)"),
    Attack("format of what a call gives", f"{_SPY}def same(x): return x\nsame(s).format += spy\nreturn spy.got(f)"),
    Attack("format of an item", f"{_SPY}[s][0].format += spy\nreturn spy.got(f)"),
    Attack("format of an attribute", f"{_SPY}class H: pass\nh = H()\nh.s = s\nh.s.format += spy\nreturn spy.got(f)"),
    Attack("format in a method", f"{_SPY}class T(str):\n    def go(self):\n        self.format += spy\nT(s).go()\nreturn spy.got(f)"),
    Attack("format in a generator", f"{_SPY}def g():\n    s.format += yield\nr = g()\nnext(r)\ntry: r.send(spy)\nexcept StopIteration: pass\nreturn spy.got(f)"),
    Attack("a value that adds in place", f"{_SPY}class T(str):\n    format = str.format\n    def __iadd__(self, other): return self\nT.format += spy\nreturn spy.got('{{0.__globals__}}', f)"),
)  # fmt: skip


@table(*AUGMENTED)
def test_an_attack_by_reading_twice_reaches_nothing(reach: Reach, attack: Attack) -> None:
    reach.check(attack.name, attack.code, is_escape=bool(loot(attack.code)))


@table(*AUGMENTED)
def test_in_plain_python_it_is_the_text_s_own_method(attack: Attack, plain_loot: Callable[[str], str]) -> None:
    assert plain_loot(attack.code)


REGISTER = """
import abc
class Spy:
    def __radd__(self, other):
        self.got = other
        return 1
class A(abc.ABC):
    register = {register}
spy = Spy()
A.register += spy
return str(spy.got)
"""


def test_a_class_attribute_that_goes_when_it_is_read_does_not_uncover_the_library_s() -> None:
    vanishing = "classmethod(property(lambda cls: delattr(A, 'register')))"

    assert "ABCMeta.register" not in run_restricted(REGISTER.format(register=vanishing))


AS_IN_PYTHON = {
    "a property is read once, and set once": """
        said = []
        class P(dict):
            @property
            def format(self):
                said.append("read")
                return 1
            @format.setter
            def format(self, value): said.append(value)
            @property
            def _x(self):
                said.append("read _x")
                return 1
            @_x.setter
            def _x(self, value): said.append(value)
        p = P()
        p.format += 1
        p._x += 2
        return said
    """,
    "the object, its attribute, the value: each once, in order": """
        said = []
        def say(x, value):
            said.append(x)
            return value
        class P:
            @property
            def path(self): return say("read", 5)
            @path.setter
            def path(self, value): said.append(value)
        p = P()
        say("object", p).path -= say("value", 2)
        return said
    """,
    "a list is extended in place": """
        class P: pass
        class Q(dict): pass
        kept = []
        for p in (P(), Q()):
            p.path = p._own = p.plain = items = []
            p.path += [1]
            p._own += (2,)
            p.plain += [3]
            kept += [items, p.path is items, p._own is items, p.plain is items]
        return kept
    """,
    "every operator": """
        class P(dict): pass
        p = P()
        p.flags = p._f = 7
        said = []
        for step in range(12):
            if step == 0: p.flags += 5; p._f += 5
            if step == 1: p.flags -= 3; p._f -= 3
            if step == 2: p.flags *= 4; p._f *= 4
            if step == 3: p.flags **= 2; p._f **= 2
            if step == 4: p.flags //= 3; p._f //= 3
            if step == 5: p.flags %= 100; p._f %= 100
            if step == 6: p.flags <<= 3; p._f <<= 3
            if step == 7: p.flags >>= 1; p._f >>= 1
            if step == 8: p.flags |= 9; p._f |= 9
            if step == 9: p.flags ^= 5; p._f ^= 5
            if step == 10: p.flags &= 255; p._f &= 255
            if step == 11: p.flags /= 2; p._f /= 2
            said.append((p.flags, p._f))
        return said
    """,
    "a matrix product": """
        class M(dict):
            def __imatmul__(self, other): return ("in place", other)
        m = M()
        m.object = m._o = m
        m.object @= 3
        m._o @= 4
        return m.object, m._o
    """,
    "a value that waits": """
        class P(dict): pass
        p = P()
        p.path = p._n = 1
        def g():
            p.path += yield
            p._n += yield
        steps = g()
        next(steps)
        p.path = 50
        steps.send(10)
        p._n = 50
        try: steps.send(20)
        except StopIteration: pass
        return p.path, p._n
    """,
    "a mangled name": """
        class P(dict):
            def __init__(self): self.__n = 1
            def up(self):
                self.__n += 1
                return self.__n
        return P().up()
    """,
    "what cannot be added": """
        class P(dict): pass
        p = P()
        p.path = p._n = 1
        said = []
        try: p.path += "x"
        except TypeError as error: said.append(str(error))
        try: p._n **= "x"
        except TypeError as error: said.append(str(error))
        try: p._missing += 1
        except AttributeError as error: said.append("missing")
        return said, p.path, p._n
    """,
    "an item of an attribute": """
        said = []
        class P(dict):
            @property
            def path(self):
                said.append("read")
                return {"k": 1}
        def key():
            said.append("key")
            return "k"
        P().path[key()] += 1
        return said
    """,
}  # fmt: skip


@pytest.mark.parametrize("source", AS_IN_PYTHON.values(), ids=AS_IN_PYTHON.keys())
def test_to_add_to_an_attribute_means_what_it_means_in_python(source: str) -> None:
    lines = "\n".join(line[8:] for line in source.splitlines())

    assert run_restricted(lines) == ran_plainly(lines)


def test_the_line_of_the_attribute_is_told() -> None:
    source = "class P(dict): pass\np = P()\n(\n p\n  .path\n) += 1"

    with pytest.raises(AttributeError) as raised:
        run_restricted(source)

    lines = [
        link.tb_lineno
        for link in _links(raised.value.__traceback__)
        if link.tb_frame.f_code.co_filename == restricted.FILENAME
    ]
    assert lines == [5]


def _links(traceback: Any) -> Iterator[Any]:
    while traceback:
        yield traceback
        traceback = traceback.tb_next


WHERE = (
    "s.{n}", "x = s.{n}", "x = y = s.{n}", "x: int = s.{n}", "x, *y = s.{n}, s.{n}", "s.a = s.{n}", "s.{n}.a = 1",
    "s.{n}.a += 1", "s.{n}[0] += 1", "s.a[s.{n}] += s.{n}", "s.a += s.{n}", "s.{n} = 1", "del s.{n}", "del s.{n}.a",
    "del s.{n}[0]", "with s.{n} as x: pass", "with s as s.{n}: pass", "with s as s.{n}.a: pass", "for s.{n} in s: pass",
    "for x in s.{n}: pass", "for s.{n}.a in s: pass", "for s.{n}, *s.{n} in s: pass", "[s.{n}, *s.{n}] = s",
    "[0 for s.{n} in s]", "[s.{n} for x in s.{n} if s.{n}]", "{{s.{n}: s.{n} for x in s}}", "(s.{n} for x in s)",
    "if (x := s.{n}): pass", "while s.{n}: pass", "s.{n} < s.{n} < s.{n}", "s.{n} if s.{n} else s.{n}",
    "s.{n} and s.{n}", "not s.{n}", "-s.{n}", "s.{n} in s.{n}", "s.{n}[s.{n}:s.{n}]", "s.{n}(*s.{n}, **s.{n})",
    "print(x=s.{n})", "f'{{s.{n}}}'", "f'{{s.{n}!r:{{s.{n}}}}}'", "f'{{s.{n}=}}'", "@s.{n}\ndef f(): pass",
    "@s.{n}(s.{n})\nclass A: pass", "class A(s.{n}): pass", "class A:\n    x = s.{n}", "class A:\n    x: s.{n} = s.{n}",
    "def f(x=s.{n}, *, y=s.{n}): pass", "def f(x: s.{n}) -> s.{n}: pass", "lambda x=s.{n}: s.{n}",
    "async def f():\n    await s.{n}\n    async for s.{n} in s.{n}: pass\n    async with s.{n} as s.{n}: pass",
    "def f():\n    yield s.{n}\n    yield from s.{n}\n    return s.{n}",
    "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = x.{n}",
    "try: raise s.{n} from s.{n}\nexcept s.{n}: pass", "assert s.{n}, s.{n}", "match s.{n}:\n    case x if x.{n}: pass",
    "match s:\n    case [x, *y] if (s.{n}, y.{n}): pass", "super().{n}", "super(A, s).{n}", "s.{n}.{n}", "s().{n}().{n}",
    "[*s.{n}, *s.{n}]", "{{**s.{n}}}", "{{s.{n}}}", "(s.{n},)", "return s.{n}", "global x\nx = s.{n}",
)  # fmt: skip
"""Wherever an attribute can stand."""


@pytest.mark.parametrize("name", sorted(allowlist.GUARDED))
def test_wherever_a_guarded_name_stands_no_code_reads_it_past_the_guard(name: str) -> None:
    read = {
        where: instruction.opname
        for where in WHERE
        for instruction in _instructions(restricted.compile_script(where.format(n=name)))
        if instruction.argval == name
        and instruction.opname.startswith(("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER", "IMPORT_FROM"))
    }

    assert read == {}


def _instructions(code: CodeType) -> Iterator[dis.Instruction]:
    yield from dis.get_instructions(code)
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _instructions(part)


@pytest.mark.parametrize(
    "pattern", ["s.{n}", "s.{n}.a", "str({n}=x)", "s.{n}()", "{{s.{n}: x}}", "[str({n}=x)]", "str() | str({n}=_)"]
)
@pytest.mark.parametrize("name", sorted(allowlist.GUARDED))
def test_no_pattern_reads_one(pattern: str, name: str) -> None:
    with pytest.raises(restricted.PolicyError):
        restricted.compile_script(f"match s:\n    case {pattern.format(n=name)}:\n        pass")
