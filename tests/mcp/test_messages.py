"""How lines become messages."""

import json
from typing import Any

import mcp_types as types
import pytest

from panorama.mcp.messages import parse_message


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ({"id": 1, "method": "tools/list", "params": {}}, types.JSONRPCRequest),
        ({"id": 1, "method": "tools/call", "params": {"arguments": {"error": "x"}}}, types.JSONRPCRequest),
        ({"method": "notifications/initialized"}, types.JSONRPCNotification),
        ({"id": 1, "result": {}}, types.JSONRPCResponse),
        ({"id": 1, "error": {"code": 1, "message": "no"}}, types.JSONRPCError),
        ({"id": 1, "method": "elicitation/create", "error": {"code": 1, "message": "no"}}, types.JSONRPCError),
    ],
)
def test_a_line_is_the_message_that_it_says(line: dict[str, Any], kind: type) -> None:
    read = parse_message(json.dumps({"jsonrpc": "2.0", **line}).encode())

    assert isinstance(getattr(read, "message", read), kind)
