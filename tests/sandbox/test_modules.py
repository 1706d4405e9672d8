"""The modules of scripts: what they hold works as Python's own, and nothing in them can be changed."""

# ruff: noqa: E501 - scripts, not code of ours

import copy
import os
import subprocess
import sys

import pytest

from panorama.sandbox.rules.facades import Facade, format_names, format_suggestions
from panorama.sandbox.stdlib import zoneinfo_module
from panorama.sandbox.stdlib.modules import MODULES
from panorama.sdk.reference.recipes import RECIPES
from tests.sandbox.running import modules, ran_plainly, run_restricted

USES = {
    "json": "json.dumps({'a': [1, None, True]}, sort_keys=True, indent=1), json.loads('[1.5]')",
    "math": "math.sqrt(16), math.pi, math.isclose(0.1 + 0.2, 0.3), math.gcd(12, 18)",
    "cmath": "cmath.sqrt(-1)",
    "datetime": "datetime.datetime(2026, 1, 2).strftime('%j %b'), datetime.timedelta(hours=30) / 2, datetime.date.max",
    "re": "re.sub(r'(a)(b)', lambda m: m.group(2) + m[1], 'abab'), re.split(r',\\s*', 'a, b,c'), re.compile('x', re.I | re.M).flags",
    "statistics": "statistics.mean([1, 2, 4]), statistics.NormalDist(0, 1).cdf(0), statistics.mode('aab')",
    "itertools": "list(itertools.chain([1], [2])), list(itertools.combinations('abc', 2)), list(itertools.pairwise([1, 2, 3]))",
    "collections": "collections.Counter('aab').most_common(1), list(collections.deque([1, 2], maxlen=1)), collections.ChainMap({'a': 1})['a']",
    "collections.abc": "isinstance([], collections.abc.Sequence), isinstance(3, collections.abc.Hashable)",
    "csv": "list(csv.reader(['a,b', '\"x, y\",z'])), list(csv.DictReader(['a,b', '1,2']))",
    "io": "io.StringIO('a\\nb').readlines(), io.BytesIO(b'x').read()",
    "textwrap": "textwrap.shorten('one two three', 9), textwrap.dedent('  a'), textwrap.fill('a b c', 3)",
    "difflib": "difflib.get_close_matches('appel', ['ape', 'apple']), list(difflib.unified_diff(['a'], ['b'], lineterm=''))[3:]",
    "random": "random.Random(3).random(), random.Random(3).choice('abc'), 0 <= random.random() < 1",
    "string": "string.ascii_lowercase, string.Template('$a b').substitute(a=1), string.capwords('a b')",
    "functools": "functools.reduce(lambda a, b: a + b, [1, 2, 3]), functools.partial(int, base=2)('11'), sorted('ba', key=functools.cmp_to_key(lambda a, b: (a > b) - (a < b)))",
    "operator": "operator.itemgetter(1)([1, 2]), operator.attrgetter('real', 'imag')(3), operator.methodcaller('upper')('a'), operator.add(1, 2)",
    "heapq": "heapq.nlargest(2, [1, 3, 2]), list(heapq.merge([1, 3], [2]))",
    "bisect": "bisect.bisect([1, 2, 3], 2), bisect.bisect_left([{'k': 1}, {'k': 3}], 2, key=lambda x: x['k'])",
    "copy": "copy.deepcopy({'a': [1]}), copy.copy([1])",
    "decimal": "str(decimal.Decimal('1.10') + 1), str(decimal.Decimal('2.675').quantize(decimal.Decimal('.01'), rounding=decimal.ROUND_HALF_UP))",
    "fractions": "fractions.Fraction(1, 3) + fractions.Fraction('1/6'), fractions.Fraction(3, 6).numerator",
    "uuid": "str(uuid.uuid5(uuid.NAMESPACE_DNS, 'x')), uuid.UUID(int=5).hex, len(str(uuid.uuid4()))",
    "hashlib": "hashlib.sha256(b'x').hexdigest(), hashlib.md5(b'x').hexdigest()",
    "base64": "base64.b64encode(b'hi'), base64.urlsafe_b64decode(b'aGk=')",
    "html": "html.escape('<a>'), html.unescape('&amp;')",
    "urllib.parse": "urllib.parse.quote('a b'), urllib.parse.urlparse('https://a.b/c?d=e').netloc, urllib.parse.urlencode({'q': 'x y'}), urllib.parse.parse_qs('a=1&a=2')",
    "time": "time.strftime('%Y', time.gmtime(0)), time.time() > 0, time.strptime('2026', '%Y').tm_year",
    "zoneinfo": "str(zoneinfo.ZoneInfo('Asia/Tokyo')), len(zoneinfo.available_timezones()) > 400, zoneinfo.ZoneInfo('UTC') is zoneinfo.ZoneInfo('UTC')",
    "calendar": "calendar.monthrange(2024, 2), calendar.isleap(2024), calendar.day_name[0], calendar.month_abbr[12]",
    "unicodedata": "unicodedata.normalize('NFD', 'é'), unicodedata.category('a'), unicodedata.name('é')",
    "numbers": "isinstance(3, numbers.Number), isinstance('3', numbers.Number)",
    "pprint": "pprint.pformat({'b': 1, 'a': [1, 2]}, width=10)",
    "types": "types.SimpleNamespace(a=1).a, types.SimpleNamespace(a=1) == types.SimpleNamespace(a=1)",
    "contextlib": "contextlib.nullcontext(3).enter_result",
    "abc": "abc.ABC.__name__",
    "dataclasses": "dataclasses.is_dataclass(3), dataclasses.MISSING is dataclasses.MISSING",
    "enum": "[m.name for m in enum.Enum('E', 'A B')], enum.Enum('E', {'A': 7})['A'].value, enum.Enum('E', ['A'], start=5).A.value",
    "typing": "typing.TYPE_CHECKING, typing.cast(int, 'a'), isinstance([], typing.Sequence)",
    "asyncio": "asyncio.TimeoutError is TimeoutError",
}  # fmt: skip


@pytest.mark.parametrize("name", [*USES])
def test_what_a_module_holds_works_as_in_python(name: str) -> None:
    code = f"import {name}\nreturn {USES[name]}"

    assert run_restricted(code) == ran_plainly(code)


def test_every_module_is_tried() -> None:
    assert MODULES - set(USES) == {"urllib", "typing_extensions"}


def test_what_discovery_says_can_be_imported_is_all_there_is() -> None:
    shown = next(recipe.code for recipe in RECIPES if recipe.title.startswith("Modules:"))
    names = {name.strip() for line in shown.splitlines() if line.startswith("import ") for name in line[7:].split(",")}

    assert names == MODULES - {"urllib", "typing_extensions"}


def test_a_context_of_decimal_is_the_scripts_to_change() -> None:
    code = "from decimal import Decimal, localcontext\nwith localcontext() as c:\n    c.prec = 3\n    return str(Decimal(1) / 3)"

    assert run_restricted(code) == "0.333"


PRETTY = "{'b': 1, 'a': {'d': [1, 2], 'c': 'x' * 60}}"


@pytest.mark.parametrize(
    "code",
    [
        f"import pprint\npprint.pprint({PRETTY})",
        f"import pprint\npprint.pp({PRETTY}, width=30)",
        f"from pprint import pprint\npprint({PRETTY}, indent=2, width=40, depth=1, sort_dicts=False)",
        f"from pprint import pprint as show, pp\nshow({PRETTY})\npp(3)",
        f"import pprint as printing\nprinting.pp({PRETTY}, sort_dicts=True)",
    ],
)
def test_pprint_prints_what_it_prints_in_python(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []

    run_restricted(code, printed=lambda text: lines.append(f"{text}\n"))
    ran_plainly(code)

    assert "".join(lines) == capsys.readouterr().out


def test_a_namespace_takes_attributes() -> None:
    code = (
        "from types import SimpleNamespace\nn = SimpleNamespace(a=1)\nn.b = 2\nn.a += 1\nn._c = 3\nreturn vars(n), n._c"
    )

    assert run_restricted(code) == ({"a": 2, "b": 2, "_c": 3}, 3)


@pytest.mark.parametrize("key", ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC"])
def test_every_time_zone_is_in_memory(key: str) -> None:
    code = f"from zoneinfo import ZoneInfo\nfrom datetime import datetime\nimport copy\nz = ZoneInfo({key!r})\nreturn datetime(2026, 7, 1, tzinfo=z).utcoffset(), z.key, repr(z), isinstance(z, ZoneInfo), copy.deepcopy([datetime(2026, 7, 1, tzinfo=z)])[0].tzinfo == z"

    assert run_restricted(code) == ran_plainly(code)


def test_a_zone_that_is_not_known_is_answered_with_the_nearest() -> None:
    code = "from zoneinfo import ZoneInfo, ZoneInfoNotFoundError\ntry:\n    ZoneInfo('Europe/Berln')\nexcept ZoneInfoNotFoundError as e:\n    return str(e)"

    assert "did you mean 'Europe/Berlin'" in run_restricted(code)


def test_zones_come_from_the_system_if_the_package_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zoneinfo_module, "_PACKAGE", "no_such_package")

    found = zoneinfo_module.load_zones()

    assert found == {} or found["UTC"].startswith(b"TZif")


def test_nothing_is_read_or_imported_once_the_modules_stand() -> None:
    """A worker has no file system: whatever Python imports late must be there before."""
    code = """
import sys
from panorama.sandbox.language import restricted as language
from tests.sandbox.snippets import SNIPPETS, Fake
from tests.sandbox.test_language import IDIOMS
import textwrap
modules = language.build_modules(None)
before = set(sys.modules)
opened = []
sys.addaudithook(lambda name, args: opened.append(args[0]) if name == "open" else None)
for text, sdk in [(s.code, Fake().sdk()) for s in SNIPPETS] + [(textwrap.dedent(t), None) for t in IDIOMS.values()]:
    names = language.build_namespace(modules, output=lambda *_: None, sdk=sdk)
    exec(language.compile_script(text), names)
    names[language.ENTRY]()
print(sorted(set(sys.modules) - before), [path for path in opened if "zoneinfo" in str(path) or ".py" in str(path)])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": "."})  # fmt: skip

    assert (done.stdout.strip(), done.returncode) == ("[] []", 0), done.stderr


def test_a_facade_cannot_be_changed_by_any_means() -> None:
    facade = Facade("box", {"a": 1})

    for change in (
        lambda: setattr(facade, "a", 2), lambda: setattr(facade, "b", 2), lambda: delattr(facade, "a"),
    ):  # fmt: skip
        with pytest.raises(AttributeError, match="'box' cannot be changed"):
            change()
    assert copy.copy(facade) is facade
    assert copy.deepcopy([facade])[0] is facade
    assert (dir(facade), repr(facade)) == (["a"], "<box>")


def test_lists_of_names_end_before_they_get_long() -> None:
    names = [f"name_number_{n}" for n in range(100)]

    assert format_names(names).endswith(", …")
    assert len(format_names(names)) <= 403
    assert format_suggestions("naem_number_7", names).startswith("'name_number_7'")
    assert format_suggestions("zzz", names) == ""


def test_the_modules_are_the_same_for_every_run() -> None:
    assert modules()["json"] is modules()["json"]
