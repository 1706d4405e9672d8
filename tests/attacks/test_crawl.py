"""The crawl: what a script can reach through the guards, from everything that it can name; ways out are counted."""

import contextlib
import inspect
import os
import sys
import types
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from panorama.sandbox.language import restricted
from panorama.sandbox.rules import guards
from panorama.sandbox.rules.allowlist import METHODS, is_plain, split_words
from panorama.sandbox.rules.class_marks import is_script_defined, is_script_function
from panorama.sandbox.rules.facades import Facade
from panorama.sandbox.stdlib.builtin_names import build_builtins
from panorama.sandbox.stdlib.modules import MODULES
from tests.attacks.samples import SAMPLES
from tests.sandbox.running import dangerous, modules, run_restricted

DEPTH = 7

_PLAIN = (str, bytes, int, float, complex, bool, type(None))

_NOT_CALLED = split_words(
    """
    sleep print clear pop popitem popleft purge close detach acquire release seed setstate setcontext
    cache_clear count cycle repeat tee
    """
)
"""Names that are not called on the way: they take time, take away what is to be looked at, or never end."""


class Crawl:
    """Walks from object to object as a script can, breadth first, and keeps what it should not have found."""

    def __init__(self) -> None:
        self.seen: dict[int, Any] = {}
        self.hits: list[str] = []
        self.settable: set[type] = set()
        self._queue: deque[tuple[Any, str]] = deque()
        self._kinds: Counter[tuple[object, ...]] = Counter()

    def reach(self, value: Any, path: str) -> None:
        if isinstance(value, _PLAIN) or id(value) in self.seen:
            return
        self.seen[id(value)] = value
        found = dangerous(value, depth=0)
        if found:
            self.hits.append(f"{path}: {found}")
        elif path.count("→") < DEPTH and self._is_news(value):
            self._queue.append((value, path))

    def _is_news(self, value: Any) -> bool:
        """Return whether too few of its kind were looked at: methods come new from each object, and are the same."""
        owner = type(getattr(value, "__self__", None))
        kind = (type(value), owner, getattr(value, "__name__", "")) if callable(value) else (type(value),)
        self._kinds[kind] += 1
        return self._kinds[kind] <= (3 if callable(value) else 200)

    def walk(self) -> None:
        while self._queue:
            value, path = self._queue.popleft()
            if hasattr(type(value), "__setitem__"):
                self.settable.add(type(value))
            for step, found in _steps(value):
                self.reach(found, f"{path} → {step}")


def _steps(value: Any) -> Iterator[tuple[str, Any]]:
    yield from _attributes(value)
    yield from _parts(value)
    if isinstance(value, type):
        yield from _subclass(value)
    if callable(value) and getattr(value, "__name__", "") not in _NOT_CALLED:
        with contextlib.suppress(BaseException):
            yield "()", value()


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    for name in {*dir(value), *dir(type(value))}:
        with contextlib.suppress(BaseException):
            yield name, guards.read_dynamic(value, name)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", part) for key, part in list(value.items())[:200])
    elif isinstance(value, list | tuple | set | frozenset):
        yield from ((f"[{number}]", part) for number, part in enumerate(list(value)[:200]))
    elif isinstance(value, types.GeneratorType | map | filter | zip):
        with contextlib.suppress(BaseException):
            yield "next()", next(value)


def _subclass(kind: type) -> Iterator[tuple[str, Any]]:
    if is_script_defined(kind):
        return
    with contextlib.suppress(Exception):
        made = run_restricted("class Sub(kind):\n    def up(self):\n        return super()\nreturn Sub", kind=kind)
        yield "subclass", made
        with contextlib.suppress(Exception):
            yield "subclass().up()", made().up()


def _object(leak: Any) -> Any:
    made = run_restricted("class Box:\n    def __init__(self, inside):\n        self.inside = inside\nreturn Box")
    return made([made(leak)])


HOLES: dict[str, Callable[[Any], Any]] = {
    "at once": lambda leak: leak,
    "in an object's attribute": _object,
    "in a facade": lambda leak: Facade("planted", {"inside": [leak]}),
    "in what a function returns": lambda leak: lambda: {"inside": (leak,)},
    "in what a generator gives": lambda leak: (item for item in [leak]),
}
"""Where something may be left for a script to find."""


@pytest.fixture(scope="module")
def crawl() -> Iterator[Crawl]:
    crawl = Crawl()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = build_builtins(lambda *_, **__: None)
        for name, value in {**names, **modules()}.items():
            if not name.startswith("__"):
                crawl.reach(value, name)
        for value in run_restricted(SAMPLES):
            crawl.reach(value, f"sample {type(value).__name__}")
        crawl.walk()
    yield crawl
    # A BytesIO that is collected before the views of its bytes complains, in whichever test runs then.
    for value in crawl.seen.values():
        if isinstance(value, memoryview):
            value.release()


Count = Callable[[str, object], None]
"""pytest's own `record_property`; what is counted is printed after the last test."""


def _count(record_property: Count, attack: str, escapes: Iterable[str]) -> None:
    """Count one attack and the ways that it found out of the language: they lead to what `reach` tries."""
    record_property("attack", attack)
    for path in escapes:
        record_property("escape", path)


def test_the_ways_to_something_dangerous_are_counted(crawl: Crawl, record_property: Count) -> None:
    _count(record_property, "a crawl", crawl.hits)


def test_the_methods_that_take_a_foreign_self_are_counted(crawl: Crawl, record_property: Count) -> None:
    taken = [
        f"{kind.__module__}.{kind.__name__}.{name} of {other!r}"
        for kind in list(crawl.seen.values())
        if isinstance(kind, type)
        for name, method in _methods(kind)
        for other in ("text", kind, object())
        if kind not in inspect.getmro(type(other)) and not _refuses(method, other)
    ]

    _count(record_property, "a foreign self for each method", taken)


def test_the_methods_that_are_asked_are_many(crawl: Crawl) -> None:
    kinds = [kind for kind in crawl.seen.values() if isinstance(kind, type)]
    names = {name for kind in kinds for name, _ in _methods(kind)}

    assert len(names) > 120
    assert {"copy", "new_child", "parents.fget", "fieldnames.fset", "result", "__init__", "_replace"} <= names


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Return what a script gets of a class that is written in Python, not in the script, and wants a `self`."""
    for name in {*dir(kind)} - {"format", "format_map", "__setattr__"}:  # these the guards answer, for any object
        with contextlib.suppress(AttributeError):
            part = guards.read_dynamic(kind, name)
            parts = [
                (f"{name}.{text}", getattr(part, text)) for text in ("fget", "fset", "fdel") if type(part) is property
            ]
            for told, method in parts or [(name, part)]:
                held = inspect.getattr_static(kind, name, None)
                if (
                    type(method) is types.FunctionType
                    and not is_script_function(method)
                    and type(held) is not staticmethod
                ):
                    yield told, method


def _refuses(method: Any, other: object) -> bool:
    try:
        method(other)
    except TypeError as error:
        return "does not apply to an object of" in str(error)
    except Exception:
        return False
    return False


def test_what_can_be_changed_in_a_library_class_is_counted(crawl: Crawl, record_property: Count) -> None:
    shared = [
        f"{base.__name__}.{name}"
        for kind in list(crawl.seen.values())
        if isinstance(kind, type)
        for base in kind.__mro__
        if not is_script_defined(base)
        for name, part in vars(base).items()
        if not name.startswith("_") and isinstance(part, dict | list | set | bytearray | types.MappingProxyType)
    ]

    _count(record_property, "changing what library classes share", shared)


def test_what_super_leads_to_past_our_own_classes_is_counted(crawl: Crawl, record_property: Count) -> None:
    kinds = [kind for kind in crawl.seen.values() if isinstance(kind, type) and not is_script_defined(kind)]

    past = [
        f"super({kind.__name__}, …).{name}"
        for kind in kinds
        for name, part in vars(kind).items()
        if (is_plain(name) or name in METHODS) and _is_ours(part)
        for behind in [next((base for base in kind.__mro__[1:] if name in vars(base)), object)]
        if id(behind) not in crawl.seen and not _is_ours(vars(behind)[name])
    ]

    assert {kind.__name__ for kind in kinds} >= {"ZoneInfo", "SimpleNamespace"}
    _count(record_property, "super past classes of ours", past)


def _is_ours(part: Any) -> bool:
    """Return whether a part of a class is a function of the sandbox's."""
    function = inspect.unwrap(getattr(part, "fget", None) or getattr(part, "__func__", part))
    return str(getattr(function, "__module__", None)).startswith("panorama.")


class _Spy:
    """Gets what a mappingproxy stands for."""

    def __ror__(self, other: Any) -> Any:
        return other


def test_the_dicts_behind_mappingproxies_are_counted(crawl: Crawl, record_property: Count) -> None:
    proxies = [value for value in crawl.seen.values() if isinstance(value, types.MappingProxyType)]
    behind = [proxy | _Spy() for proxy in proxies]

    shared = [process for process in behind if isinstance(process, dict) and id(process) not in crawl.seen]

    assert proxies
    _count(record_property, "what a mappingproxy hides", map(repr, shared))


def _planted() -> Iterator[tuple[str, Any]]:
    def function() -> None: ...

    frame = (number for number in [1])
    yield "a function of os", os.system
    yield "a module", os
    yield "a function's globals", function.__globals__
    yield "a generator's frame", frame.gi_frame
    yield "a code object", function.__code__
    yield "a real builtin", getattr
    yield "a file", sys.__stderr__
    yield "a format that is not ours", "{}".format
    yield "Python's own way to make a class", type.__new__


@pytest.mark.parametrize(
    "leak", [pytest.param(leak, id=name) for name, leak in _planted() if leak is not None]
)  # fmt: skip
@pytest.mark.parametrize("hole", HOLES.values(), ids=HOLES.keys())
def test_the_crawl_finds_what_is_planted(leak: Any, hole: Callable[[Any], Any]) -> None:
    crawl = Crawl()

    crawl.reach(hole(leak), "planted")
    crawl.walk()

    assert crawl.hits


@pytest.mark.parametrize("hole", HOLES.values(), ids=HOLES.keys())
def test_the_crawl_finds_nothing_where_nothing_is_planted(hole: Callable[[Any], Any]) -> None:
    crawl = Crawl()

    crawl.reach(hole(1), "planted")
    crawl.walk()

    assert crawl.hits == []


def test_the_crawl_goes_far_enough_to_mean_something(crawl: Crawl) -> None:
    assert len(crawl.seen) > 5_000


def test_all_modules_are_facades_and_none_holds_a_module() -> None:
    found = modules()

    assert set(found) >= MODULES
    assert all(isinstance(facade, Facade) for facade in found.values())
    assert not [facade for facade in found.values() for part in vars(facade).values() if type(part) is types.ModuleType]


def test_whatever_takes_items_is_the_scripts_own_to_change(crawl: Crawl) -> None:
    known = {"dict", "list", "bytearray", "Counter", "defaultdict", "OrderedDict", "deque", "ChainMap", "SignalDict"}
    known |= {"Row", "AttributeDict", "memoryview"}
    shared = {kind.__name__ for kind in crawl.settable if not is_script_defined(kind) and kind is not type}

    assert shared - known == set()


def test_the_hooks_have_names_that_no_identifier_can_have() -> None:
    names = restricted.build_namespace(modules(), output=print, sdk=None)

    assert [name for name in names if name.isidentifier()] == ["__builtins__", "__name__", "sdk"]
