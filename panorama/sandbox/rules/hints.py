"""Hints: what to write instead of names and syntax that scripts do not have."""

from collections.abc import Iterable
from typing import Final

BUILTIN_HINTS: Final = {
    "open": "scripts have no file system: sdk.files.write(name, text) keeps a file, sdk.files.text(file) reads one",
    "input": "nobody can be asked: pass `inputs` to the run, they become names",
    "exec": "write the statements themselves, or a dict of functions to choose from",
    "eval": "json.loads(text) reads data; a dict of functions chooses code",
    "compile": "re.compile() makes patterns; code cannot be created at run time",
    "globals": "keep values in a dict of your own",
    "locals": "keep values in a dict of your own",
    "exit": "`return` at the top level ends the script",
    "quit": "`return` at the top level ends the script",
    "breakpoint": "print(), or return what you want to look at",
    "help": "the tool search_sdk describes the SDK; dir(x) lists names",
    "memoryview": "bytes and bytearray can be sliced",
}
"""Built-in functions that scripts do not have, each with what to write instead."""

ATTRIBUTE_HINTS: Final = {
    "__traceback__": "the answer of the run names the line; in the script str(error) and error.args tell what happened",
    "__cause__": "str(error) and error.args tell what happened",
    "__context__": "str(error) and error.args tell what happened",
    "__annotations__": "dataclasses.fields(x) lists the fields of a dataclass",
    "__subclasses__": "keep a list of the classes that you define",
    "__bases__": "isinstance() and issubclass() answer what a class is",
    "__mro__": "isinstance() and issubclass() answer what a class is",
    "mro": "isinstance() and issubclass() answer what a class is",
    "__notes__": "str(error) and error.args tell what happened; keep what you note in a list",
    "__module__": "type(x).__name__ tells what something is",
    "__slots__": "write the names out where you need them",
    "__match_args__": "write the names out where you need them",
    "__file__": "scripts have no file system: sdk.files.write(name, text) keeps a file",
    "__wrapped__": "keep the function that you wrap under a name of its own",
    "with_traceback": "`raise Error(...) from error` keeps the cause",
    "__getattribute__": "`__getattr__` is asked for attributes that do not exist; @property for those that do",
    "__new__": "write `__init__`, or a @classmethod or function that makes the object",
}
"""What to write instead of an attribute; all others get `UNDERSCORE_HINT` or `INSIDE_HINT`."""

_WRAPS: Final = "functools.wraps(f) above a wrapper names it as what it wraps: @wraps(f)"

SET_HINTS: Final = {
    **dict.fromkeys(("__name__", "__qualname__", "__wrapped__", "__module__"), _WRAPS),
    "__doc__": f"write the text as the first line of the function or class; {_WRAPS}",
    "__dict__": "vars(x).update(…) sets many attributes",
    "__class__": "make a new object of the other class",
}
"""What to write instead of setting an attribute; all others get what reading them gets."""

UNDERSCORE_HINT: Final = "names that begin and end with two underscores belong to Python; use the public name or method"
INSIDE_HINT: Final = "frames, code and the inside of generators are closed to scripts; work with the values themselves"

METHOD_HINTS: Final = {
    "__new__": "write `__init__`, or a @classmethod or function that makes the object",
    "__del__": "use a `with` block, or try/finally",
    "__init_subclass__": "call a function, or use a decorator, on each class",
    "__class_getitem__": "derive from typing.Generic[T]",
    "__set_name__": "use @property, or a function that is given the name and makes one",
    "__get__": "use @property",
    "__set__": "use @property with a setter",
    "__delete__": "use @property with a deleter",
    "__setattr__": "use @property with a setter, or @dataclass(frozen=True)",
    "__delattr__": "use @property with a deleter",
    "__getattribute__": "write `__getattr__` (asked for attributes that do not exist) or @property",
    "__index__": "write `__int__`, and call int(x) where a whole number is needed",
    "__reduce__": "copy.copy() and json work without it",
}  # fmt: skip
"""Hints for methods that classes of scripts may not define."""

_NO_FILES = "scripts have no file system or environment: sdk.files keeps files, `inputs` brings values in"
_NO_NETWORK = "scripts have no network; `sdk` is the way to data"
_PARALLEL = (
    "sdk.parallel(f, g) has the calls of both under way, answered one at a time; sdk.batch and sdk.query need fewer"
)
_TABLES = "lists of rows with comprehensions, statistics, itertools and collections do the work"

IMPORT_HINTS: Final = {
    "os": _NO_FILES, "pathlib": _NO_FILES, "shutil": _NO_FILES, "glob": _NO_FILES, "tempfile": _NO_FILES,
    "subprocess": "scripts cannot start programs; `sdk` is the way out",
    "requests": _NO_NETWORK, "httpx": _NO_NETWORK, "aiohttp": _NO_NETWORK, "socket": _NO_NETWORK, "http": _NO_NETWORK,
    "urllib.request": _NO_NETWORK, "ssl": _NO_NETWORK, "urllib3": _NO_NETWORK,
    "threading": _PARALLEL, "multiprocessing": _PARALLEL, "concurrent": _PARALLEL, "queue": _PARALLEL,
    "numpy": _TABLES, "pandas": _TABLES, "scipy": _TABLES,
    "sqlite3": "sdk.query(...) asks the store", "sqlalchemy": "sdk.query(...) asks the store",
    "logging": "print() shows up in the answer",
    "sys": "`return` ends the script, print() shows up in the answer, `inputs` replaces arguments",
    "argparse": "pass `inputs` to the run, they become names",
    "pickle": "json.dumps() and json.loads()", "marshal": "json.dumps() and json.loads()",
    "shelve": "`sdk.state` is a small dict that is kept", "traceback": "str(error) tells what happened; an error that "
    "is not caught is answered with its line", "inspect": "dir(x) lists names", "secrets": "random or uuid",
    "dateutil": "datetime, calendar and zoneinfo", "pytz": "zoneinfo.ZoneInfo(name)", "yaml": "json or csv",
    "warnings": "print() shows up in the answer", "pydantic": "dataclasses", "attr": "dataclasses",
    "tabulate": "sdk.markdown_table(rows)", "signal": "the run's time limit ends it", "ast": "json.loads() reads data",
}  # fmt: skip
"""Hints for modules that scripts do not have."""


COMMON_IMPORTS: Final = {
    **{name: f"import {name}" for name in (
        "json", "csv", "io", "re", "math", "random", "statistics", "itertools", "collections", "textwrap", "difflib",
        "functools", "operator", "calendar", "string", "uuid", "hashlib", "html", "pprint",
    )},
    **{name: f"from datetime import {name}" for name in ("date", "datetime", "time", "timedelta", "timezone", "UTC")},
    **{name: f"from collections import {name}" for name in ("Counter", "defaultdict", "OrderedDict", "deque")},
    "ZoneInfo": "from zoneinfo import ZoneInfo", "StringIO": "from io import StringIO",
    "dataclass": "from dataclasses import dataclass", "Decimal": "from decimal import Decimal",
    "groupby": "from itertools import groupby",
}  # fmt: skip
"""The import statements of names that scripts often use without importing them."""


NAME_HINTS: Final = {
    **dict.fromkeys(
        ("ExceptionGroup", "BaseExceptionGroup"), "Keep errors in a list, and raise one that lists them all."
    ),
    "__import__": "Write an import statement.",
}
"""Hints for builtins that scripts do not have."""


_NOT_KEPT: Final = "annotations are not kept when a script runs; write the types out where you need them"
_IN_ORDER: Final = "everything runs in order here: a list or a collections.deque, and plain variables, do"

MISSING_NAME_HINTS: Final = {
    "collections.UserDict": "derive from dict", "collections.UserList": "derive from list",
    "collections.UserString": "derive from str",
    "typing.get_type_hints": _NOT_KEPT, "typing.get_origin": _NOT_KEPT, "typing.get_args": _NOT_KEPT,
    "dataclasses.make_dataclass": "write the class out, with @dataclass",
    "contextlib.redirect_stderr": "print() is all that there is: contextlib.redirect_stdout, or print(…, file=x)",
    "typing.runtime_checkable": "isinstance() knows no Protocol in scripts; ask hasattr(x, 'name'), or use an abc.ABC",
    "contextlib.ContextDecorator": "write a decorator with a `with` block in it",
    "contextlib.AbstractContextManager": "a class with __enter__ and __exit__ is one",
    "functools.singledispatchmethod": "call a @functools.singledispatch function from the method",
    "functools.partialmethod": "write the method out",
    "functools.WRAPPER_ASSIGNMENTS": "functools.wraps(f) copies the name and the text",
    **{f"asyncio.{name}": _IN_ORDER for name in ("Queue", "Event", "Condition", "Future", "wait", "shield")},
    **{f"asyncio.{name}": "asyncio.run(main()), or `await` at the top level" for name in (
        "get_event_loop", "get_running_loop", "new_event_loop", "set_event_loop", "Runner",
    )},
    "types.MappingProxyType": "copy it instead: dict(x)",
    **dict.fromkeys(("types.FunctionType", "types.LambdaType", "types.MethodType"), "callable(x) detects functions"),
    "types.GeneratorType": "isinstance(x, collections.abc.Generator) detects generators",
    "types.ModuleType": "keep values in a types.SimpleNamespace",
    "time.ctime": 'datetime.now().strftime("%c")', "time.asctime": 'datetime.now().strftime("%c")',
    "random.SystemRandom": "random.Random(), or uuid.uuid4()", "uuid.uuid1": "uuid.uuid4()",
    "hashlib.pbkdf2_hmac": "hashlib.sha256(…) and similar", "calendar.prmonth": "print(calendar.month(year, month))",
    "calendar.prcal": "print(calendar.calendar(year))",
    "calendar.HTMLCalendar": "TextCalendar, or calendar.monthcalendar",
    "calendar.setfirstweekday": "TextCalendar(calendar.SUNDAY)",
    "io.TextIOWrapper": "io.StringIO", "io.open": BUILTIN_HINTS["open"],
}  # fmt: skip
"""Hints for names that are missing in the modules of scripts."""


def get_attribute_hint(name: str, *, load: bool = True) -> str:
    """Return the hint for an attribute that is refused."""
    set_hint = None if load else SET_HINTS.get(name)
    return set_hint or ATTRIBUTE_HINTS.get(name) or (UNDERSCORE_HINT if name.startswith("_") else INSIDE_HINT)


def get_import_hint(module: str, importable: Iterable[str]) -> str:
    """Return the hint for a module that scripts do not have: its substitute, and the modules that there are."""
    available = "modules: " + ", ".join(sorted(importable))
    instead = IMPORT_HINTS.get(module) or IMPORT_HINTS.get(module.partition(".")[0])
    return f"{instead}; {available}" if instead else available
