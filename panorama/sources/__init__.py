"""Connections to other systems: MCP servers, web services, folders.

A source is one entry of `<data>/sources.json` (`config.py`). Its kind is a module with one line in `kinds.py`. The
module has a function `open_source(config, secrets, log_folder)` that returns a `Source` (`source.py`), which lists its
functions, calls one, and closes. Opening must be free: a source connects or starts at its first call.

The caller has checked the function's name, the arguments against `parameters`, and the user's policy. It stores the
files of a result, logs the call and counts the budget. A kind has to hide the values of its secrets in results and
errors (`SecretHider`), to keep the deadline, to send nothing twice that writes, and to raise our errors: `SourceError`
if the source refuses, `UnavailableError` if it cannot be reached, `OutcomeUnknownError` if a call that may write ended
without an answer.
"""
