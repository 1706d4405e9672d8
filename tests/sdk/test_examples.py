"""The examples and recipes that discovery shows: each runs, against a store that holds the sample workspace."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import pytest

from panorama.sdk import SURFACE
from panorama.sdk.reference.recipes import RECIPES, Recipe

from .conftest import run_plain

MAY_FIND_NOTHING = {"Open checkboxes in meeting notes become tasks", "Find duplicates: titles that are almost the same"}


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Give every function of the SDK with its name in scripts."""
    for name, value in SURFACE.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", member) for inner, member in value.items() if inspect.isfunction(member))
        elif inspect.isfunction(value):
            yield name, value


EVERY = dict(functions())


def example(function: Callable[..., Any]) -> str:
    """Return the example in a docstring."""
    return textwrap.dedent((inspect.getdoc(function) or "").partition("Example:\n")[2])


@pytest.mark.parametrize("name", EVERY)
def test_the_example_of_a_function_runs(name: str, sdk: ModuleType) -> None:
    code = example(EVERY[name])

    assert re.search(rf"\bsdk\.{re.escape(name)}\b", code)
    run_plain(code, sdk)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.title)
def test_a_recipe_runs(recipe: Recipe, sdk: ModuleType) -> None:
    result = run_plain(recipe.code, sdk)

    assert result or recipe.title in MAY_FIND_NOTHING
