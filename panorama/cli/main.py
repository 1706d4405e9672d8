"""The command `panorama`; imports only the standard library until the verb is known."""

import gc
import os
import sys
from collections.abc import Sequence

from panorama import __version__
from panorama.cli.console.pipes import silence_stdout

EXIT_INTERRUPTED = 130
DAEMON_ARGUMENTS = ["serve", "--detached"]
"""The command that starts the daemon (`panorama.transport.address`)."""

_COMPLETION_VARIABLE = "_PANORAMA_COMPLETE"
"""Set by the shell when it requests completions, possibly without arguments."""

_INTRODUCTION = """\
Panorama keeps your projects, tasks and notes on this machine and serves them to AI assistants over MCP.
Without arguments it is the MCP server that a client starts (Claude, Cursor, VS Code …).
Run `panorama demo` to see it at work, or `panorama --help` for all commands.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(words)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        silence_stdout()
        return 0
    except Exception as error:  # every error is reported to the user with an exit code
        from panorama.cli.console.errors import report_error  # slow, and only needed now

        return report_error(error, words)


def _run(words: list[str]) -> int:
    if not words and _COMPLETION_VARIABLE not in os.environ:
        return _serve()
    if words in (["--version"], ["-V"]):
        sys.stdout.write(f"panorama {__version__}\n")
        code = 0
    elif words == DAEMON_ARGUMENTS:
        gc.disable()  # imported objects are permanent; the daemon enables garbage collection after its start
        from panorama.daemon.serve import serve  # a second

        serve(detached=True)
        code = 0
    else:
        from panorama.cli.commands.root import run_command  # 150 ms

        code = run_command(words)
    sys.stdout.flush()
    return code


def _serve() -> int:
    """Run the MCP server for a client; explain it to a user who started it by hand."""
    if not sys.stdin or sys.stdin.isatty():  # None if it is closed
        sys.stderr.write(_INTRODUCTION)
        return 0
    from panorama.transport.address import is_in_process

    if not is_in_process():
        from panorama.cli.proxy.proxy import run  # 15 ms, and not needed by other verbs

        return run()
    from panorama.daemon.job_scheduler import run_jobs  # a second
    from panorama.mcp.server import serve_stdio

    serve_stdio(run_jobs)
    return 0
