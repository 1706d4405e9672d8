"""What scripts get of `collections` and of iterators in Python, because C uses objects there that it does not own.

It calls a script's `__eq__` or `__add__` between two looks at an object, and the script can take the object away
meanwhile. What is written here owns all that it looks at.
"""

import collections
import itertools
import pprint
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import wraps
from reprlib import recursive_repr
from typing import Any, Final, cast

# --- Counter

_counted_in_c: Final[Callable[[Any, Any], None]] = vars(collections)["_count_elements"]

_AT_REST: Final = frozenset((str, bytes, list, tuple, set, frozenset, dict, range))
"""Collections that run nothing of a script's while they are gone through."""

_INERT: Final = frozenset((str, int, float, bool, bytes, type(None)))
"""Classes whose objects run nothing of a script's while they are compared and added."""


def count_elements(counts: dict[Any, Any], elements: Iterable[Any]) -> None:
    """What Counter counts with: in C, where nothing of a script's can run in between."""
    kind: type = type(counts)
    if kind is Counter and type(elements) in _AT_REST:
        several = cast("Collection[Any]", elements)
        if len(counts) <= len(several) and _inert(several, counts, counts.values()):  # or the look takes too long
            _counted_in_c(counts, several)
            return
    get = counts.get
    for element in elements:
        counts[element] = get(element, 0) + 1


def _inert(*several: Iterable[Any]) -> bool:
    return all(set(map(type, each)) <= _INERT for each in several)


# --- groupby


def groupby(iterable: Iterable[Any], key: Callable[[Any], Any] | None = None) -> Iterator[tuple[Any, Iterator[Any]]]:
    """`itertools.groupby`."""
    return _groups(iter(iterable), key)


def _groups(steps: Iterator[Any], key: Callable[[Any], Any] | None) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Return runs of neighbours with the same key; generators, which nobody can enter twice."""
    value = found = wanted = None
    number = 0

    def group(mine: int) -> Iterator[Any]:
        nonlocal value, found
        if mine == number:
            yield value
        while mine == number:  # until the next group is asked for
            for value in steps:
                found = value if key is None else key(value)
                break
            else:
                return
            if not (found is wanted or found == wanted):
                return
            yield value

    for value in steps:
        found = value if key is None else key(value)
        if number and (found is wanted or found == wanted):  # what nobody asked for
            continue
        while not (number and (found is wanted or found == wanted)):
            wanted, number = found, number + 1
            yield wanted, group(number)
            number += 1


# --- what goes on with another iterator


def _alone(make: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    """Return what makes the same as a generator: nobody can enter it twice, and it owns what it goes through."""

    @wraps(make)
    def made(*values: Any, **options: Any) -> Iterator[Any]:
        return _called(_steps(make(*values, **options)), make.__name__)

    return made


def _called(steps: Any, name: str) -> Iterator[Any]:
    """Have a generator say what it is."""
    steps.__name__ = steps.__qualname__ = name
    return steps


def _steps(every: Iterator[Any]) -> Iterator[Any]:
    yield from every


_NAMES: Final = ("islice", "cycle", "pairwise", "batched", "zip_longest", "accumulate", "count", "chain")

ITERATORS: Final[Mapping[str, Any]] = {
    "groupby": groupby,
    **{name: _alone(getattr(itertools, name)) for name in _NAMES if hasattr(itertools, name)},
}
"""What scripts get of `itertools` in versions of ours."""

ITERATORS["chain"].from_iterable = _alone(itertools.chain.from_iterable)


def iterated(*values: Any) -> Iterator[Any]:
    """`iter`."""
    return _called(_steps(iter(*values)), "iter") if len(values) == 2 else iter(*values)


iterated.__name__ = iterated.__qualname__ = "iter"  # what errors of calls name


# --- deque


class _Owning(collections.deque[Any]):
    """What compares elements in C before 3.12.4, done on a list.

    No script can name this class, so that `super(deque, x).index` is still the one that stands here.
    """

    __slots__ = ()
    __hash__ = None

    def index(self, value: Any, *between: Any) -> int:
        """Return where an element is."""
        try:
            return _listed(self).index(value, *between)
        except ValueError:
            raise ValueError(f"{value!r} is not in deque") from None

    def count(self, value: Any) -> int:
        """Return how many elements are equal to a value."""
        return _listed(self).count(value)

    def remove(self, value: Any) -> None:
        """Remove the first element that is equal to a value."""
        elements = _listed(self)
        at = _Owning.index(self, value)
        if len(self) != len(elements):
            raise IndexError("deque mutated during remove().")
        del self[at]

    def __contains__(self, value: object) -> bool:
        return value in _listed(self)

    def __eq__(self, other: object) -> Any:
        return _listed(self) == _listed(other) if isinstance(other, _Owning) else NotImplemented

    def __ne__(self, other: object) -> Any:
        return _listed(self) != _listed(other) if isinstance(other, _Owning) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        return _listed(self) < _listed(other) if isinstance(other, _Owning) else NotImplemented

    def __le__(self, other: Any) -> Any:
        return _listed(self) <= _listed(other) if isinstance(other, _Owning) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        return _listed(self) > _listed(other) if isinstance(other, _Owning) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        return _listed(self) >= _listed(other) if isinstance(other, _Owning) else NotImplemented


def _listed(elements: object) -> list[Any]:
    return list(_steps_of(elements))


_steps_of: Final[Callable[[object], Iterator[Any]]] = vars(collections.deque)["__iter__"]


class deque(_Owning):  # noqa: N801 (a name of Python's)
    """`collections.deque`."""

    __slots__ = ()


_Owning.__name__ = _Owning.__qualname__ = deque.__name__
_Owning.__module__ = deque.__module__ = "collections"


# --- defaultdict


class _Defaulting(collections.defaultdict[Any, Any]):
    """What uses the factory in C, done on one that is held: the script's code that it runs can set another.

    No script can name this class, so that `super(defaultdict, x).__missing__` is still the one that stands here.
    """

    __slots__ = ()

    def __missing__(self, key: Any) -> Any:
        factory = self.default_factory if type(self) is defaultdict else factory_of(self)
        if factory is None:
            raise KeyError(key)
        self[key] = value = factory()
        return value

    def __repr__(self) -> str:
        items = _items_told(self)
        return f"{type(self).__name__}({_factory_told(factory_of(self))}, {items})"


factory_of: Final[Callable[[object], Any]] = vars(collections.defaultdict)["default_factory"].__get__
"""The factory itself, past what a script's class may have in its place."""

_items_told: Final[Callable[[object], str]] = vars(dict)["__repr__"]

_factory_told: Final[Callable[[Any], str]] = recursive_repr()(repr)
"""What a factory tells of itself; one that tells of its own dict, which tells of it, is "..." there."""


class defaultdict(_Defaulting):  # noqa: N801 (a name of Python's)
    """`collections.defaultdict`."""

    __slots__ = ()


_Defaulting.__name__ = _Defaulting.__qualname__ = defaultdict.__name__
_Defaulting.__module__ = defaultdict.__module__ = "collections"
vars(pprint.PrettyPrinter)["_dispatch"][_Defaulting.__repr__] = vars(pprint.PrettyPrinter)["_pprint_default_dict"]
