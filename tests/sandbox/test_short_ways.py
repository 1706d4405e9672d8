"""Short ways: what the guards leave to Python, because they could only ever agree, and what they do not."""

# ruff: noqa: E501 - one script, one line

import dis
from collections.abc import Iterator
from types import CodeType

import pytest

from panorama.sandbox.language import restricted
from panorama.sandbox.rules import allowlist
from panorama.sandbox.rules.str_format import CACHED_TEXT_CHARS
from tests.sandbox.running import loot, ran_plainly, run_restricted

SAME = {
    "missing": "class A: pass\na = A()\nreturn hasattr(a, 'x'), getattr(a, 'x', 3), hasattr(a, 'format'), getattr('', 'upper')()",
    "asked": "class A:\n    def __getattr__(self, name):\n        if name == 'x': return 1\n        raise AttributeError(name)\nreturn hasattr(A(), 'x'), hasattr(A(), 'y'), getattr(A(), 'y', 2)",
    "other errors": "class A:\n    @property\n    def x(self): return 1 / 0\nfor f in (hasattr, lambda o, n: getattr(o, n, 1)):\n    try: f(A(), 'x')\n    except ZeroDivisionError: pass\n    else: return 'swallowed'",
    "set": "class A: pass\na = A()\nsetattr(a, 'x', 1)\nsetattr(a, 'format', 2)\nsetattr(a, '_y', 3)\nreturn a.x, a.format, a._y",
    "literal": "return '{} {:>4}|{:.2f}|{n!r:>{w}}|{m[0]}'.format('a', 'b', 2.5, n=3, w=9, m=[4])",
    "literal that reads": "return '{0.real} {0.imag:.1f} {0:{1.real}}'.format(2, 9)",
    "text that is made": "t = 'a.b {:.1f}'\nreturn [t.format(i) for i in range(3)], '{x}.'.format_map({'x': 1})",
    "ill-formed": "try:\n    '{'.format(1)\nexcept ValueError as e:\n    return str(e)",
    "attrgetter": "from operator import attrgetter as g\nreturn g('real', 'imag')(3), g('real.imag')(3), repr(g('a.b')), max([1, 2], key=g('real'))",
    "attrgetter of nothing": "from operator import attrgetter\ntry:\n    attrgetter()\nexcept TypeError as e:\n    return str(e)",
    "attrgetter of no text": "from operator import attrgetter\ntry:\n    attrgetter(3)\nexcept TypeError:\n    return 'at once'",
    "a copied attrgetter": "import copy\nfrom operator import attrgetter\nreturn copy.deepcopy([attrgetter('real')])[0](3)",
    "methods": "class A: pass\nclass B:\n    def __call__(self): pass\n    def __iter__(self): return iter([])\nreturn [[hasattr(o, n) for n in ('__call__', '__iter__', '__len__', '__next__', '__add__', '__hash__')] for o in (A(), B(), A, B, 1, '', [], len, (i for i in []), None)]",
    "types": "class A: pass\nreturn type(1).__name__, type(A()).__name__, type(A).__name__, type(type).__name__, type(ValueError()).__name__, isinstance(A, type)",
    "copied order": "import copy\nsaid = []\nclass A:\n    def __init__(self, n): self.n = n\n    def __deepcopy__(self, memo):\n        said.append(self.n)\n        return self\ncopy.deepcopy({A('key'): [A('a'), A('b')]})\nreturn said",
    "copied circles": "import copy\nd = {'a': [1, {2: [3]}]}\nd['d'] = [d]\ne = copy.deepcopy(d)\nreturn e['d'][0] is e, e['a'], e['a'] is not d['a'], d['a'][1] is not e['a'][1]",
    "copied twice": "import copy\nk = (1, [2])\nm = copy.deepcopy([k, k, k[1]])\nreturn m[0] is m[1], m[0][1] is m[2], m[2] is not k[1]",
}  # fmt: skip


@pytest.mark.parametrize("code", SAME.values(), ids=SAME)
def test_a_short_way_leads_where_python_leads(code: str) -> None:
    assert run_restricted(code) == ran_plainly(code)


def _calls_the_guard(code: CodeType) -> Iterator[bool]:
    yield from (step.argval == allowlist.READ for step in dis.get_instructions(code))
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _calls_the_guard(part)


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("{}", False),
        ("{:.2f} {0!r} {a[x]}", False),
        ("a.b {{0.c}}", False),
        ("{0.real}", True),
        ("{:{0.real}}", True),
        ("{0[x].real}", True),
        ("{.", True),
    ],
)
def test_a_text_that_stands_there_is_guarded_if_a_field_reads_an_attribute(text: str, guarded: bool) -> None:
    assert any(_calls_the_guard(restricted.compile_script(f"{text!r}.format(1)"))) is guarded


@pytest.mark.parametrize(
    "code",
    [
        "return '{0.__class__.__mro__}'.format(1)",
        "return '{:{0.__class__.__mro__}}'.format(1)",
        "t = '{0.__globals__}'\ndef f(): pass\nreturn t.format(f)",
        f"t = '{{0.__globals__}}' + ' ' * {CACHED_TEXT_CHARS}\ndef f(): pass\nreturn t.format(f)",
        "class S(str):\n    def __contains__(self, part): return False\n    def __len__(self): return 0\ndef f(): pass\nreturn S('{0.__globals__}').format(f)",
        "class S(str):\n    def __hash__(self): return hash('{}')\n    def __eq__(self, other): return True\ndef f(): pass\nreturn '{}.'.format(1) + S('{0.__globals__}.').format(f)",
        "class S(str):\n    def startswith(self, *_): return False\n    def __hash__(self): return 1\n    def __eq__(self, other): return False\nreturn getattr(len, S('__self__'))",
        "from operator import attrgetter\nreturn attrgetter('real.__class__.__mro__')(1)",
        "from operator import attrgetter\nreturn attrgetter('real', '__self__')(len)",
        "from operator import attrgetter\ndef f(): pass\nreturn attrgetter('format')('{0.__globals__}')(f)",
        "from operator import attrgetter\nclass S(str):\n    def split(self, _): return ['real']\ndef f(): pass\nreturn attrgetter(S('__globals__'))(f)",
        "from operator import attrgetter\ndef g(): yield\nreturn attrgetter('gi_frame')(g())",
        "def g(): yield\nreturn getattr(g(), 'gi_frame', None)",
        "def g(): yield\nreturn '{0.gi_frame}'.format(g())",
        "setattr(len, 'x', 1)\nreturn '<module '",
        "class A: pass\nsetattr(A, 'mro', lambda: [A])\nreturn '<module '",
    ],
)  # fmt: skip
def test_no_short_way_leads_past_a_guard(code: str) -> None:
    assert loot(code) == ""
