"""Measures the shape of the code: `uv run poe shape` prints it, tests/honesty/test_shape.py holds it."""

import ast
import re
import statistics
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "panorama"
NOUN_PAGE = ROOT / "docs" / "add-a-noun.md"

STORY_WORDS = frozenset(
    """
    acting among answering aside asker borrowed carrier coded desk door ear ears ending fallen gone
    greeted heard house keeper kept lent listening meaning morning near nearest nest noted opening parcel
    place ran reception remarks resident ring ringing rung said sheet shelf shipped side slice stage standby
    stands stopping strangers supply telling ticket timing told touch traces turn visitor wall walls wish
    """.split()  # noqa: SIM905 (a list of words is read more easily)
)
"""Names that are one story word alone, from before names were the field's; `LineDecoder` and the like are fine."""

_IRREGULAR = """
    begun bought built caught done drawn fallen found given gone heard held kept known left lent lost made meant met
    paid put_on said sent shown sold stood struck swept taken thought told torn won worn written
    """.split()  # noqa: SIM905 (as above)
_PARTICIPLE = re.compile(rf"(?:[a-z]{{2,}}ed|{'|'.join(_IRREGULAR)})\Z")
_VERBS_IN_ED = frozenset(("embed", "need", "feed", "seed", "speed", "shed", "proceed", "exceed"))

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 40

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parse_modules() -> list[tuple[Path, ast.Module]]:
    """Return every module of the package with its syntax tree, each parsed once."""
    return [(path, ast.parse(path.read_text("utf-8"))) for path in sorted(PACKAGE.rglob("*.py"))]


def iter_functions(tree: ast.AST) -> Iterator[Function]:
    """Yield every function and method, also nested ones; without those that Python itself names."""
    for node in ast.walk(tree):
        if isinstance(node, Function) and not node.name.startswith("__"):
            yield node


def is_bare_participle(name: str) -> bool:
    """Return whether a name is one participle and nothing else, such as `told` or `_listed`."""
    bare = name.strip("_")
    return bool(_PARTICIPLE.match(bare)) and bare not in _VERBS_IN_ED


def list_participles() -> tuple[list[str], int]:
    """Return the functions that are bare participles, and how many functions there are."""
    found, count = [], 0
    for path, tree in parse_modules():
        for function in iter_functions(tree):
            count += 1
            if is_bare_participle(function.name):
                found.append(f"{path.relative_to(ROOT)}:{function.lineno} {function.name}")
    return found, count


def list_unknown_arguments() -> list[tuple[str, str, str]]:
    """Return the entries of `Args:` that no parameter or field has: module, function and name."""
    return [
        (str(path.relative_to(ROOT)), node.name, name)
        for path, tree in parse_modules()
        for node in ast.walk(tree)
        if isinstance(node, Function | ast.ClassDef)
        for name in _list_described_arguments(node)
        if name not in _list_parameters(node)
    ]


def _list_described_arguments(node: Function | ast.ClassDef) -> list[str]:
    section = re.search(r"^Args:\n((?: {4}.*\n?|\n)+)", ast.get_docstring(node) or "", re.MULTILINE)
    return re.findall(r"^ {4}(\w+):", section[1], re.MULTILINE) if section else []


def _list_parameters(node: Function | ast.ClassDef) -> set[str]:
    if isinstance(node, ast.ClassDef):
        made_by = [inner for inner in node.body if isinstance(inner, ast.FunctionDef) and inner.name == "__init__"]
        fields = {
            inner.target.id
            for inner in node.body
            if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name)
        }
        return fields.union(*map(_list_parameters, made_by))
    return {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}


def list_story_words() -> list[str]:
    """Return modules, classes and public functions whose name is a story word."""
    found = []
    for path, tree in parse_modules():
        if path.stem in STORY_WORDS:
            found.append(f"{path.relative_to(ROOT)}")
        names = [node for node in ast.walk(tree) if isinstance(node, Function | ast.ClassDef)]
        found += [
            f"{path.relative_to(ROOT)}:{node.lineno} {node.name}" for node in names if node.name.lower() in STORY_WORDS
        ]
    return found


def list_folders() -> list[tuple[str, int]]:
    """Return every folder with its number of modules, the fullest first; `__init__` does not count."""
    folders: dict[str, int] = {}
    for path in PACKAGE.rglob("*.py"):
        if path.stem != "__init__":
            folders[str(path.parent.relative_to(ROOT))] = folders.get(str(path.parent.relative_to(ROOT)), 0) + 1
    return sorted(folders.items(), key=lambda item: (-item[1], item[0]))


def list_long_modules() -> list[tuple[str, int]]:
    """Return every module of the package and of the tests that has over 400 lines."""
    paths = sorted([*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")])
    sizes = [(str(path.relative_to(ROOT)), path.read_text("utf-8").count("\n")) for path in paths]
    return [(name, size) for name, size in sizes if size > MAX_MODULE_LINES]


def list_noun_files() -> list[str]:
    """Return the files of the product that the page on adding a noun touches."""
    text = NOUN_PAGE.read_text("utf-8") if NOUN_PAGE.is_file() else ""
    return sorted(set(re.findall(r"^# ((?:panorama|migrations)/\S+\.py)$", text, re.MULTILINE)))


def _packages() -> Table:
    table = Table("package", "modules", "lines", title="Modules and lines")
    counts: dict[str, list[int]] = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).parts
        counts.setdefault(parts[0] if len(parts) > 1 else "(top)", []).append(path.read_text("utf-8").count("\n"))
    for name, lines in sorted(counts.items(), key=lambda item: -sum(item[1])):
        table.add_row(name, str(len(lines)), f"{sum(lines):,}")
    table.add_row("all", str(sum(map(len, counts.values()))), f"{sum(map(sum, counts.values())):,}")
    return table


def _sizes() -> str:
    functions = [
        node.end_lineno - node.lineno + 1
        for _, tree in parse_modules()
        for node in iter_functions(tree)
        if node.end_lineno
    ]
    modules = [path.read_text("utf-8").count("\n") for path in PACKAGE.rglob("*.py")]
    long = sum(size > MAX_FUNCTION_LINES for size in functions)
    return (
        f"functions: median {statistics.median(functions):.0f} lines, {long} over {MAX_FUNCTION_LINES}; "
        f"modules: median {statistics.median(modules):.0f} lines, {len(list_long_modules())} over {MAX_MODULE_LINES}, "
        "tests included"
    )


def main() -> None:
    """Print the shape."""
    console = Console(highlight=False)
    participles, functions = list_participles()
    console.print(_packages())
    console.print(_sizes())
    console.print("fullest folders: " + ", ".join(f"{name} {count}" for name, count in list_folders()[:8]))
    console.print(
        f"functions that are bare participles: {len(participles)} of {functions} ({len(participles) / functions:.1%})"
    )
    console.print(f"names that are story words: {len(list_story_words())}")
    console.print(f"files that one more noun costs: {len(list_noun_files())}")
    for name in (*participles, *list_story_words()):
        console.print(f"  {name}")


if __name__ == "__main__":
    main()
