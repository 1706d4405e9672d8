"""A small MCP server over stdio, in the standard library alone: quick to start, and ill-behaved on request.

`--modern` answers `server/discover` (2026-07-28), else only the handshake; `--strict` leaves when the first message is
no handshake; `--stay` ignores the end of its input; `--words TEXT` is the description of `echo`; `--tools N` adds
tools; `--log FILE` appends each call; `--flood` sends notifications without end.
"""

import json
import os
import sys
import threading
import time
from typing import Any

MODERN = "--modern" in sys.argv
_lock = threading.Lock()
_cancelled: list[Any] = []
_methods: list[Any] = []
_replies: dict[str, Any] = {}
_reply_events: dict[str, threading.Event] = {}
_added: list[str] = []
_meeting: list[None] = []


def _option(name: str, default: str = "") -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def _send(message: dict[str, Any]) -> None:
    with _lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def _tool(name: str, properties: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties or {}}
    return {"name": name, "description": f"The tool {name}.", "inputSchema": schema, **more}


def _list_tools() -> list[dict[str, Any]]:
    reads = {"annotations": {"readOnlyHint": True}}
    message, seconds = {"message": {"type": "string"}}, {"seconds": {"type": "number"}}
    number = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    return [
        _tool("echo", message, **reads) | {"description": _option("--words", "Return the message.")},
        _tool("wait", seconds, **reads), _tool("slow-write", seconds), _tool("die"), _tool("dieReading", **reads),
        _tool("add-lead", {"email": {"type": "string"}, "name": {"type": "string"}}), _tool("delete_all"),
        _tool("mute"), _tool("grow"), _tool("fail", **reads), _tool("protocol_error", **reads),
        _tool("wrong", outputSchema=number, **reads), _tool("noise", **reads), _tool("get-env", **reads),
        _tool("ask", {"method": {"type": "string"}}, **reads), _tool("big", {"kb": {"type": "integer"}}, **reads),
        _tool("image", **reads),
        _tool("requests", **reads), *_list_odd_tools(),
        _tool("meet", {"count": {"type": "integer"}}, **reads),
        _tool("fetch", {"url": {"type": "string"}}, **reads) | {"description": _option("--fetch-words", "Fetch.")},
        *(_tool(name) for name in _added), *(_tool(f"tool-{number}") for number in range(int(_option("--tools", "0")))),
    ]  # fmt: skip


def _list_odd_tools() -> list[dict[str, Any]]:
    """Return tools whose schemas refer to themselves, if `--cycles` is given."""
    if "--cycles" not in sys.argv:
        return []
    tree = {"type": "object", "properties": {"child": {"$ref": "#/$defs/tree"}, "name": {"type": "string"}}}
    knot = {"$defs": {"tree": tree, "a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    names = {"tree": {"$ref": "#/$defs/tree"}, "knot": {"$ref": "#/$defs/a"}, "all": {"allOf": [{"$ref": "#"}]}}
    annotations = {"readOnlyHint": True}
    return [
        {"name": f"odd_{name}", "description": "Odd.", "annotations": annotations,
         "inputSchema": {"type": "object", "properties": {name: schema}, **knot}}
        for name, schema in names.items()
    ]  # fmt: skip


def _text(text: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], **more}


def _wait(number: Any, seconds: float) -> dict[str, Any] | None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and number not in _cancelled:
        time.sleep(0.005)
    return None if number in _cancelled else _text("done")


def _meet(count: int) -> dict[str, Any]:
    """Answer once so many calls wait here at the same time."""
    _meeting.append(None)
    end = time.monotonic() + 10
    while len(_meeting) < count and time.monotonic() < end:
        time.sleep(0.005)
    return _text("met" if len(_meeting) >= count else "alone")


def _ask(method: str) -> dict[str, Any]:
    _reply_events["q"] = threading.Event()
    form = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    message = {"role": "user", "content": {"type": "text", "text": "Tell me all."}}
    params = {
        "elicitation/create": {"message": "Really?", "requestedSchema": form},
        "sampling/createMessage": {"messages": [message], "maxTokens": 100},
        "roots/list": {},
    }
    _send({"id": "q", "method": method, "params": params[method]})
    _reply_events["q"].wait(10)
    return _text(json.dumps(_replies.get("q", {"none": True})))


def _call(number: Any, name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    if log := _option("--log"):
        with open(log, "a") as lines:
            lines.write(json.dumps([name, arguments]) + "\n")
    match name:
        case "echo" | "fetch":
            return _text(arguments.get("message", arguments.get("url", "")))
        case "wait" | "slow-write":
            return _wait(number, float(arguments.get("seconds", 1)))
        case "die" | "dieReading":
            sys.stderr.write("the disk is full; key=sekret-value-1\n")
            sys.stderr.flush()
            os._exit(3)
        case "mute":
            return None
        case "grow":
            _added.append(f"grown-{len(_added) + 1}")
            _send({"method": "notifications/tools/list_changed"})
            return _text("grown")
        case "fail":
            return _text("Error executing tool fail: Nothing works today.", isError=True)
        case "protocol_error":
            raise ValueError("thrown as a protocol error")
        case "wrong":
            return _text('{"n":"one"}', structuredContent={"n": "one"})
        case "noise":
            with _lock:
                sys.stdout.write("this line is no JSON\n")
            return _text("made noise")
        case "get-env":
            return _text(json.dumps(dict(os.environ)))
        case "ask":
            return _ask(arguments.get("method", "elicitation/create"))
        case "big":
            return _text("x" * 1024 * int(arguments.get("kb", 1)))
        case "image":
            return {"content": [{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}]}
        case "meet":
            return _meet(int(arguments["count"]))
        case "requests":
            return _text(json.dumps({"methods": _methods, "cancelled": _cancelled}))
    return _text(json.dumps({"called": name, **arguments}))


def _answer(message: dict[str, Any]) -> None:
    number, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if "--strict" in sys.argv and method != "initialize" and not _methods:
        os._exit(1)
    _methods.append(method)
    if method == "notifications/cancelled":
        _cancelled.append(params.get("requestId"))
    if method is None:
        _replies[str(number)] = message
        _reply_events[str(number)].set()
    if number is None or method is None:
        return
    try:
        result = _result_of(number, method, params)
    except ValueError as error:
        _send({"id": number, "error": {"code": -32603, "message": str(error)}})
    except LookupError:
        _send({"id": number, "error": {"code": -32601, "message": f"Method not found: {method}"}})
    else:
        if result is not None:
            _send({"id": number, "result": result | ({"resultType": "complete"} if MODERN else {})})


def _result_of(number: Any, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    cache = {"ttlMs": 0, "cacheScope": "private"} if MODERN else {}
    capabilities = {"tools": {"listChanged": True}}
    if MODERN and method == "server/discover":
        return {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, **cache}
    if method == "initialize":
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": {"name": "raw", "version": "1"}}
    if method == "tools/list":
        return {"tools": _list_tools(), **cache}
    if method == "tools/call":
        return _call(number, params["name"], params.get("arguments") or {})
    raise LookupError(method)


def _flood() -> None:
    while True:
        _send({"method": "notifications/message", "params": {"level": "info", "data": "x" * 1_000}})


if __name__ == "__main__":
    if "--flood" in sys.argv:
        threading.Thread(target=_flood, daemon=True).start()
    for line in sys.stdin:
        threading.Thread(target=_answer, args=(json.loads(line),), daemon=True).start()
    while "--stay" in sys.argv:
        time.sleep(1)
