"""The public surface: names that clients, scripts, settings files and databases hold, so that none changes by chance.

After an intended change, write the file again: `python -m tests.honesty.test_public_surface`.
"""

import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from fastmcp import Client
from typer.main import get_command

from panorama.app import open_app
from panorama.cli.commands.root import app as cli
from panorama.config import TOOLSETS, Settings
from panorama.errors import PanoramaError
from panorama.mcp.server import build_server
from panorama.sdk import SURFACE
from panorama.store.tables import metadata

STORED = Path(__file__).with_name("public_surface.json")


def test_the_public_surface_is_the_stored_one() -> None:
    assert _surface() == json.loads(STORED.read_text("utf-8"))


def _surface() -> dict[str, Any]:
    with TemporaryDirectory() as home:
        return {
            **_doors(Path(home)),
            "sdk": _sdk(SURFACE),
            "settings": sorted(Settings.model_fields),
            "commands": _commands(get_command(cli)),
            "tables": {
                name: [column.name for column in table.columns] for name, table in sorted(metadata.tables.items())
            },
            "errors": sorted({kind.code for kind in _kinds(PanoramaError)}),
        }


def _doors(home: Path) -> dict[str, Any]:
    settings = Settings(home=home, embedder="none", toolsets=TOOLSETS)
    with open_app(settings) as app:
        return {
            "operations": sorted(operation.operation.name for operation in app.calls.operation_arguments),
            "jobs": sorted(app.jobs.kinds()),
            **anyio.run(_client, app),
        }


async def _client(app: Any) -> dict[str, Any]:
    async with Client(build_server(app)) as client:
        tools = {tool.name: tool.input_schema for tool in await client.list_tools()}
        return {
            "tools": {
                name: {"arguments": sorted(schema["properties"]), "required": sorted(schema.get("required", ()))}
                for name, schema in sorted(tools.items())
            },
            "prompts": {
                prompt.name: [argument.name for argument in prompt.arguments or ()]
                for prompt in await client.list_prompts()
            },
            "resources": sorted(
                [str(resource.uri) for resource in await client.list_resources()]
                + [template.uri_template for template in await client.list_resource_templates()]
            ),
        }


def _sdk(names: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _sdk(value) if isinstance(value, Mapping) else [*inspect.signature(value).parameters]
        for name, value in sorted(names.items())
        if isinstance(value, Mapping) or inspect.isfunction(value)
    }


def _commands(command: Any) -> dict[str, Any]:
    options = sorted(name for param in command.params for name in (*param.opts, *param.secondary_opts))
    inner = getattr(command, "commands", {})
    return {"options": options, **{name: _commands(value) for name, value in sorted(inner.items())}}


def _kinds(kind: type[PanoramaError]) -> list[type[PanoramaError]]:
    own = (subclass for subclass in kind.__subclasses__() if subclass.__module__.startswith("panorama."))
    return [kind, *(deeper for name in own for deeper in _kinds(name))]


if __name__ == "__main__":
    STORED.write_text(json.dumps(_surface(), indent=1, sort_keys=True) + "\n", "utf-8")
