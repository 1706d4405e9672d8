"""Attacks by methods of the library that are given a `self` which is no object of their class.

In C such a method refuses; in Python it does to any object what it would do to its own. Each attack returns `CANARY` if
it goes through.
"""

# ruff: noqa: E501 - one attack, one line

import collections
import sys
from collections.abc import Callable

import pytest

from panorama.sandbox.rules.receiver_checks import add_receiver_check
from tests.attacks.reach import Reach, outside, reach
from tests.sandbox.running import CANARY, ran_plainly, run_restricted
from tests.sandbox.runs import Runs, nothing_is_left, runs, unguarded

__all__ = ["nothing_is_left", "outside", "reach", "runs", "unguarded"]

_TAKEN = 'return ["", "canary-4b1d"][X()]'
"""`__index__` is none of the methods that classes of scripts may have."""

_PARTS = '(), {"__index__": lambda s: 1}'
_MAPS = f"from collections import ChainMap, Counter\nclass A:\n    maps = [{_PARTS}]\n"
_MINE = 'return "canary-4b1d" if "canary-4b1d" in {} else ""'

CLASSES = {
    "new_child of a class calls its class": f"{_MAPS}X = ChainMap.new_child(A, 'X')\n{_TAKEN}",
    "copy of a class calls its class": f"class S(str):\n    def copy(self): return 'X'\n{_MAPS}A.maps = [S(), {_PARTS}]\nX = ChainMap.copy(A)\n{_TAKEN}",
    "copy of a built-in class is Python's own `type`": f"from collections import Counter\nX = Counter.copy(int)('X', {_PARTS})\n{_TAKEN}",
    "the same by getattr": f"from collections import Counter\nX = getattr(Counter, 'copy')(int)('X', {_PARTS})\n{_TAKEN}",
    "the same by attrgetter": f"import operator\nfrom collections import Counter\nX = operator.attrgetter('copy')(Counter)(int)('X', {_PARTS})\n{_TAKEN}",
    "the same by a match statement": f"from collections import Counter\nmatch Counter:\n    case object(copy=f):\n        X = f(int)('X', {_PARTS})\n{_TAKEN}",
    "the same by a class derived from it": f"from collections import Counter\nclass C(Counter): pass\nX = C.copy(int)('X', {_PARTS})\n{_TAKEN}",
    "the same by super of a class": f"from collections import Counter\nclass C(Counter): pass\nX = super(C, C).copy(int)('X', {_PARTS})\n{_TAKEN}",
    "a method that another class takes over": f"{_MAPS}class B(A):\n    make = classmethod(ChainMap.new_child)\nX = B.make('X')\n{_TAKEN}",
    "the getter of a property": f"{_MAPS}A.maps = ['', 'X', {_PARTS}]\nX = ChainMap.parents.fget(A)\n{_TAKEN}",
}
"""What would make classes past the maker of ours, with any name that Python gives a meaning."""

CHANGES = {
    "the coder's __init__ on a class of the SDK": f"import json\njson.JSONEncoder.__init__(sdk.Row, indent='canary-4b1d')\n{_MINE.format('sdk.Row.indent')}",
    "the coder's __init__ on an error of the SDK": f"import json\njson.JSONEncoder.__init__(sdk.SdkError, indent='canary-4b1d')\n{_MINE.format('sdk.SdkError.indent')}",
    "the coder's __init__ on the coder": f"import json\njson.JSONEncoder.__init__(json.JSONEncoder, default=lambda *a: 'canary-4b1d')\nclass Sub(json.JSONEncoder): pass\n{_MINE.format('json.dumps(object(), cls=Sub)')}",
    "the coder's __init__ by super of a class": f"import json\nclass Sub(json.JSONEncoder): pass\nsuper(Sub, Sub).__init__(sdk.Row, indent='canary-4b1d')\n{_MINE.format('sdk.Row.indent')}",
    "nonmember's __init__ on a class of the SDK": f"import enum\nenum.nonmember.__init__(sdk.Row, 'canary-4b1d')\n{_MINE.format('sdk.Row(a=1).value')}",
    "member's __init__ on a function of the SDK": f"import enum\nenum.member.__init__(sdk.tasks.list, 'canary-4b1d')\n{_MINE.format('sdk.tasks.list.value')}",
    "auto's __init__ on a class of the SDK": f"import enum\nenum.auto.__init__(sdk.Row, 'canary-4b1d')\n{_MINE.format('sdk.Row.value')}",
    "a view's __init__ on a class of the SDK": "import collections.abc\ncollections.abc.MappingView.__init__(sdk.Row, 'canary-4b1d')\nreturn collections.abc.MappingView.__repr__(sdk.Row)",
    "setfirstweekday of a function of the SDK": "import calendar\ncalendar.Calendar.setfirstweekday(sdk.tasks.list, 1)\nreturn 'canary-4b1d' if calendar.Calendar.getfirstweekday(sdk.tasks.list) == 1 else ''",
    "a reader's setter and getter": "import csv\nfrom types import SimpleNamespace\nclass A: reader = SimpleNamespace(line_num=1)\ncsv.DictReader.fieldnames.fset(A, 'canary-4b1d')\nreturn csv.DictReader.fieldnames.fget(A)",
    "a generated __init__ on a class of the SDK": f"import dataclasses\n@dataclasses.dataclass\nclass D:\n    indent: str\nD.__init__(sdk.Row, 'canary-4b1d')\n{_MINE.format('sdk.Row.indent')}",
    "the table of a text wrapper": "import textwrap\ntextwrap.TextWrapper.unicode_whitespace_trans[97] = 'canary-4b1d'\nreturn textwrap.fill('banana', 500)",
    "the map of a shared pattern, by comparing it": "import string\nclass Spy:\n    def __eq__(self, other): self.got = other; return True\ns = Spy()\nstring.Template.pattern.groupindex == s\ns.got['canary-4b1d'] = 1\nreturn list(string.Template.pattern.groupindex)[-1]",
}  # fmt: skip
"""What would change what all share."""

HELD = {
    "a generated __init__ that sets past the object's own way": "import dataclasses, json\n@dataclasses.dataclass(frozen=True)\nclass D:\n    dumps: object\nD.__init__(json, 'canary-4b1d')\nreturn json.dumps",
    "what a task holds": "import asyncio\nfrom types import SimpleNamespace\nreturn asyncio.Task.result(SimpleNamespace(_value='canary-4b1d'))",
    "a named tuple's _replace": "from collections import namedtuple\nclass A:\n    _make = staticmethod(lambda values: 'canary-4b1d')\nreturn namedtuple('P', 'x')._replace(A)",
}
"""What would go through in a script, but not in Python, or there to nobody's harm."""

if sys.version_info < (3, 13):  # since then a class method binds functions alone
    CLASSES["a property that another class takes over"] = (
        f"{_MAPS}class B:\n    maps = ['', 'X', {_PARTS}]\n    make = classmethod(ChainMap.parents)\nX = B.make\n{_TAKEN}"
    )


@pytest.mark.parametrize(("name", "source"), {**CLASSES, **CHANGES}.items(), ids=[*CLASSES, *CHANGES])
def test_an_attack_by_a_foreign_self_reaches_nothing(
    reach: Reach, plain_loot: Callable[[str], str], name: str, source: str
) -> None:
    outcome = reach.runs(source)

    assert plain_loot(source) == CANARY
    reach.check(name, source, is_escape=CANARY.encode() in outcome.result)


@pytest.mark.parametrize("source", HELD.values(), ids=HELD.keys())
def test_a_method_that_was_made_for_scripts_refuses_a_foreign_self(runs: Runs, source: str) -> None:
    ending = runs(source)

    assert ending.failure
    assert "does not apply to an object of" in ending.failure.message


def test_an_object_that_lies_about_its_class_is_found_out() -> None:
    class Liar:
        __class__ = property(lambda _: collections.Counter)

    elements = add_receiver_check(collections.Counter.elements, collections.Counter)

    assert isinstance(Liar(), collections.Counter)
    with pytest.raises(TypeError, match="'elements' of 'Counter' objects does not apply to an object of 'Liar'"):
        elements(Liar())


OWN = {
    "a method by its class": "from collections import Counter\nc = Counter('ab')\nCounter.update(c, 'bc', self=2)\nreturn Counter.most_common(c, 2)",
    "a method mapped over objects": "from collections import Counter\nreturn list(map(Counter.total, [Counter('ab'), Counter()]))",
    "a class that derives": "from collections import Counter\nclass C(Counter):\n    def __init__(self, *a):\n        Counter.__init__(self, *a)\n        super().update('x')\nreturn sorted(C('ab').copy().elements())",
    "a coder that derives": "import json\nclass E(json.JSONEncoder):\n    def __init__(self, **k): json.JSONEncoder.__init__(self, **k)\n    def default(self, v): return str(v)\nreturn json.dumps({1: 1j}, cls=E, indent=1)",
    "a dataclass's base": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n@dataclass\nclass B(A):\n    y: int\n    def __init__(self, x):\n        A.__init__(self, x)\n        self.y = x\nreturn [B(1).x, A.__eq__(B(1), B(1)), B.__eq__(B(1), B(1))]",
    "a property's getter": "from collections import ChainMap\nreturn dict(ChainMap.parents.fget(ChainMap({1: 1}, {2: 2})))",
    "a parameter called self": "import string\nreturn string.Template('$self').substitute(self=1)",
    "a class of abstract methods": "from collections.abc import MutableMapping\nclass M(MutableMapping):\n    def __init__(self): self.d = {}\n    def __getitem__(self, k): return self.d[k]\n    def __setitem__(self, k, v): self.d[k] = v\n    def __delitem__(self, k): del self.d[k]\n    def __iter__(self): return iter(self.d)\n    def __len__(self): return len(self.d)\nm = M()\nm.update(a=1)\nMutableMapping.setdefault(m, 'b', 2)\nreturn [m.pop('a'), dict(m.items()), m.get('c')]",
    "tabs and lines in a text": "import textwrap\nreturn [textwrap.fill('a\\tb\\nc\\x0bd\\x0ce\\rf \\x1fg\\xa0h é', 8), textwrap.shorten('a  b\\n c', 10)]",
    "the groups of a pattern": "import re\nreturn [re.compile('(?P<a>.)(?P<b>.)').groupindex['b'], dict(re.compile('(?P<a>.)').groupindex)]",
    "flags": "import enum\nclass F(enum.Flag):\n    A = 1\n    B = 2\n    C = enum.auto()\nreturn [enum.Flag.__or__(F.A, F.B).value, F.C.value, F.__contains__(F.A | F.B, F.A)]",
    "a named tuple": "from collections import namedtuple\nP = namedtuple('P', 'x y')\nreturn [P._replace(P(1, 2), x=3), P(1, 2)._asdict(), P._asdict(P(1, 2))]",
    "random numbers": "import random\nr = random.Random(1)\nreturn [r.randint(1, 9), random.Random.choice(r, 'abc'), r.sample([1, 2, 3], 2), r.gauss(0, 1)]",
}


@pytest.mark.parametrize("source", OWN.values(), ids=OWN.keys())
def test_to_its_own_a_method_does_what_it_does_in_python(source: str) -> None:
    assert run_restricted(source) == ran_plainly(source)
