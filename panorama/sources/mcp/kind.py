"""The kind `mcp`: any MCP server, as a process on this machine or at an address."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import urlsplit

from fastmcp.client.transports import ClientTransport, SSETransport, StreamableHttpTransport
from mcp import MCPError
from mcp_types import Tool

from panorama.domain.sources.functions import SourceFunction, SourceResult
from panorama.domain.sources.hiding import SecretHider
from panorama.errors import OutcomeUnknownError, SourceError, UnavailableError
from panorama.sources.config import SourceConfig
from panorama.sources.event_loop import LOOP, LoopStoppedError
from panorama.sources.mcp.child_records import ChildRecord
from panorama.sources.mcp.child_transport import ChildCommand, ChildTransport
from panorama.sources.mcp.connection import Connection, ServerGoneError
from panorama.sources.mcp.functions import convert_tools
from panorama.sources.mcp.oauth import (
    SIGN_IN_SECONDS,
    ShowAddress,
    SourceOAuth,
    TokenFile,
    needs_login,
)
from panorama.sources.mcp.results import clean_error, convert_result
from panorama.sources.secrets import SecretLookup, is_reference, is_secret_setting
from panorama.sources.source import Deadline
from panorama.sources.token_bucket import TokenBucket

T = TypeVar("T")

IDLE_SECONDS = 300.0
LOCAL_CALLS_AT_ONCE, REMOTE_CALLS_AT_ONCE = 8, 4
"""As many as one script makes side by side, and fewer where others share the server."""

LOCAL_RATE, REMOTE_RATE = 500.0, 10.0
"""Calls per second, for a process on this machine and for a server at an address; twice as many at once."""

CLOSE_SECONDS = 10.0


def open_source(config: SourceConfig, secrets: SecretLookup, log_folder: Path) -> "McpSource":
    """Return the source of an entry without connecting."""
    return McpSource(config, secrets, log_folder)


def sign_in(config: SourceConfig, secrets: SecretLookup, folder: Path, show_address: ShowAddress) -> int:
    """Let a person sign in to a server, store the tokens, and return how many functions it has.

    Raises:
        UnavailableError: They did not sign in, or the server cannot be reached.
    """
    patient = replace(config, call_seconds=SIGN_IN_SECONDS)
    source = McpSource(patient, secrets, folder, show_address=show_address)
    try:
        return len(source.list_functions(Deadline.after(SIGN_IN_SECONDS)))
    finally:
        source.close()


class McpSource:
    """One MCP server; implements `Source`. Thread-safe."""

    def __init__(
        self,
        config: SourceConfig,
        secrets: SecretLookup,
        folder: Path,
        *,
        idle_seconds: float = IDLE_SECONDS,
        show_address: ShowAddress | None = None,
    ) -> None:
        """Create a source; `show_address` lets a person sign in when the server asks for it."""
        self._show_address = show_address
        self._config = config
        self._secrets = secrets
        self._folder = folder
        self._hider = SecretHider([])
        self._functions: tuple[list[Tool], list[SourceFunction]] | None = None
        self._idle_seconds = idle_seconds
        self._lock = Lock()
        self._connection: Connection | None = None

    def list_functions(self, deadline: Deadline) -> Sequence[SourceFunction]:
        """Return its functions; starts the server.

        Raises:
            UnavailableError: It cannot be reached.
        """
        connection, known = self._connect(), self._functions
        if known is not None and connection.known_tools is known[0]:
            return known[1]
        tools = self._run(None, connection.list_tools(), deadline)
        functions = convert_tools(tools, is_local=self._config.local)
        self._functions = tools, functions
        return functions

    def call(self, function: SourceFunction, arguments: Mapping[str, Any], deadline: Deadline) -> SourceResult:
        """Call a tool and return its result.

        Raises:
            SourceError: The server refuses the call.
            UnavailableError: It cannot be reached; nothing was done.
            OutcomeUnknownError: The call ended without an answer and may have been carried out.
        """
        call = self._connect().call(function.own_name, arguments, repeatable=function.repeatable)
        answer = self._run(function, call, deadline)
        try:
            result = convert_result(answer, function.returns)
        except SourceError as error:
            raise SourceError(self._hider.hide(error.message)) from error
        return replace(result, value=self._hider.hide_in(result.value))

    def close(self) -> None:
        """End the connection and its process; a later call starts them again."""
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(TimeoutError, LoopStoppedError):
                LOOP.run(connection.close(), Deadline.after(CLOSE_SECONDS))
            LOOP.detach()

    def _connect(self) -> Connection:
        """Return the connection, which starts the server at its first use."""
        with self._lock:
            if self._connection is None:
                LOOP.attach()
                is_process = bool(self._config.command)
                rate = LOCAL_RATE if is_process else REMOTE_RATE
                self._connection = Connection(
                    self._make_transport,
                    _EraFile(self._folder / f"{self._config.name}.era"),
                    at_once=LOCAL_CALLS_AT_ONCE if is_process else REMOTE_CALLS_AT_ONCE,
                    bucket=TokenBucket(rate, 2 * rate),
                    idle_seconds=self._idle_seconds,
                )
            return self._connection

    def _run(self, function: SourceFunction | None, coroutine: Any, deadline: Deadline) -> Any:
        seconds = min(self._config.call_seconds, deadline.seconds_left)
        limit = Deadline.after(seconds, deadline.is_stopped)
        try:
            return LOOP.run(coroutine, limit)
        except TimeoutError as error:
            raise self._build_error(function, f"did not answer within {seconds:.3g} s", was_sent=True) from error
        except LoopStoppedError as error:
            raise self._build_error(function, "was closed during the call", was_sent=True) from error
        except ServerGoneError as error:
            if needs_login(error):
                raise self._login_error() from error
            raise self._build_error(function, f"ended: {error}", was_sent=error.was_sent) from error
        except MCPError as error:
            raise SourceError(self._hider.hide(clean_error(error.message))) from error

    def _login_error(self) -> UnavailableError:
        name = self._config.name
        return UnavailableError(
            f"The source {name} needs you to sign in.", hint=f"Run `panorama sources login {name}`."
        )

    def _build_error(self, function: SourceFunction | None, problem: str, *, was_sent: bool) -> Exception:
        """Return the error of a call that got no answer."""
        name = self._config.name
        message = self._hider.hide(f"The source {name} {problem}".rstrip(".") + ".")
        if was_sent and function is not None and not function.reads_only:
            return OutcomeUnknownError(
                f"{message} It may have carried out {function.name}.", hint="Check before repeating the call."
            )
        return UnavailableError(message, hint=f"`panorama sources test {name}` shows what is wrong.")

    def _make_transport(self) -> ClientTransport:
        """Return a new transport with the secrets filled in."""
        config, resolved = self._config, _ResolvedValues(self._secrets)
        env, headers = resolved.resolve(config.env), resolved.resolve(config.headers)
        args = tuple(resolved.resolve({str(at): arg for at, arg in enumerate(config.args)}).values())
        url = resolved.resolve({"url": config.url})["url"]
        self._hider = SecretHider([*resolved.secrets, *_url_secrets(url)])
        if config.command:
            command = ChildCommand(command=config.command, args=args, env=env, cwd=config.cwd)
            return ChildTransport(command, self._hider, ChildRecord(self._folder, config.name))
        auth = None
        if config.oauth:
            auth = SourceOAuth(TokenFile(self._folder / f"{config.name}.tokens"), self._show_address)
        if config.transport == "sse":
            return SSETransport(url, headers=dict(headers), auth=auth)
        return StreamableHttpTransport(url, headers=dict(headers), auth=auth)


@dataclass(slots=True)
class _ResolvedValues:
    """Fills in configured values, and collects those that are secret."""

    look_up: Callable[[str], str]
    secrets: list[str]

    def __init__(self, look_up: Callable[[str], str]) -> None:
        self.look_up = look_up
        self.secrets = []

    def resolve(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """Return values by name, without references to secrets."""
        resolved = {name: self.look_up(value) for name, value in values.items()}
        for name, value in values.items():
            if is_reference(value) or is_secret_setting(name):
                self.secrets += [resolved[name], *resolved[name].split()]  # "Bearer abc": also "abc"
        return resolved


def _url_secrets(url: str) -> list[str]:
    parts = urlsplit(url)
    values = [pair.partition("=")[2] for pair in parts.query.split("&")]
    return [value for value in (*values, parts.password or "") if value]


class _EraFile:
    """Remembers in a file which protocol era a server understands."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def load(self) -> str:
        """Return "legacy", or "auto" if it is not known."""
        with suppress(OSError):
            return "legacy" if self._file.read_text().strip() == "legacy" else "auto"
        return "auto"

    def save(self, era: str) -> None:
        """Remember an era; without the file it is found out at each start."""
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file.write_text(era)
