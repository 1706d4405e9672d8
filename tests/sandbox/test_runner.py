"""What a script can do, and what comes back from it."""

import json
import threading

import pytest

from panorama.domain.scripts.scripts import RunOutcome
from panorama.errors import InvalidInputError
from tests.sandbox.runs import Host, Runs, nothing_is_left, packed, runs
from tests.working import until

__all__ = ["nothing_is_left", "runs"]


def test_a_script_returns_a_value(runs: Runs):
    assert runs.result("return 1") == 1


def test_the_last_expression_is_the_result(runs: Runs):
    assert runs.result("x = 20\nx * 2 + 2") == 42


def test_inputs_become_names(runs: Runs):
    inputs = {"rows": [{"title": "Tea"}], "count": 10**20}

    result = runs.result("[row['title'] for row in rows] + [count]", inputs=inputs)

    assert result == ["Tea", 10**20]


def test_what_is_printed_comes_back_as_it_was_printed(runs: Runs):
    ending = runs("for word in ['Tea', 'für', 2]:\n    print(word, end='; ', flush=True)\nprint('a', 'b', sep='')")

    assert (ending.output, ending.result) == ("Tea; für; 2; ab\n", b"null")


def test_a_call_reaches_the_host_and_its_answer_comes_back_as_a_row(runs: Runs):
    host = Host(answers=lambda *_: packed({"id": "t_1", "item": {"title": "Tea"}}))

    result = runs.result("item = sdk.items.get('t_1')\nitem.item.title + item['id']", host=host)

    assert result == "Teat_1"
    assert host.asked == [("items.get", {"item": "t_1"})]


def test_a_refused_call_raises_the_error_that_the_host_told(runs: Runs):
    source = "try:\n    sdk.history('t_1')\nexcept sdk.ConflictError as error:\n    print(error.code, error.hint)"

    assert runs(source).output == "conflict Read it anew.\n"


def test_a_refused_call_that_nobody_catches_ends_the_script_with_its_hint(runs: Runs):
    failure = runs.failure("x = 1\nsdk.history('t_1')")

    assert (failure.reason, failure.line, failure.source) == ("raised", 2, "sdk.history('t_1')")
    assert (failure.message, failure.hint) == ("ConflictError: It changed.", "Read it anew.")


def test_an_operation_that_is_not_among_the_scripts_own_is_refused_by_the_host(runs: Runs):
    host = Host()

    failure = runs.failure("sdk.items.get('t_1')", host=host, operations=frozenset({"items.list", "x"}))

    assert failure.message == "NotFoundError: This script cannot call 'items.get'."
    assert "items.list" in failure.hint
    assert host.asked == []


def test_an_error_of_the_host_says_nothing_of_what_went_wrong(runs: Runs):
    def broken(*_: object) -> bytes:
        raise ValueError("/home/tea/secret")

    failure = runs.failure("sdk.items.get('t_1')", host=Host(answers=broken))

    assert "secret" not in str(failure)
    assert failure.message == "SdkError: Internal error; the call was not answered."


def test_an_error_of_the_host_can_be_caught_by_its_code(runs: Runs):
    def refusing(*_: object) -> bytes:
        raise InvalidInputError("No.", candidates=[{"id": "t_1", "title": "Tea"}])

    source = (
        "try:\n    sdk.items.get('x')\nexcept sdk.SdkError as error:\n    print(error.code, error.candidates[0].title)"
    )

    assert runs(source, host=Host(answers=refusing)).output == "invalid_input Tea\n"


def test_calls_that_run_side_by_side_are_made_before_the_first_is_answered_and_answered_one_at_a_time(runs: Runs):
    host, busy = Host(), threading.Lock()

    def met(*_: object) -> bytes:
        assert busy.acquire(blocking=False)
        until(lambda: bool(host.reports), "the report of the second function")
        busy.release()
        return packed({"title": "Tea"})

    host.answers = met
    source = """
def second():
    sdk.progress(1, 2)
    return sdk.items.get(2)
[row.title for row in sdk.parallel(lambda: sdk.items.get(1), second, lambda: sdk.items.get(3))]
"""

    assert runs.result(source, host=host) == ["Tea"] * 3


def test_both_sides_read_while_they_send_long_texts(runs: Runs):
    long = packed({"title": "x" * 900_000})
    source = "sdk.parallel_map(lambda n: len(sdk.items.get('y' * 900_000).title), range(8))"

    assert runs.result(source, host=Host(answers=lambda *_: long)) == [900_000] * 8


def test_results_of_functions_side_by_side_keep_their_order(runs: Runs):
    source = "sdk.parallel(lambda: sdk.items.get('a').arguments, lambda: 7, lambda: sdk.items.get('b').arguments)"

    assert runs.result(source) == [{"item": "a"}, 7, {"item": "b"}]


def test_the_first_error_side_by_side_is_raised_when_all_have_ended(runs: Runs):
    source = """
def fail(): raise ValueError("late")
def slow(): sdk.items.get("a"); print("done")
try:
    sdk.parallel(slow, fail, slow)
except ValueError as error:
    print(error)
"""

    assert runs(source).output == "done\nlate\n"


def test_functions_side_by_side_within_others_run_one_by_one(runs: Runs):
    source = "sdk.parallel(*[lambda: len(sdk.parallel_map(sdk.items.get, range(3)))] * 3)"

    ending = runs(source)

    assert (json.loads(ending.result), ending.calls) == ([3, 3, 3], 9)


def test_more_functions_than_eight_wait_for_their_turn(runs: Runs):
    result = runs.result("len(sdk.parallel_map(sdk.items.get, range(30), at_most=20))")

    assert result == 30


def test_progress_is_passed_on_now_and_then_and_at_last(runs: Runs):
    host = Host()

    runs("for i in range(5000):\n    sdk.progress(i, 5000, 'at it')\nsdk.progress(5000, 5000, 'done')", host=host)

    assert host.reports[0] == (0.0, 5000.0, "at it")
    assert host.reports[-1] == (5000.0, 5000.0, "done")
    assert len(host.reports) < 50


def test_progress_before_each_call_is_told_now_and_then(runs: Runs):
    host = Host()

    ending = runs("for n in range(3000):\n    sdk.progress(n, 3000)\n    sdk.items.get(n)\nreturn n", host=host)

    assert ending.result == b"2999", ending.failure
    assert len(host.reports) < 1000


def test_a_client_that_cannot_take_progress_does_not_end_the_script(runs: Runs):
    host = Host()
    host.progressed = lambda *_: 1 / 0  # type: ignore[assignment] (a report that fails)

    assert runs.result("sdk.progress(1, 2)\n3", host=host) == 3


def test_names_that_changed_in_the_state_come_back(runs: Runs):
    ending = runs(
        "sdk.state['seen'].append(2)\nsdk.state['new'] = {'a': 1}\ndel sdk.state['old']\nsdk.state['same'] = 1",
        state={"seen": [1], "old": 1, "same": 1},
    )

    assert json.loads(ending.state) == {"set": {"seen": [1, 2], "new": {"a": 1}}, "removed": ["old"]}


def test_a_state_that_did_not_change_does_not_come_back(runs: Runs):
    assert runs("sdk.state['a']", state={"a": {"b": [1, 2.5, None]}}).state == b""


def test_what_a_script_put_into_its_state_stays_if_it_fails_later(runs: Runs):
    ending = runs("sdk.state['page'] = 3\n1 / 0")

    assert json.loads(ending.state) == {"set": {"page": 3}, "removed": []}


def test_a_run_begins_with_nothing_of_the_one_before(runs: Runs):
    runs("sdk.state['a'] = 1\nimport random\nx = 1")

    assert runs.result("dict(sdk.state)") == {}
    assert "NameError" in runs.failure("x").message


def test_an_exception_is_told_with_its_line_and_what_led_there(runs: Runs):
    failure = runs.failure("def inner(x):\n    return 1 / x\n\ndef outer():\n    return inner(0)\n\nouter()")

    assert failure.message == "ZeroDivisionError: division by zero"
    assert (failure.line, failure.source) == (2, "return 1 / x")
    assert failure.trace == ((7, ""), (5, "outer"), (2, "inner"))


def test_a_long_trace_is_cut_in_its_middle(runs: Runs):
    failure = runs.failure("def f(n):\n    return f(n - 1) if n else 1 / 0\nf(50)")

    assert failure.trace[0] == (3, "")
    assert len(failure.trace) == 10


def test_a_recursion_without_end_is_an_exception_like_others(runs: Runs):
    failure = runs.failure("def f():\n    return f()\nf()")

    assert (failure.reason, failure.line) == ("raised", 2)


def test_a_text_that_is_no_python_is_told_with_its_line(runs: Runs):
    failure = runs.failure("x = 1\ny = (2,\n")

    assert (failure.reason, failure.line, failure.source) == ("syntax", 2, "y = (2,")


def test_a_text_that_says_what_scripts_may_not_is_told_with_a_hint(runs: Runs):
    failure = runs.failure("x = 1\nimport os")

    assert (failure.reason, failure.line) == ("policy", 2)
    assert failure.hint


def test_an_exception_whose_text_fails_is_told_without_it(runs: Runs):
    failure = runs.failure("class Odd(Exception):\n    def __str__(self):\n        return 1 / 0\nraise Odd()")

    assert (failure.message, failure.line) == ("Odd", 4)


def test_an_error_inside_functions_side_by_side_is_told_with_its_line(runs: Runs):
    failure = runs.failure("def f(x):\n    return sdk.items.get(x).arguments.nothing\nsdk.parallel_map(f, [1, 2])")

    assert (failure.line, failure.reason) == (2, "raised")


def test_arguments_that_cannot_be_sent_are_refused_in_the_scripts_line(runs: Runs):
    failure = runs.failure("x = 1\nsdk.items.get(2 ** 70)")

    assert failure.message.startswith("InvalidInputError: The arguments cannot be sent")
    assert failure.line == 2


def test_texts_that_are_no_unicode_do_not_break_anything(runs: Runs):
    ending = runs("print('\\ud800')\nsdk.items.get('\\ud800')\nsdk.state['\\ud800'] = '\\ud800'\n'\\ud800'")

    assert (ending.failure, ending.output, ending.result) == (None, "?\n", b'"?"')


def test_figures_of_a_run_come_with_its_ending(runs: Runs):
    ending = runs("sdk.items.get(1)\nx = [0] * 4_000_000\nsum(i for i in range(200_000))")

    assert ending.calls == 1
    assert ending.peak_bytes > 32_000_000
    assert ending.cpu_seconds > 0.001


def test_a_long_result_has_a_shape(runs: Runs):
    ending = runs("{'rows': [{'id': i, 'title': 'Tea'} for i in range(20_000)], 'note': 'x' * 5000}")

    assert ending.shape.splitlines()[:4] == [
        "object with 2 keys",
        "  rows: list of 20,000",
        '    {"id": 0, "title": "Tea"}',
        '    {"id": 1, "title": "Tea"}',
    ]
    assert "note: text of 5,000 characters" in ending.shape


def test_large_answers_and_results_come_through(runs: Runs):
    rows = [{"id": f"t_{i}", "title": "x" * 100} for i in range(20_000)]

    ending = runs("sdk.items.get(1)", host=Host(answers=lambda *_: packed(rows)))

    assert json.loads(ending.result) == rows


@pytest.mark.parametrize("expected", [b"[", b"\xff", b"9" * 5_000, b"[" * 100_000])
def test_what_another_script_returned_may_be_anything(runs: Runs, expected: bytes) -> None:
    failure = runs.failure("return sdk.items.get(1)", host=Host(answers=lambda *_: packed(expected)))

    assert failure.reason == "raised"
    assert "The script returned malformed data" in failure.message


def test_many_runs_at_the_same_time_do_not_meet(runs: Runs):
    endings: list[RunOutcome] = []
    threads = [
        threading.Thread(
            target=lambda i=i: endings.append(runs(f"[sdk.items.get({i}).arguments.item for _ in range(20)]"))
        )
        for i in range(6)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(json.loads(ending.result)[0] for ending in endings) == list(range(6))
    assert all(len(set(json.loads(ending.result))) == 1 for ending in endings)
