"""What the library says of the SDK is what the catalogue says."""

from panorama.app import App
from panorama.domain.scripts.library import parse_signature
from panorama.domain.scripts.sdk_usage import is_writing
from panorama.mcp.guide import GUIDE


def test_what_writes_by_its_name_writes(app: App) -> None:
    known = {each.operation.sdk: each.operation for each in app.calls.operation_arguments if each.operation.sdk}
    known.pop("scripts.call")  # what it writes, the script that it runs writes

    assert {name: is_writing(name) for name in known} == {name: each.writes for name, each in known.items()}


def test_the_guide_is_under_two_kilobytes_and_its_example_is_a_script() -> None:
    example = GUIDE.partition("```python\n")[2].partition("```")[0]

    assert len(GUIDE.encode()) < 2048
    assert parse_signature(example).summary == "Move what is overdue to a new day, and list it."
