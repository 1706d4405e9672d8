"""Attacks by classes: how they are made, what they inherit, and what Python asks of their objects."""

# ruff: noqa: E501 - one attack, one line

from collections.abc import Callable

from tests.attacks.reach import Reach, outside, reach
from tests.sandbox.running import Attack, loot, table
from tests.sandbox.runs import nothing_is_left, runs, unguarded

__all__ = ["nothing_is_left", "outside", "reach", "runs", "unguarded"]

MAKING = (
    Attack("type with three arguments", "def f(): pass\nreturn type('A', (), {'__getattribute__': lambda s, n: f.__globals__})().x"),
    Attack("type of a type", "return type(type(1))"),
    Attack("type of a function", "return type(lambda: 0)"),
    Attack("type of a module", "import json\nreturn type(json)"),
    Attack("type of a generator", "return type(x for x in ())"),
    Attack("class of a function", "return (lambda: 0).__class__"),
    Attack("class of a class", "class A: pass\nreturn A.__class__"),
    Attack("class of a class of an object", "class A: pass\nreturn A().__class__.__class__"),
    Attack("class by format of a class", "import json\nreturn type('{0.__class__}'.format(json)) and '{0.__class__.__init__.__globals__}'.format(json.JSONEncoder())", known=False),
    Attack("a new module from a module's type", "import json\nreturn type(json)('x').__loader__ or type(json)('x')"),
    Attack("a metaclass", "class M(type):\n    def __call__(cls): return cls.__subclasses__\nclass A(metaclass=M): pass\nreturn M.__mro__[1]"),
    Attack("a metaclass that is a function", "class A(metaclass=lambda n, b, ns: type): pass\nreturn A"),
    Attack("a metaclass by two stars", "class A(**{'metaclass': lambda n, b, ns: type}): pass\nreturn A"),
    Attack("a metaclass called ABCMeta", "ABCMeta = lambda n, b, ns: (lambda: 0).__globals__\nclass A(metaclass=ABCMeta): pass\nreturn A"),
    Attack("a class derived from type", "class M(type): pass\nreturn M.__mro__"),
    Attack("a class derived from a stand-in", "class F(type(lambda: 0)): pass\nreturn F", known=False),
    Attack("a class derived from super", "class S(super): pass\nreturn S.__mro__[1].__subclasses__", known=False),
    Attack("a class derived from property", "class P(property): pass\nclass A:\n    @P\n    def x(self): return 1\nreturn A.__dict__['x'].fget.__globals__"),
    Attack("a class derived from a module's type", "import types\nclass M(types.ModuleType): pass\nreturn M('x')"),
    Attack("a class derived from random.Random", """
        import random
        class R(random.Random):
            def leak(self): return self._randbelow.__func__.__globals__
        return R().leak()
    """),
    Attack("a class derived from functools.partial", "import functools\nclass P(functools.partial): pass\nreturn P(len).func.__self__"),
    Attack("a class derived from a decimal context", "import decimal\nclass C(decimal.Context): pass\nreturn C().clear_flags.__self__.__class__.__mro__[-1].__subclasses__()"),
    Attack("a class derived from json.JSONDecoder", "import json\nclass D(json.JSONDecoder): pass\nreturn D().parse_object.__globals__"),
    Attack("bases that choose others", """
        class B:
            def __mro_entries__(self, bases): return (type,)
        class A(B()): pass
        return A.__mro__[1]
    """),
    Attack("bases that choose others by __getattr__", """
        class B:
            def __getattr__(self, name):
                return lambda bases: (type,)
        class A(B()): pass
        return A.__mro__[1]
    """, known=True),
    Attack("bases that choose others by an object's dict", """
        class B: pass
        b = B()
        b.__dict__['__mro_entries__'] = lambda bases: (type,)
        class A(b): pass
        return A.__mro__[1]
    """),
    Attack("a body prepared by another", "class P:\n    def __getattr__(self, name):\n        return lambda *a, **k: {'x': len.__self__}\nclass A(P()): pass\nreturn A.x", known=False),
    Attack("assignment of __class__", "class A: pass\nclass B:\n    def leak(self): return self.leak.__func__.__globals__\na = A()\na.__class__ = B\nreturn a.leak()"),
    Attack("assignment of __bases__", "class A: pass\nclass B(A): pass\nclass C:\n    leak = len\nB.__bases__ = (C,)\nreturn B().leak.__self__"),
    Attack("setattr of __class__", "class A: pass\nclass B:\n    x = len\na = A()\nsetattr(a, '__class__', B)\nreturn a.x.__self__"),
    Attack("object.__setattr__ of __class__", "class A: pass\nclass B:\n    x = len\na = A()\nobject.__setattr__(a, '__class__', B)\nreturn a.x.__self__"),
    Attack("object.__setattr__ on a module", "import json\nobject.__setattr__(json, 'x', len)\nreturn json.x.__self__"),
    Attack("super().__setattr__ of __class__", "class B:\n    x = len\nclass A:\n    def turn(self): super().__setattr__('__class__', B)\na = A()\na.turn()\nreturn a.x.__self__"),
    Attack("type.__setattr__ by object", "object.__setattr__(int, 'x', 1)\nreturn int.x and '__builtins__'", known=False),
    Attack("__new__", "class A:\n    def __new__(cls): return cls.__new__.__globals__\nreturn A()"),
    Attack("__init_subclass__", "class A:\n    def __init_subclass__(cls): cls.leak = cls.__init_subclass__.__func__.__globals__\nclass B(A): pass\nreturn B.leak"),
    Attack("__set_name__", "class D:\n    def __set_name__(self, owner, name): owner.leak = D.__set_name__.__globals__\nclass A:\n    x = D()\nreturn A.leak"),
    Attack("__get__", "class D:\n    def __get__(self, i, owner): return type(self).__get__.__globals__\nclass A:\n    x = D()\nreturn A.x"),
    Attack("__getattribute__", "class A:\n    def __getattribute__(self, name): return A.__getattribute__.__globals__\nreturn A().x"),
    Attack("__class_getitem__", "class A:\n    def __class_getitem__(cls, k): return cls.__class_getitem__.__func__.__globals__\nreturn A[1]"),
    Attack("__instancecheck__ by a match", "class M(type):\n    def __instancecheck__(c, i): return True\nclass A(metaclass=M): pass\nmatch len:\n    case A(__self__=m):\n        return m"),
    Attack("__del__", "got = []\nclass A:\n    def __del__(self): got.append(A.__del__.__globals__)\na = A()\ndel a\nreturn got"),
    Attack("__reduce__ of a copy", "import copy\nclass A:\n    def __reduce__(self): return (getattr, (len, '__self__'))\nreturn copy.copy(A())"),
    Attack("__reduce_ex__ of a deep copy", "import copy\nclass A:\n    def __reduce_ex__(self, p): return (getattr, (len, '__self__'))\nreturn copy.deepcopy(A())"),
    Attack("__reduce_ex__ by __getattr__", "import copy\nclass A:\n    def __getattr__(self, n): return lambda *a: (getattr, (len, '__self__'))\nreturn copy.copy(A())", known=False),
    Attack("__deepcopy__ is given the memory", "import copy\nclass A:\n    def __deepcopy__(self, memo): return self.__deepcopy__.__func__.__globals__\nreturn copy.deepcopy(A())"),
    Attack("__setstate__", "import copy\nclass A:\n    def __getstate__(self): return 1\n    def __setstate__(self, s): self.x = A.__setstate__.__globals__\nreturn copy.copy(A()).x"),
    Attack("__slots__ called __class__", "class A:\n    __slots__ = ('__dict__',)\na = A()\nreturn a.__init__.__objclass__.__subclasses__()", known=False),
    Attack("__slots__ made at run time", "names = ['__cl' + 'ass__']\nclass A:\n    __slots__ = names\nreturn 'CANARY' and A.__dict__", known=False),
    Attack("__match_args__ made at run time", "class A(type(len)): pass", known=False),
    Attack("__match_args__ of a dunder", "class A:\n    __match_args__ = ('__init__',)\n    def __init__(self): pass\nmatch A():\n    case A(method):\n        return method.__func__.__globals__"),
    Attack("a match by a dunder", "match len:\n    case object(__self__=module):\n        return module"),
    Attack("a match by a dunder of a class", "class A:\n    def f(self): pass\nmatch A.f:\n    case object(__globals__=found):\n        return found"),
    Attack("a match's value by a dunder", "import json\nclass A:\n    pass\nmatch 1:\n    case json.__builtins__: pass\n    case _:\n        return json.__builtins__"),
    Attack("a match's class by a dunder", "def f(): pass\nmatch 1:\n    case f.__globals__.x(): pass\n    case _: pass\nreturn '__builtins__'", known=False),
    Attack("a match captures a dunder", "match len:\n    case __builtins__:\n        return __builtins__.__self__"),
    Attack("a match's star captures a dunder", "match [len]:\n    case [*__builtins__]:\n        return __builtins__[0].__self__"),
    Attack("a match's rest captures a dunder", "match {'a': len}:\n    case {**__builtins__}:\n        return __builtins__['a'].__self__"),
    Attack("super reads a dunder", "class A:\n    def leak(self): return super().__init_subclass__.__self__.leak.__globals__\nreturn A().leak()"),
    Attack("super reads globals of a parent's method", "class A:\n    def f(self): pass\nclass B(A):\n    def leak(self): return super().f.__func__.__globals__\nreturn B().leak()"),
    Attack("super reads the class it stands in", "class A:\n    def leak(self): return super().__thisclass__.__subclasses__.__self__.leak.__globals__\nreturn A().leak()"),
    Attack("super reads hidden names", "import collections.abc as c\nclass A(c.Sized):\n    def __len__(self): return 1\n    @classmethod\n    def leak(cls): return super()._abc_impl and '__builtins__'\nreturn A.leak()"),
    Attack("super().__getattribute__", "class A:\n    def f(self): pass\n    def leak(self): return super().__getattribute__('f').__func__.__globals__\nreturn A().leak()"),
    Attack("a property's getter", "class A:\n    @property\n    def x(self): return 1\nreturn A.x.fget.__globals__"),
    Attack("a library property's getter", "import fractions\nreturn fractions.Fraction.numerator.fget.__globals__"),
    Attack("a hidden name read after it was taken away", """
        import collections.abc as c
        class A(c.Sized):
            _abc_impl = 1
            def __len__(self): return 1
        a = A()
        a._abc_impl
        del A._abc_impl
        return a._abc_impl and '__builtins__'
    """, known=False),
    Attack("a hidden name changed in place", "import collections.abc as c\nclass A(c.Sized):\n    def __len__(self): return 1\na = A()\na._abc_impl += 1\nreturn '__builtins__'", known=False),
    Attack("__getattr__ of a class asked for dunders", "class A:\n    def __getattr__(self, name):\n        return self.__getattr__.__func__.__globals__\nreturn A().x"),
    Attack("a library class changed", "import json\njson.JSONEncoder.default = lambda s, o: '__builtins__'\nreturn json.loads(json.dumps(object()))"),
    Attack("a library class changed by setattr", "import collections\nsetattr(collections.Counter, 'leak', '__builtins__')\nreturn collections.Counter().leak"),
    Attack("a library function changed", "import json\njson.dumps.leak = '__builtins__'\nreturn json.dumps.leak"),
    Attack("a shared enumeration base changed", "import enum\nenum.Enum.leak = '__builtins__'\nclass E(enum.Enum):\n    A = 1\nreturn E.A.leak"),
    Attack("a shared abstract base changed", "import collections.abc as c\nc.Sized.leak = '__builtins__'\nclass A(c.Sized):\n    def __len__(self): return 1\nreturn A().leak"),
    Attack("an abstract class taught another", "import collections.abc as c\nclass A: pass\nc.Mapping.register(A)\nreturn isinstance(A(), c.Mapping) and '__builtins__'"),
)  # fmt: skip

GENERATED = (
    Attack("a functional enumeration with a dunder", "import enum\nE = enum.Enum('E', {'__class_getitem__': classmethod(lambda c, k: c._member_map_)})\nreturn E.__init_subclass__.__self__.__mro__[1]", known=False),
    Attack("a functional enumeration from a list", "import enum\nE = enum.Enum('E', [('__reduce_ex__', 1)])\nreturn '__builtins__'", known=False),
    Attack("a functional enumeration with a type", "import enum\nE = enum.Enum('E', 'A B', type=int, module='os')\nreturn '__builtins__'"),
    Attack("the enumeration's own class", "import enum\nclass E(enum.Enum):\n    A = 1\nreturn E.__mro__[1].__subclasses__.__self__ is enum.Enum and enum.Enum"),
    Attack("the class of an enumeration", "import enum\nclass E(enum.Enum):\n    A = 1\nreturn E.__class__.__call__.__globals__"),
    Attack("_missing_ reads its class", "import enum\nclass E(enum.Enum):\n    A = 1\n    @classmethod\n    def _missing_(cls, value): return cls._missing_.__func__.__globals__\ntry:\n    E(2)\nexcept Exception as e:\n    return str(e)", known=False),
    Attack("_generate_next_value_", "import enum\nclass E(enum.Enum):\n    @staticmethod\n    def _generate_next_value_(name, start, count, last): return E._generate_next_value_.__globals__\n    A = enum.auto()\nreturn E.A.value", known=False),
    Attack("the map of an enumeration's members", "import enum\nclass E(enum.Enum):\n    A = 1\nE._member_map_['B'] = '__builtins__'\nreturn E['B']"),
    Attack("the map of members, by its public name", "import enum\nclass E(enum.Enum):\n    A = 1\nE.__members__['B'] = '__builtins__'\nreturn E['B']", known=False),
    Attack("make_dataclass", "import dataclasses\nreturn dataclasses.make_dataclass('A', ['x'], namespace={'__getattr__': lambda s, n: s.__init__.__globals__})(1).y"),
    Attack("a dataclass of a library class", "import dataclasses, collections\ndataclasses.dataclass(collections.Counter)\nreturn collections.Counter.__dataclass_params__ and '__builtins__'"),
    Attack("a text class caught while it is made", """
        import dataclasses, enum
        caught = []
        @dataclasses.dataclass
        class A:
            format: object
        try:
            class S(A, str, enum.Enum):
                X = '{0.__class__}'
                def __init__(self, value):
                    caught.append(self)
                    raise ValueError
        except (TypeError, ValueError):
            pass
        return dataclasses.asdict(caught[0]) if caught else dataclasses.asdict(A(''.format))
    """),
    Attack("a dataclass field that two classes share", """
        import dataclasses
        shared = dataclasses.field(default=1)
        class S(str):
            plain: int = shared
        dataclasses.dataclass(init=False)(S)
        class B:
            format: int = shared
        dataclasses.dataclass(B)
        return dataclasses.asdict(S('x'))
    """),
    Attack("a shared field reads a hidden name", """
        import dataclasses, collections.abc
        shared = dataclasses.field(default=1)
        got = []
        class A(collections.abc.Sized):
            plain: int = shared
            def __len__(self): return 1
            def __init__(self, **parts): got.append(parts)
        dataclasses.dataclass(init=False)(A)
        class B:
            _dump_registry: int = shared
        dataclasses.dataclass(B)
        dataclasses.replace(A())
        return got[1]['_dump_registry'].__func__.__globals__
    """, known=False),
    Attack("what an enumeration makes its members with", "import enum\nclass E(enum.Enum):\n    A = 1\nreturn vars(E)['_new_member_']"),
    Attack("what an enumeration makes its members with, by its dict", "import enum\nclass E(enum.Enum):\n    A = 1\nreturn E.__dict__['_new_member_']"),
    Attack("setattr takes away what is hidden", "import collections.abc as c\nclass A(c.Sized):\n    def __len__(self): return 1\nsetattr(A, '<hidden>', frozenset())\nreturn A._abc_impl and '__builtins__'", known=True),
    Attack("a dataclass of a function", "import dataclasses\nreturn dataclasses.dataclass(lambda: 0).__globals__", known=False),
    Attack("a dataclass option that is unknown", "import dataclasses\nreturn dataclasses.dataclass(weakref_slot=True, slots=True)(type('A', (), {})).__subclasses__.__self__.__mro__[1].__subclasses__()"),
    Attack("a field's factory", "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: object = dataclasses.field(default_factory=globals)\nreturn A().x"),
    Attack("a field's own class", "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 1\nreturn dataclasses.fields(A)[0].__class__.__init__.__globals__"),
    Attack("a field is changed", "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 1\ndataclasses.fields(A)[0].name = '__class__'\nreturn list(dataclasses.asdict(A()).values())[0].__init__.__globals__", known=False),
    Attack("a field's name is a dunder", "import dataclasses\n@dataclasses.dataclass\nclass A:\n    __class__: object = None\nreturn '__builtins__'"),
    Attack("the fields of a dataclass by their hidden name", "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 1\nreturn A.__dataclass_fields__['x'].__class__.__init__.__globals__"),
    Attack("the generated __init__", "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 1\nreturn A.__init__.__globals__", known=False),
    Attack("the generated __init__ of a copy", "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 1\nreturn A.__init__.__closure__[0].cell_contents.__class__.__init__.__globals__", known=False),
    Attack("the type of a field", "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: len = 1\nreturn dataclasses.fields(A)[0].type.__self__"),
    Attack("asdict with a factory", "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 1\nreturn dataclasses.asdict(A(), dict_factory=lambda p: (lambda: 0).__globals__)"),
    Attack("replace with a dunder", "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 1\nreturn dataclasses.replace(A(), **{'__class__': int}) and '__builtins__'", known=False),
    Attack("a named tuple with a dunder", "import collections\nreturn collections.namedtuple('N', '__class__')", known=False),
    Attack("a named tuple with code for a name", "import collections\nreturn collections.namedtuple('N', ['x=__import__(\"os\")'])()", known=False),
    Attack("a named tuple with a deceiving name", """
        import collections
        class S(str):
            def isidentifier(self): return True
            def __str__(self): return self
        return collections.namedtuple('N', [S('x=len.__self__')])().x
    """, known=False),
    Attack("a named tuple's maker", "import collections\nN = collections.namedtuple('N', 'a')\nreturn N.__new__.__globals__", known=False),
    Attack("a named tuple's method", "import collections\nN = collections.namedtuple('N', 'a')\nreturn N._make.__func__.__globals__"),
    Attack("a named tuple's method by getattr", "import collections\nN = collections.namedtuple('N', 'a')\nreturn getattr(N(1), '_asdict').__func__.__globals__"),
    Attack("typing.NamedTuple with a base", "import typing\nclass N(typing.NamedTuple):\n    a: int\nreturn N.__orig_bases__[0].__globals__"),
    Attack("typing.TypedDict's class", "import typing\nclass T(typing.TypedDict):\n    a: int\nreturn T.__class__.__call__.__globals__", known=False),
    Attack("typing.NewType's module", "import typing\nreturn typing.NewType('T', int).__init__.__globals__", known=False),
    Attack("typing's own helpers", "import typing\nreturn typing.sys"),
    Attack("get_type_hints", "import typing\nclass A:\n    x: '(lambda: 0).__globals__'\nreturn typing.get_type_hints(A.__init__) or typing.get_type_hints.__globals__"),
    Attack("ForwardRef evaluates", "import typing\nreturn typing.ForwardRef('len.__self__')._evaluate({}, {}, recursive_guard=frozenset())", known=False),
    Attack("total_ordering of a library class", "import functools, collections\nreturn functools.total_ordering(collections.Counter).__lt__.__globals__", known=False),
    Attack("cached_property writes a dunder", "import functools\nclass A: pass\np = functools.cached_property(lambda s: 'x')\np.__set_name__(A, '__class__')\nA.p = p\nreturn A().p and '__builtins__'", known=False),
    Attack("cached_property's function", "import functools\nclass A:\n    @functools.cached_property\n    def x(self): return 1\nreturn A.x.func.__globals__"),
    Attack("update_wrapper", "import functools\nclass A: pass\ndef f(): pass\nreturn functools.update_wrapper(A(), f).__wrapped__.__globals__"),
    Attack("partialmethod", "import functools\nreturn functools.partialmethod(len).func.__self__"),
    Attack("partial's state", "import functools\np = functools.partial(len)\np.__setstate__((getattr, (len, '__self__'), {}, {}))\nreturn p()"),
    Attack("abstractmethod marks a library function", "import abc, json\nabc.abstractmethod(json.dumps)\ntry:\n    return json.dumps.__isabstractmethod__ and '__builtins__'\nfinally:\n    del json.dumps.__isabstractmethod__"),
)  # fmt: skip


@table(*MAKING, *GENERATED)
def test_an_attack_by_classes_reaches_nothing(reach: Reach, attack: Attack) -> None:
    reach.check(attack.name, attack.code, is_escape=bool(loot(attack.code)))


@table(*(attack for attack in (*MAKING, *GENERATED) if attack.known))
def test_in_plain_python_they_do(attack: Attack, plain_loot: Callable[[str], str]) -> None:
    assert plain_loot(attack.code)
