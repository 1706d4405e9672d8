"""Attacks by attributes, names and text: whatever leads from a value to what lies behind it."""

# ruff: noqa: E501 - one attack, one line

from collections.abc import Callable

import pytest

from tests.attacks.reach import Reach, outside, reach
from tests.sandbox.running import Attack, loot, run_restricted, table
from tests.sandbox.runs import nothing_is_left, runs, unguarded

__all__ = ["nothing_is_left", "outside", "reach", "runs", "unguarded"]

ATTRIBUTES = (
    Attack("globals of a function", "def f(): pass\nreturn f.__globals__"),
    Attack("code of a function", "def f(): pass\nreturn f.__code__"),
    Attack("globals of a lambda by getattr", "return getattr(lambda: 0, '__globals__')"),
    Attack("builtins of a function", "def f(): pass\nreturn f.__builtins__"),
    Attack("module of a built-in function", "return print.__self__"),
    Attack("module of len by getattr", "return getattr(len, '__self__')"),
    Attack("subclasses of object", "return [c for c in object.__subclasses__() if c.__name__ == 'BuiltinImporter'][0].find_spec('sys').__init__.__globals__"),
    Attack("base of a class", "return ().__class__.__base__.__subclasses__()"),
    Attack("bases of a class", "return ().__class__.__bases__[0].__subclasses__()"),
    Attack("mro of a class", "return str.__mro__[-1].__subclasses__()"),
    Attack("mro as a method", "return str.mro()[-1].__subclasses__()"),
    Attack("method of an instance to its function", "class A:\n    def f(self): pass\nreturn A().f.__func__.__globals__"),
    Attack("globals through a wrapped function", "import functools\n@functools.lru_cache\ndef f(): pass\nreturn f.__wrapped__.__globals__"),
    Attack("closure cell", "import os\ndef outer():\n    m = os\n    return lambda: m\nreturn outer().__closure__[0].cell_contents"),
    Attack("defaults of a library function", "import json\nreturn json.loads.__globals__"),
    Attack("module dict of a module", "import json\nreturn json.__dict__['codecs']"),
    Attack("submodule of a module", "import json\nreturn json.codecs"),
    Attack("submodule by getattr", "import json\nreturn getattr(json, 'decoder')"),
    Attack("sys through a module", "import json\nreturn json.codecs.sys.modules"),
    Attack("loader of a module", "import json\nreturn json.__loader__.get_data.__globals__"),
    Attack("spec of a module", "import json\nreturn json.__spec__.loader.__init__.__globals__"),
    Attack("builtins of a module", "import json\nreturn json.__builtins__"),
    Attack("name of builtins", "return __builtins__"),
    Attack("import by name", "return __import__('os')"),
    Attack("import by getattr on nothing", "return (lambda: 0).__globals__['__builtins__']['__import__']"),
    Attack("loader by its name", "return __loader__.load_module('sys')", known=False),
    Attack("getattr with a text made at run time", "return getattr(lambda: 0, '__glo' + 'bals__')"),
    Attack("getattr with a subclass of str", """
        class S(str):
            def startswith(self, *_): return False
            def __contains__(self, *_): return False
        return getattr(lambda: 0, S('__globals__'))
    """),
    Attack("getattr with a default", "return getattr(len, '__self__', None)"),
    Attack("getattr through map", "return list(map(getattr, [len], ['__self__']))"),
    Attack("getattr through reduce", "import functools\nreturn functools.reduce(getattr, ['__class__', '__base__', '__subclasses__'], ())()"),
    Attack("attrgetter", "import operator\nreturn operator.attrgetter('__self__')(len)"),
    Attack("attrgetter of a path", "import operator\nreturn operator.attrgetter('f.__globals__')(type('A', (), {'f': lambda: 0}))"),
    Attack("attrgetter of a path on a class", "import operator\nclass A:\n    def f(self): pass\nreturn operator.attrgetter('f.__globals__')(A)"),
    Attack("methodcaller", "import operator\nreturn operator.methodcaller('__subclasses__')(object)"),
    Attack("vars of a function's module", "import json\nreturn vars(json)['codecs']"),
    Attack("vars of a function", "import functools\n@functools.wraps(len)\ndef f(): pass\nreturn vars(f)['__wrapped__'].__self__"),
    Attack("dict of a class", "return str.__dict__['format'].__get__('{0.__class__}')"),
    Attack("dict of its own class", "class A:\n    def f(self): pass\nreturn A.__dict__['f'].__globals__"),
    Attack("unicode that turns into underscores", "return len._＿self＿_"),
    Attack("unicode letters in a dunder", "return len.__ｓｅｌｆ__"),
    Attack("unicode name of builtins", "return __ｂuiltins__"),
    Attack("mangled name in a class", "class A:\n    def get(self):\n        return len.__self__\nreturn A().get()"),
    Attack("private names of a module's object", "import random\nreturn random._inst", known=False),
    Attack("private function of the library", "import random\nreturn random.Random()._randbelow.__func__.__globals__"),
    Attack("private names by getattr", "import json\nreturn getattr(json, '_default_encoder').__init__.__globals__"),
    Attack("private name of an abstract class", "import collections.abc as c\nclass A(c.Sized):\n    def __len__(self): return 1\nreturn A._dump_registry", known=False),
    Attack("private maker of an enumeration", "import enum\nclass E(enum.Enum):\n    pass\nreturn E._create_('X', {'a': 1}) and 'CANARY'", known=False),
)  # fmt: skip

FORMATS = (
    Attack("format reads an attribute", "def f(): pass\nreturn '{0.__globals__}'.format(f)"),
    Attack("format reads by name", "def f(): pass\nreturn '{f.__globals__}'.format(f=f)"),
    Attack("format reads an item of an attribute", "def f(): pass\nreturn '{0.__globals__[CANARY]}'.format(f)"),
    Attack("format_map", "def f(): pass\nreturn '{f.__globals__}'.format_map({'f': f})"),
    Attack("format in a nested field", "def f(): pass\nreturn '{0:{1.__globals__}}'.format('', f)", known=False),
    Attack("format, unbound", "def f(): pass\nreturn str.format('{0.__globals__}', f)"),
    Attack("format_map, unbound", "def f(): pass\nreturn str.format_map('{f.__globals__}', {'f': f})"),
    Attack("format by getattr", "def f(): pass\nreturn getattr('{0.__globals__}', 'format')(f)"),
    Attack("format through map", "def f(): pass\nreturn list(map('{0.__globals__}'.format, [f]))"),
    Attack("format through a star", "def f(): pass\nreturn [*map(str.format, ['{0.__globals__}'], [f])]"),
    Attack("format of a subclass of str", "class S(str): pass\ndef f(): pass\nreturn S('{0.__globals__}').format(f)"),
    Attack("format by super", """
        class S(str):
            def leak(self, f): return super().format(f)
        def f(): pass
        return S('{0.__globals__}').leak(f)
    """),
    Attack("format by a super with arguments", """
        class S(str): pass
        def f(): pass
        return super(S, S('{0.__globals__}')).format(f)
    """),
    Attack("format by an unbound super", "class S(str): pass\ndef f(): pass\nreturn super(S, S).format('{0.__globals__}', f)"),
    Attack("format as a class attribute", "class S(str):\n    leak = str.format\ndef f(): pass\nreturn S('{0.__globals__}').leak(f)"),
    Attack("format by methodcaller", "import operator\ndef f(): pass\nreturn operator.methodcaller('format', f)('{0.__globals__}')"),
    Attack("format by attrgetter", "import operator\ndef f(): pass\nreturn operator.attrgetter('format')('{0.__globals__}')(f)"),
    Attack("format by partial", "import functools\ndef f(): pass\nreturn functools.partial(str.format, '{0.__globals__}')(f)"),
    Attack("format of an enumeration's member", """
        import enum
        class E(str, enum.Enum):
            LEAK = '{0.__globals__}'
        def f(): pass
        return E.LEAK.format(f)
    """),
    Attack("string.Formatter", "import string\ndef f(): pass\nreturn string.Formatter().format('{0.__globals__}', f)"),
    Attack("string.Formatter's field", "import string\nreturn string.Formatter().get_field('0.__self__', [len], {})"),
    Attack("string.Template's own class", "import string\nreturn string.Template.substitute.__globals__"),
    Attack("an f-string", "def f(): pass\nreturn f'{f.__globals__}'"),
    Attack("an f-string's nested field", "def f(): pass\nreturn f'{1:{f.__globals__}}'", known=False),
    Attack("a dataclass field called format", """
        import dataclasses
        @dataclasses.dataclass
        class S(str):
            format: object
        return dataclasses.asdict(S.__new__(S, 'x')) if hasattr(S, '__new__') else dataclasses.asdict(S('x'))
    """),
    Attack("a dataclass above a text class", """
        import dataclasses
        @dataclasses.dataclass(init=False)
        class A:
            format: object
        class S(A, str):
            pass
        return dataclasses.asdict(S('x'))
    """),
    Attack("a match reads format of a text", """
        class S(str):
            __match_args__ = ('format',)
        match S('{0.__globals__}'):
            case S(leak):
                def f(): pass
                return leak(f)
    """),
    Attack("a match by keyword reads format", """
        def f(): pass
        match '{0.__globals__}':
            case str(format=leak):
                return leak(f)
    """),
    Attack("a match below an inherited pattern", """
        class A:
            __match_args__ = ('format',)
        class S(A, str):
            pass
        def f(): pass
        match S('{0.__globals__}'):
            case S(leak):
                return leak(f)
    """),
    Attack("a __format__ that is given its own spec", """
        class A:
            def __format__(self, spec): return spec
        def f(): pass
        return '{0:{1.__globals__}}'.format(A(), f)
    """),
    Attack("the percent sign with a mapping that calls", """
        class M(dict):
            def __missing__(self, key): return getattr(len, key)
        return [M()['__self__'], '%(__self__)s' % M()]
    """),
)  # fmt: skip


@table(*ATTRIBUTES, *FORMATS)
def test_an_attack_by_attributes_and_text_reaches_nothing(reach: Reach, attack: Attack) -> None:
    reach.check(attack.name, attack.code, is_escape=bool(loot(attack.code)))


@table(*(attack for attack in (*ATTRIBUTES, *FORMATS) if attack.known))
def test_in_plain_python_it_is(attack: Attack, plain_loot: Callable[[str], str]) -> None:
    assert plain_loot(attack.code)


@pytest.mark.parametrize(
    "text", ["{0.title}", "{a.b.c}", "{0[x.y]} {0.z}", "{0!r:>{1.width}}", "{0.__class__.__name__}"]
)
def test_format_still_reads_what_a_script_may_read(text: str) -> None:
    code = """
class Row(dict):
    width = 9
    title = "T"
    z = 3
    def __getattr__(self, name):
        return Row() if name in "bc" else 1
    def __missing__(self, key):
        return key
    def __repr__(self):
        return "row"
    __str__ = __repr__
return text.format(Row(), Row(), a=Row())
"""
    plain: dict[str, object] = {}
    body = "\n".join(f"    {line}" for line in code.strip().splitlines())
    exec(f"def f(text):\n{body}", plain)

    assert run_restricted(code, text=text) == plain["f"](text)
