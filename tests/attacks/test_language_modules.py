"""Attacks by what scripts may import, and by the SDK: facades, their functions, and what these give away."""

# ruff: noqa: E501 - one attack, one line

from collections.abc import Callable

import pytest

from panorama.sandbox.language import restricted
from panorama.sandbox.rules.facades import Facade
from tests.attacks.reach import Reach, outside, reach
from tests.sandbox.running import SDK, Attack, loot, modules, run_restricted, table
from tests.sandbox.runs import nothing_is_left, runs, unguarded

__all__ = ["nothing_is_left", "outside", "reach", "runs", "unguarded"]

MODULES = (
    Attack("functools.reduce over getattr", "import functools\nreturn functools.reduce(getattr, ['__init__', '__globals__'], functools.cached_property(len))", known=False),
    Attack("functools.partial of getattr", "import functools\nreturn functools.partial(getattr, len)('__self__')"),
    Attack("functools.cmp_to_key's object", "import functools\nreturn functools.cmp_to_key(lambda a, b: 0)(len).obj.__self__"),
    Attack("functools.lru_cache around getattr", "import functools\nreturn functools.lru_cache(getattr)(len, '__self__')"),
    Attack("operator.call of getattr", "import operator\nreturn operator.call(getattr, len, '__self__')"),
    Attack("operator.setitem on a module's dict", "import json, operator\noperator.setitem(vars(json), 'leak', '__builtins__')\nreturn json.leak"),
    Attack("operator.attrgetter of several", "import operator\nreturn operator.attrgetter('__class__', '__self__')(len)"),
    Attack("sorted with a key that reads", "import operator\nreturn sorted([len, max], key=operator.attrgetter('__name__.__class__.__base__.__subclasses__')) and '__builtins__'", known=False),
    Attack("map of attrgetter", "import operator\nreturn list(map(operator.attrgetter('__self__'), [len]))"),
    Attack("itertools.starmap of getattr", "import itertools\nreturn list(itertools.starmap(getattr, [(len, '__self__')]))"),
    Attack("a json default that returns more", "import json\nreturn json.dumps(object(), default=lambda o: str(globals()))"),
    Attack("a json object hook that reads", "import json\nreturn json.loads('{}', object_hook=lambda o: len.__self__)"),
    Attack("a json decoder's inside", "import json\nreturn json.JSONDecoder().scan_once.__self__ if False else json.decoder"),
    Attack("a json decoder's functions", "import json\nreturn json.JSONDecoder().parse_object.__globals__"),
    Attack("a json decoder's functions by format", "import json\nreturn '{0.parse_object.__globals__}'.format(json.JSONDecoder())"),
    Attack("a json encoder's method", "import json\nclass E(json.JSONEncoder):\n    def default(self, o): return str(super().default.__func__.__globals__)\nreturn json.dumps(object(), cls=E)"),
    Attack("a json cls that is no encoder", "import json\nreturn json.dumps(1, cls=lambda **k: type('E', (), {'encode': lambda s, o: str(globals())})())"),
    Attack("a re callback that reads", "import re\nreturn re.sub('a', lambda m: str(m.re.__class__.__module__.__class__.__subclasses__) + str(globals()), 'a')"),
    Attack("re's compiler", "import re\nreturn re._compiler"),
    Attack("re's cache", "import re\nreturn re._compile.__globals__"),
    Attack("random's own system", "import random\nreturn random.SystemRandom.__init__.__globals__ if hasattr(random.SystemRandom.__init__, '__globals__') else random.SystemRandom.random.__globals__"),
    Attack("random's seed with an object", "import random\nclass S:\n    def __hash__(self): return len.__self__\nrandom.seed(S())\nreturn '__builtins__'", known=False),
    Attack("random's module", "import random\nreturn random._os"),
    Attack("random's bound instance", "import random\nreturn random.random.__self__.seed.__func__.__globals__"),
    Attack("statistics' module", "import statistics\nreturn statistics.sys"),
    Attack("statistics' functions", "import statistics\nreturn statistics.mean.__globals__"),
    Attack("decimal's context method", "import decimal\nreturn decimal.getcontext().create_decimal.__self__.__class__.__mro__[-1].__subclasses__()"),
    Attack("collections' module", "import collections\nreturn collections._sys"),
    Attack("collections.UserDict's module", "import collections\nreturn collections.UserDict.__init__.__globals__"),
    Attack("a Counter's method", "import collections\nreturn collections.Counter.most_common.__globals__"),
    Attack("a ChainMap's method", "import collections\nreturn collections.ChainMap().new_child.__func__.__globals__"),
    Attack("copy's functions", "import copy\nreturn copy.deepcopy.__globals__"),
    Attack("copy's table", "import copy\nreturn copy._reconstruct.__globals__"),
    Attack("a copy of a module", "import copy, json\nreturn copy.copy([json.codecs])"),
    Attack("a deep copy given its memory", "import copy\nreturn copy.deepcopy([], {id([]): len})  and '' or copy.deepcopy.__globals__"),
    Attack("contextlib's functions", "import contextlib\nreturn contextlib.contextmanager.__globals__"),
    Attack("contextlib.redirect_stdout", "import contextlib\nreturn contextlib.redirect_stdout.__init__.__globals__"),
    Attack("an exit stack is given the traceback", """
        import contextlib
        got = []
        with contextlib.suppress(ZeroDivisionError), contextlib.ExitStack() as stack:
            stack.push(lambda *error: got.append(error))
            1 / 0
        return got
    """),
    Attack("a context manager's inside", "import contextlib\n@contextlib.contextmanager\ndef f(): yield\nreturn f()._recreate_cm.__func__.__globals__"),
    Attack("a context manager's function", "import contextlib\n@contextlib.contextmanager\ndef f(): yield\nreturn f().func.__globals__"),
    Attack("a csv reader's module", "import csv\nreturn csv.DictReader.__init__.__globals__"),
    Attack("csv's sniffer", "import csv\nreturn csv.Sniffer().sniff.__func__.__globals__"),
    Attack("a csv dialect's class", "import csv\nreturn csv.Sniffer().sniff('a,b').__init__.__globals__"),
    Attack("uuid's module", "import uuid\nreturn uuid.os"),
    Attack("uuid1 runs programs", "import uuid\nreturn uuid.getnode.__globals__"),
    Attack("uuid's node", "import uuid\nreturn uuid.uuid1.__globals__"),
    Attack("an enumeration inside uuid", "import uuid\nreturn uuid.UUID(int=1).is_safe.__class__.__call__.__globals__"),
    Attack("re's own flags make a class", "import re\nreturn re.RegexFlag._create_.__func__.__globals__", known=True),
    Attack("textwrap's module", "import textwrap\nreturn textwrap.re"),
    Attack("a template's pattern", "import string\nreturn string.Template('$a').safe_substitute.__func__.__globals__"),
    Attack("calendar's module", "import calendar\nreturn calendar.sys"),
    Attack("datetime's module", "import datetime\nreturn datetime.__builtins__"),
    Attack("time by C code's import", "import datetime, sys\ndatetime.datetime.strptime('2024', '%Y')\nreturn sys.modules['_strptime']"),
    Attack("a zone read from a file", "import zoneinfo\nwith open('/dev/null', 'rb') as f:\n    try:\n        zoneinfo.ZoneInfo.from_file(f)\n    except ValueError:\n        return '__builtins__'"),
    Attack("a zone by a path", "import zoneinfo\ntry:\n    zoneinfo.ZoneInfo('../../../etc/passwd')\nexcept ValueError as e:\n    return '__builtins__'"),
    Attack("a zone past the cache", "import zoneinfo\nreturn zoneinfo.ZoneInfo.no_cache('Europe/Berlin') and '__builtins__'"),
    Attack("zoneinfo's paths", "import zoneinfo\nreturn zoneinfo.TZPATH and zoneinfo._tzpath"),
    Attack("urllib's modules", "import urllib.parse\nreturn urllib.parse.re"),
    Attack("html's modules", "import html\nreturn html._re"),
    Attack("pprint's printer", "import pprint\nreturn pprint.PrettyPrinter.__init__.__globals__"),
    Attack("pprint to a stream", "import pprint\ngot = []\nclass S:\n    def write(self, text): got.append(text)\npprint.pprint(globals(), stream=S())\nreturn ''.join(got)"),
    Attack("types' classes", "import types\nreturn types.FunctionType"),
    Attack("types' module class", "import types\nreturn types.ModuleType"),
    Attack("types.new_class", "import types\nreturn types.new_class('A', (type,), {}, lambda ns: None).__mro__[1]"),
    Attack("types.resolve_bases", "import types\nreturn types.resolve_bases.__globals__"),
    Attack("enum's own class", "import enum\nreturn enum.EnumMeta.__call__.__globals__"),
    Attack("enum's module", "import enum\nreturn enum.sys"),
    Attack("dataclasses' module", "import dataclasses\nreturn dataclasses.sys"),
    Attack("difflib's module", "import difflib\nreturn difflib._nlargest.__globals__"),
    Attack("hashlib's module", "import hashlib\nreturn hashlib.file_digest.__globals__"),
    Attack("abc's module", "import abc\nreturn abc.update_abstractmethods.__globals__"),
    Attack("numbers' module", "import numbers\nreturn numbers.__builtins__"),
    Attack("heapq's comparisons", "import heapq\nclass A:\n    def __lt__(self, o): raise StopIteration(A.__lt__.__globals__)\ntry:\n    heapq.heapify([A(), A()])\nexcept StopIteration as e:\n    return e.value"),
    Attack("io's buffer of a file", "import io\nreturn io.open_code and io.open"),
    Attack("a StringIO's own dict", "import io\nreturn io.StringIO().__dict__ or io.__dict__['open']"),
)  # fmt: skip

POISON = (
    Attack("a module's function is replaced", "import json\njson.dumps = lambda *a: '__builtins__'\nreturn json.dumps(1)"),
    Attack("a module's function is replaced by setattr", "import json\nsetattr(json, 'leak', '__builtins__')\nreturn json.leak"),
    Attack("a module's name is deleted", "import html\nkept = html.escape\ntry:\n    del html.escape\nfinally:\n    html.escape = kept\nreturn '__builtins__'"),
    Attack("a module's name is a loop's target", "import json\nfor json.leak in ['__builtins__']: pass\nreturn json.leak"),
    Attack("a module's name in a with", "import contextlib, json\nwith contextlib.nullcontext('__builtins__') as json.leak: pass\nreturn json.leak"),
    Attack("a module's name by unpacking", "import json\n(json.leak, b) = ('__builtins__', 1)\nreturn json.leak"),
    Attack("a module's name by a starred target", "import json\n[a, *json.leak] = [1, '__builtins__']\nreturn json.leak"),
    Attack("a module's name in a comprehension", "import json\n[0 for json.leak in ['__builtins__']]\nreturn json.leak"),
    Attack("a module's name is added to", "import math\nkept = math.pi\nmath.pi += 1\nchanged, math.pi = math.pi, kept\nreturn changed > 4 and '__builtins__'"),
    Attack("a module's name by its class", "import json\nobject.__setattr__(json, 'leak', '__builtins__')\nreturn json.leak"),
    Attack("a module's dict", "import json\njson.__dict__['leak'] = '__builtins__'\nreturn json.leak"),
    Attack("a module initialised again", "import json\njson.__init__('x')\nreturn json.__name__ == 'x' and '__builtins__'"),
    Attack("a copy of a module is changed", "import copy, types\nm = copy.replace(types.SimpleNamespace(leak=1), leak='__builtins__') if hasattr(copy, 'replace') else types.SimpleNamespace(leak='__builtins__')\nreturn type(m)('x') and '__builtins__'", known=False),
    Attack("the SDK is changed", "sdk.leak = '__builtins__'\nreturn sdk.leak"),
    Attack("an SDK function is replaced", "sdk.tasks.list = lambda: '__builtins__'\nreturn sdk.tasks.list()"),
    Attack("an SDK function gets an attribute", "sdk.tasks.list.leak = '__builtins__'\nreturn sdk.tasks.list.leak"),
    Attack("an SDK function is deleted", "del sdk.tasks.list\nreturn '__builtins__'"),
    Attack("an SDK error class is changed", "sdk.SdkError.__str__ = lambda s: '__builtins__'\nreturn '__builtins__'"),
    Attack("an SDK error class gets an attribute", "sdk.SdkError.leak = '__builtins__'\nreturn sdk.SdkError.leak"),
    Attack("the class of rows is changed", "sdk.Row.leak = '__builtins__'\nreturn sdk.Row.leak"),
    Attack("globals of an SDK function", "return sdk.tasks.list.__globals__"),
    Attack("what an SDK function wraps", "return sdk.tasks.list.__wrapped__.__globals__"),
    Attack("the transport through the SDK", "return sdk.core.wire"),
    Attack("the transport through a facade's slots", "return sdk._title and '__builtins__'", known=False),
    Attack("the transport by an import", "from panorama.sdk import _wire\nreturn _wire"),
    Attack("the package by an import", "import panorama.services\nreturn panorama.services"),
    Attack("the package by a from", "from panorama import errors\nreturn errors"),
    Attack("the sandbox by an import", "import panorama.sandbox.rules.guards as g\nreturn g"),
    Attack("a row's class makes a function", "return sdk.Row.__getattr__.__globals__"),
    Attack("a row's repr reads more", "return '{0.__class__.__repr__.__globals__}'.format(sdk.Row(a=1))"),
    Attack("a row with a dunder field", "row = sdk.Row()\nrow['__class__'] = len\nreturn row.__class__.__self__", known=False),
    Attack("a row's private names", "return sdk.Row()._asdict.__globals__", known=False),
    Attack("a table reads attributes", "return sdk.markdown_table([len], columns=['__self__'])", known=False),
    Attack("a table's column that formats", "return sdk.markdown_table([{'a': len}], columns={'a': '{0.__self__}'})", known=False),
    Attack("an SDK error's object", "try:\n    sdk.Row().nothing_like_it\nexcept AttributeError as e:\n    return e.obj.__class__.__repr__.__globals__"),
)  # fmt: skip


@table(*MODULES, *POISON)
def test_an_attack_by_modules_and_the_sdk_reaches_nothing(reach: Reach, attack: Attack) -> None:
    reach.check(attack.name, attack.code, is_escape=bool(loot(attack.code)))


@table(*(attack for attack in (*MODULES, *POISON) if attack.known))
def test_in_plain_python_they_do(attack: Attack, plain_loot: Callable[[str], str]) -> None:
    assert plain_loot(attack.code)


def test_a_poisoned_name_is_not_seen_by_the_next_script() -> None:
    with pytest.raises(AttributeError):
        run_restricted("import json\njson.dumps = None")

    assert run_restricted("import json\njson.dumps([1])") == "[1]"


def test_no_facade_takes_a_module_by_mistake() -> None:
    with pytest.raises(TypeError, match="is a module"):
        Facade("json", {"codecs": pytest})


@pytest.mark.parametrize("name", ["__builtins__", "<read>", "a b", "", "sdk", "__x"])
def test_an_input_cannot_take_a_name_that_is_not_its_own(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name"):
        restricted.add_inputs(restricted.build_namespace(modules(), output=print, sdk=SDK), {name: 1})
