"""Parts of the product that do not depend on the data, and so are built once for all tests of a process."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp.prompts import Prompt
from fastmcp.resources import ResourceTemplate
from fastmcp.server.dependencies import transform_context_annotations, without_injected_parameters
from pydantic import validate_call

from panorama.config import Settings, read_settings


@pytest.fixture(scope="session")
def read_settings_once() -> Callable[[Path, tuple[str, ...]], Settings]:
    """Reads settings, once for each environment if there is no file of them: to read them takes 3 ms."""
    known: dict[object, Settings] = {}

    def read_once(home: Path, toolsets: tuple[str, ...]) -> Settings:
        variables = tuple(sorted((name, value) for name, value in os.environ.items() if name.startswith("PANORAMA_")))
        key = home, toolsets, variables
        if (home / "config.toml").exists() or "PANORAMA_TIMEZONE" not in os.environ:
            return read_settings(home=home, toolsets=toolsets)
        if key not in known:
            known[key] = read_settings(home=home, toolsets=toolsets)
        return known[key]

    return read_once


@pytest.fixture(scope="session", autouse=True)
def prompts_and_pages_are_described_once() -> Iterator[None]:
    """Remember prompts and the templates of pages between servers: to describe their functions takes 8 ms a server."""
    new_prompt, new_template = Prompt.from_function, ResourceTemplate.from_function
    prompts: dict[str, Prompt] = {}
    templates: dict[str, ResourceTemplate] = {}

    def make_prompt(fn: Callable[..., Any], *values: Any, **fields: Any) -> Prompt:
        if not fn.__module__.startswith("panorama."):
            return new_prompt(fn, *values, **fields)
        key = f"{fn.__module__}.{fn.__qualname__} {values} {fields}"
        if key not in prompts:
            prompts[key] = new_prompt(fn, *values, **fields)
        return prompts[key].model_copy(deep=True)

    def make_template(fn: Callable[..., Any], uri_template: str, **fields: Any) -> ResourceTemplate:
        key = f"{fn.__module__}.{fn.__qualname__} {uri_template} {fields}"
        if key not in templates:
            templates[key] = new_template(fn, uri_template, **fields)
        return templates[key].model_copy(update={"fn": _wrap(fn)})  # each server reads its own data

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Prompt, "from_function", make_prompt)
        patch.setattr(ResourceTemplate, "from_function", make_template)
        yield


def _wrap(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that a template calls, as `from_function` makes it: arguments are converted and checked."""
    return validate_call(without_injected_parameters(transform_context_annotations(fn)))
