from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.statements import listed, outcomes

STATEMENTS = st.lists(
    st.sampled_from(["reply", "names 2 primes", "is 3.5 m", "has a list:", "- and a dash", "[1] is cited", "pass"]),
    min_size=1,
    max_size=3,
).map(lambda parts: "The " + " ".join(parts))
MARKS = ["{}. {}", "{}) {}", "**{}.** {}", "  {}. **{}**", "({}) {}", "{}: {}"]


@given(st.lists(STATEMENTS, min_size=1, max_size=12, unique=True), st.sampled_from(MARKS), st.booleans())
def test_a_numbered_list_is_read_as_it_was_written(statements: list[str], mark: str, talks: bool) -> None:
    lines = [mark.format(number, statement) for number, statement in enumerate(statements, 1)]
    assert listed("\n".join((["Here is the list:", "- of checks"] if talks else []) + lines)) == tuple(statements)


@given(st.lists(STATEMENTS, min_size=1, max_size=8, unique=True), st.sampled_from(["[", "{", "objects"]))
def test_json_is_read_too(statements: list[str], kind: str) -> None:
    objects = [{"id": number, "statement": statement} for number, statement in enumerate(statements)]
    value = {"[": statements, "{": {"checks": statements}, "objects": objects}[kind]
    assert listed(msgspec.json.encode(value).decode()) == tuple(statements)


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("- It is short.\n* It is right.", ("It is short.", "It is right.")),
        ("- [ ] It is short.", ("It is short.",)),
        ("1. It is right:\n   - the sum\n   1. the unit\n2. It is short.", ("It is right:", "It is short.")),
        ("1. It is right.\n2. It is right.", ("It is right.",)),
        ("<think>\n1. Draft\n</think>\n1. It is right.", ("It is right.",)),
        ("1. ...\n2. It  is\tright.", ("It is right.",)),
        ("I would rather not.", ()),
        ("", ()),
        ("2 of 3 are right", ()),
    ],
)
def test_how_lists_are_told_from_other_text(reply: str, read: tuple[str, ...]) -> None:
    assert listed(reply) == read


LINES = [
    "{}: {}",
    "{}. {}",
    "**{}:** {}",
    "- {}: {}",
    "Check {}: {}",
    "| {} | {} |",
    "{}. The sum is 4: {}",
    "[{}] - {}",
]


@given(
    st.lists(st.booleans(), min_size=1, max_size=12), st.sampled_from(LINES), st.sampled_from(["{}", "**{}**.", "{}ed"])
)
def test_results_are_read_in_many_clothes(results: list[bool], line: str, word: str) -> None:
    words = [word.format("pass" if passed else "fail") for passed in results]
    reply = "\n".join(line.format(number, said) for number, said in enumerate(words, 1))
    assert outcomes(f"Results:\n{reply.upper()}\nDone.", len(results)) == dict(enumerate(results, 1))


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("1: passive voice is used\n2: passing", {}),
        ("1: failsafe\n2: failing-ish", {}),
        ("1: not pass\n2: does not pass", {1: False, 2: False}),
        ("1: doesn't pass. 2", {1: False}),
        ("1: pass because it never fails\n2: fail, though it would pass", {1: True, 2: False}),
        ("1: pass or fail\n2: pass/fail", {}),
        ("1: it partly holds", {}),
        ("1: fail\nOn reflection:\n1: pass", {1: True}),
        ("0: pass\n3: pass\n1: pass", {1: True}),
        ("2 of them pass", {}),
        ("pass", {}),
        ('{"1": "pass", "2": false}', {1: True, 2: False}),
        ('["pass", "fail"]', {1: True, 2: False}),
        ('["pass"]', {}),
        ('{"results": [{"check": 2, "result": "fail"}]}', {2: False}),
        ("<think>1: fail</think>1: pass", {1: True}),
        ("", {}),
    ],
)
def test_what_counts_as_a_result(reply: str, read: dict[int, bool]) -> None:
    assert outcomes(reply, 2) == read


@given(st.text(max_size=150), st.integers(1, 5))
def test_only_statements_that_are_there_have_results(reply: str, count: int) -> None:
    assert set(outcomes(f"1: {reply}", count)) <= set(range(1, count + 1))
