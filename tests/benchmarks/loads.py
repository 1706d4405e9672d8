"""Scripts that compute, and a plain Python that computes the same."""

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable, Generator
from contextlib import contextmanager

LOADS = {
    "group-by of 20,000 rows": """
rows = [{"project": f"p{i % 37}", "status": ("todo", "done", "idea")[i % 3], "hours": i % 11} for i in range(20_000)]
groups = {}
for row in rows:
    key = (row["project"], row["status"])
    group = groups.setdefault(key, {"count": 0, "hours": 0})
    group["count"] += 1
    group["hours"] += row["hours"]
best = sorted(groups.items(), key=lambda pair: -pair[1]["hours"])[:3]
return [len(groups), best[0][1]["hours"]]
""",
    "20,000 f-strings": """
lines = []
for i in range(20_000):
    lines.append(f"- [{i % 7:>3}] **Task {i}** ({i / 7:.2f} h) {'late' if i % 5 == 0 else 'fine'!r}")
return len("\\n".join(lines))
""",
    "300,000 steps of a loop": """
a, b, odd = 0, 1, 0
for i in range(300_000):
    a, b = b, (a + b) % 1_000_003
    if b % 2:
        odd += 1
return [a, odd]
""",
}
PLAIN = """
import json, sys
for line in sys.stdin:
    names = {}
    exec(compile(json.loads(line), "<plain>", "exec"), names)
    print(names["script"](), flush=True)
"""
"""A Python of its own that runs functions; as scripts do, they keep their names in fast places."""


@contextmanager
def plain() -> Generator[Callable[[str], str]]:
    """Start a plain Python; gives a function that runs a script in it, and returns what it returned, as text."""
    command = [sys.executable, "-I", "-c", PLAIN]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        to, source = process.stdin, process.stdout

        def ran(script: str) -> str:
            to.write(json.dumps(f"def script():\n{textwrap.indent(script, '    ')}") + "\n")
            to.flush()
            return source.readline().strip()

        yield ran
        to.close()
