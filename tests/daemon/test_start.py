"""What the daemon does before it answers the command line, and what it leaves for later."""

import subprocess
import sys


def test_the_daemon_answers_the_command_line_without_the_mcp_server() -> None:
    code = "import sys, panorama.daemon.serve; print([n for n in ('fastmcp', 'mcp', 'starlette') if n in sys.modules])"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert loaded.stdout == "[]\n"
