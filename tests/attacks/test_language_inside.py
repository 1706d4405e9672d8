"""Attacks on what runs: frames, generators, coroutines, exceptions, tracebacks, and the names of the compiled code."""

# ruff: noqa: E501 - one attack, one line

from collections.abc import Callable

from tests.attacks.reach import Reach, outside, reach
from tests.sandbox.running import Attack, loot, table
from tests.sandbox.runs import nothing_is_left, runs, unguarded

__all__ = ["nothing_is_left", "outside", "reach", "runs", "unguarded"]

FRAMES = (
    Attack("frame of a generator", "def g(): yield\nreturn g().gi_frame"),
    Attack("frame of a generator expression", "return (x for x in ()).gi_frame"),
    Attack("code of a generator", "return (x for x in ()).gi_code"),
    Attack("frame of a generator by getattr", "return getattr((x for x in ()), 'gi_' + 'frame')"),
    Attack("frame of a generator by attrgetter", "import operator\nreturn operator.attrgetter('gi_frame.f_back')((x for x in ())) or operator.attrgetter('gi_frame')((x for x in ()))"),
    Attack("frame of a generator by format", "def g(): yield\nreturn '{0.gi_frame}'.format(g())"),
    Attack("frame of a generator by a match", "def g(): yield\nmatch g():\n    case object(gi_frame=frame):\n        return frame"),
    Attack("globals of a running generator", "def g():\n    yield me.gi_frame.f_globals\nme = g()\nreturn next(me)"),
    Attack("caller of a running generator", "def g():\n    yield me.gi_frame.f_back.f_globals\nme = g()\nreturn next(me)"),
    Attack("generator that yields from another", "def inner(): yield\ndef g():\n    yield from inner()\nme = g()\nnext(me)\nreturn me.gi_yieldfrom.gi_frame"),
    Attack("frame of a coroutine", "async def f(): pass\nc = f()\ntry:\n    return c.cr_frame\nfinally:\n    c.close()"),
    Attack("frame of an asynchronous generator", "async def f(): yield\nreturn f().ag_frame"),
    Attack("frame of a context manager's generator", "import contextlib\n@contextlib.contextmanager\ndef f(): yield\nreturn f().gen.gi_frame"),
    Attack("sys._getframe", "import sys\nreturn sys._getframe()"),
    Attack("frame by inspect", "import inspect\nreturn inspect.currentframe()"),
)  # fmt: skip

EXCEPTIONS = (
    Attack("traceback of an exception", "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    return e.__traceback__"),
    Attack("frame of a traceback", "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    return e.__traceback__.tb_frame"),
    Attack("traceback by getattr", "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    return getattr(e, '__traceback__')"),
    Attack("traceback by format", "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    return '{0.__traceback__.tb_frame}'.format(e)"),
    Attack("traceback given to __exit__", """
        class C:
            def __enter__(self): return self
            def __exit__(self, kind, error, trace):
                self.trace = trace
                return True
        with C() as c:
            1 / 0
        return c.trace
    """),
    Attack("traceback given to an __exit__ with a star", """
        class C:
            def __enter__(self): return self
            def __exit__(self, *error):
                self.trace = error
                return True
        with C() as c:
            1 / 0
        return c.trace
    """),
    Attack("traceback given to a static __exit__", """
        got = []
        class C:
            def __enter__(self): return self
            @staticmethod
            def __exit__(*error):
                got.append(error)
                return True
        with C():
            1 / 0
        return got
    """),
    Attack("traceback given to an __exit__ from elsewhere", """
        got = []
        def leave(self, *error):
            got.append(error)
            return True
        class C:
            def __enter__(self): return self
            __exit__ = leave
        with C():
            1 / 0
        return got
    """),
    Attack("traceback given to an __exit__ that was set later", """
        got = []
        def leave(self, *error):
            got.append(error)
            return True
        class C:
            def __enter__(self): return self
        setattr(C, '__exit__', leave)
        with C():
            1 / 0
        return got
    """),
    Attack("traceback given to an __aexit__", """
        got = []
        class C:
            async def __aenter__(self): return self
            async def __aexit__(self, *error):
                got.append(error)
                return True
        async with C():
            1 / 0
        return got
    """, known=False),
    Attack("context of an exception", "try:\n    try:\n        1 / 0\n    except ZeroDivisionError:\n        {}['k']\nexcept KeyError as e:\n    return e.__context__.__traceback__"),
    Attack("object of an AttributeError", "import json\ntry:\n    json.no_such_name\nexcept AttributeError as e:\n    return e.obj"),
    Attack("object of an AttributeError by getattr", "import json\ntry:\n    json.no_such_name\nexcept AttributeError as e:\n    return getattr(e, 'obj')"),
    Attack("object of an AttributeError by format", "import json\ntry:\n    json.no_such_name\nexcept AttributeError as e:\n    return '{0.obj}'.format(e)"),
    Attack("object of an AttributeError by a match", "import json\ntry:\n    json.no_such_name\nexcept AttributeError as e:\n    match e:\n        case AttributeError(obj=module):\n            return module"),
    Attack("object of an AttributeError by its descriptor", "import json\ntry:\n    json.no_such_name\nexcept AttributeError as e:\n    return AttributeError.obj.__get__(e)"),
    Attack("object of an AttributeError by a class attribute", "import json\nclass C:\n    obj = AttributeError.obj\ntry:\n    json.no_such_name\nexcept AttributeError as e:\n    return C.__dict__['obj'].__get__(e)"),
    Attack("object of an AttributeError by a dataclass", """
        import dataclasses, json
        @dataclasses.dataclass(init=False)
        class E(AttributeError):
            obj: object
        return dataclasses.astuple(E(name='x', obj=json))
    """, known=False),
    Attack("names of an ImportError", "try:\n    import os.nothing\nexcept ImportError as e:\n    return e.__traceback__"),
    Attack("an exception group", "try:\n    raise ExceptionGroup('g', [ValueError()])\nexcept* ValueError as e:\n    found = e.__traceback__\nreturn found"),
    Attack("with_traceback gives itself back", "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    return e.with_traceback(e.__traceback__).__traceback__"),
    Attack("value of a StopIteration", "def g():\n    return g.__globals__\n    yield\ntry:\n    next(g())\nexcept StopIteration as e:\n    return e.value"),
    Attack("traceback module", "import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError as e:\n    return traceback.walk_tb(e.__traceback__).gi_frame"),
    Attack("exception raised by a library function", "import json\ntry:\n    json.loads('{')\nexcept ValueError as e:\n    return e.__traceback__.tb_next.tb_frame.f_globals"),
)  # fmt: skip

HOOKS = (
    Attack("a name that hooks once had", "_getattr_ = lambda o, n: 'CANARY'\nreturn ().__class__ == 'CANARY' and '__builtins__'", known=False),
    Attack("a parameter called as a hook", "def f(_getattr_, /): return len.__self__\nreturn f(lambda o, n: '__builtins__')", known=False),
    Attack("a hook's name by getattr", "class A: pass\nreturn getattr(A(), '<read>')", known=False),
    Attack("a hook's name as a key of globals", "return globals()['<read>'].__globals__", known=False),
    Attack("globals of builtins replaced", "global __builtins__\nreturn __builtins__"),
    Attack("global of a dunder in a function", "def f():\n    global __builtins__\n    return __builtins__\nreturn f()"),
    Attack("nonlocal of a dunder", "def f():\n    __class__ = len\n    def g():\n        nonlocal __class__\n        return __class__.__self__\n    return g()\nreturn f()"),
    Attack("walrus to a dunder", "return (__name__ := 'CANARY') and len.__self__"),
    Attack("del of a dunder", "def f():\n    global __name__\n    del __name__\nf()\nreturn len.__self__"),
    Attack("an import under a dunder", "import json as __builtins__\nreturn __builtins__.codecs"),
    Attack("an import of a dunder", "from json import __builtins__ as b\nreturn b"),
    Attack("an import of a private name", "from json import _default_encoder as e\nreturn e.encode.__globals__ if hasattr(e.encode, '__globals__') else e.encode.__func__.__globals__"),
    Attack("an import of a submodule", "from json import codecs\nreturn codecs"),
    Attack("an import of a submodule by path", "import json.decoder as d\nreturn d"),
    Attack("an import of a module through urllib", "from urllib import request\nreturn request"),
    Attack("an import of a real submodule by path", "import urllib.request\nreturn urllib.request"),
    Attack("a star import", "from os import *\nreturn listdir", known=False),
    Attack("a relative import", "from . import os\nreturn os", known=False),
    Attack("importlib", "import importlib\nreturn importlib.import_module('os')"),
    Attack("builtins as a module", "import builtins\nreturn builtins.open"),
    Attack("sys in a try", "try:\n    import sys\nexcept ImportError:\n    raise\nreturn sys.modules['os']"),
    Attack("os in a try", "try:\n    import os\nexcept ValueError:\n    pass\nreturn os"),
    Attack("io.open", "import io\nreturn io.open"),
    Attack("io.FileIO", "import io\nwith io.FileIO('/dev/null') as f:\n    return [f]"),
    Attack("a module by C code's import", "import time\nfrom time import __doc__ as m\nreturn time.__loader__.load_module('sys')", known=False),
    Attack("a class body's locals", "class A:\n    leak = locals()['__module__'] and globals()\nreturn A.leak"),
    Attack("a comprehension's globals", "return [globals() for _ in [1]][0]"),
    Attack("a default argument", "def f(g=globals()): return g\nreturn f()"),
    Attack("a decorator", "@lambda f: f.__globals__\ndef f(): pass\nreturn f"),
    Attack("exec", "found = {}\nexec('import os; found = os', found)\nreturn found['os']"),
    Attack("eval", "return eval('__import__(\"os\")')"),
    Attack("eval through map", "return list(map(eval, ['__import__(\"os\")']))"),
    Attack("compile", "return compile('1', 'x', 'eval')"),
    Attack("open", "with open('/dev/null') as f:\n    return [f]"),
    Attack("open by another name", "reader = open\nreturn reader"),
    Attack("open bound elsewhere", "def f():\n    open = 1\n    return open\nf()\nreturn open"),
    Attack("breakpoint", "return breakpoint"),
    Attack("help", "return help"),
    Attack("input", "return input"),
    Attack("a lambda's code replaced", "f = lambda: 0\nf.__code__ = (lambda: 1).__code__\nreturn f.__code__"),
    Attack("a type annotation that is evaluated", "import typing\ndef f(x: '__import__(\"os\")'): pass\nreturn typing.get_type_hints(f)['x']", known=False),
    Attack("singledispatch evaluates annotations", "import functools\n@functools.singledispatch\ndef f(x): pass\nreturn f.dispatch.__globals__"),
    Attack("a dataclass's annotation as text", """
        import dataclasses
        @dataclasses.dataclass
        class A:
            x: "__import__('os')" = 1
        return dataclasses.fields(A)[0].__class__.__init__.__globals__
    """),
    Attack("an await that calls __await__", """
        class A:
            def __await__(self):
                yield self.__await__.__func__.__globals__
        async def f():
            await A()
        c = f()
        return c.send(None)
    """),
    Attack("a dunder awaited", "async def f(): return len.__self__\nc = f()\ntry:\n    c.send(None)\nexcept StopIteration as e:\n    return e.value"),
    Attack("a dunder in an erased loop", "import asyncio\nasync def g():\n    yield len.__self__\nasync def f():\n    async for x in g():\n        return x\nreturn asyncio.run(f())"),
    Attack("asyncio's own modules", "import asyncio\nreturn asyncio.subprocess"),
    Attack("asyncio's loop", "import asyncio\nreturn asyncio.events.__dict__"),
)  # fmt: skip


@table(*FRAMES, *EXCEPTIONS, *HOOKS)
def test_an_attack_by_what_runs_the_script_reaches_nothing(reach: Reach, attack: Attack) -> None:
    reach.check(attack.name, attack.code, is_escape=bool(loot(attack.code)))


@table(*(attack for attack in (*FRAMES, *EXCEPTIONS, *HOOKS) if attack.known))
def test_in_plain_python_it_is(attack: Attack, plain_loot: Callable[[str], str]) -> None:
    assert plain_loot(attack.code)
