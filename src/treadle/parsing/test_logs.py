"""Logs of test runs: which test came to what, as the lists of SWE-bench name tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

TestOutcome = Literal["SKIPPED", "PASSED", "XFAIL", "XPASS", "ERROR", "FAILED"]
LogStyle = Literal["pytest", "django", "sympy"]
LOG_STYLES: tuple[LogStyle, ...] = ("pytest", "django", "sympy")

_RANKS: dict[TestOutcome, int] = {"SKIPPED": 0, "PASSED": 1, "XFAIL": 2, "XPASS": 3, "ERROR": 4, "FAILED": 5}
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_SUMMARY = re.compile(r"=+ short test summary info =+$")
_RESULT = re.compile(r"(?P<outcome>PASSED|FAILED|ERROR|XFAIL|XPASS|SKIPPED) (?P<name>\S+)")
_FOLDED = re.compile(r"\[[0-9]+\]$")
_COUNTS = re.compile(r"=* ?(?P<counts>[0-9]+ [a-z][^=]*?) in [0-9.]+(?:s| seconds)(?: \([0-9:]+\))?(?: =+)?$")
_PASSED = re.compile(r"(?P<count>[0-9]+) passed")
_PATH_OPTION = re.compile(r"(?P<test>[^\[]*)\[(?P<folders>/(?!/)[^*]*)(?P<last>/[^/*]*)\]$")
_DJANGO = re.compile(
    r"(?P<name>.*?) \.\.\. +(?P<word>ok|OK|FAIL|ERROR|skipped\b.*|expected failure|unexpected success)$"
)
_DJANGO_WORDS: dict[str, TestOutcome] = {
    "ok": "PASSED",
    "OK": "PASSED",
    "FAIL": "FAILED",
    "ERROR": "ERROR",
    "expected failure": "XFAIL",
    "unexpected success": "XPASS",
}
_DJANGO_END = re.compile(r"Ran [0-9]+ tests? in [0-9.]+s$")
_DJANGO_FAULT = re.compile(r"(?P<word>FAIL|ERROR): (?P<name>\S+)")
_MIGRATION = re.compile(r"Applying \S+?\.\.\.(?=test_)")
_SYMPY = re.compile(r"(?P<name>test_\S*)(?: .*)? (?P<word>ok|F|E|f|X|s)(?:\s+\[\w+\])?$")
_SYMPY_WORDS: dict[str, TestOutcome] = {
    "ok": "PASSED",
    "F": "FAILED",
    "E": "ERROR",
    "f": "XFAIL",
    "X": "XPASS",
    "s": "SKIPPED",
}
_SYMPY_FAULT = re.compile(r"_+ (?P<name>\S+\.py:\S+) _+$")
_SYMPY_END = re.compile(r"=* ?tests finished: ")
_GOOD: frozenset[TestOutcome] = frozenset({"PASSED", "XFAIL"})


@dataclass(frozen=True, slots=True)
class TestLog:
    """What a log says.

    Attributes:
        outcomes: What each test came to; one that is named several times came to the worst of it.
        fault: Why the log is not to be believed as a whole, in words; empty where nothing speaks against it.
    """

    __test__: ClassVar[bool] = False
    """No class of tests, whatever its name begins with."""

    outcomes: Mapping[str, TestOutcome] = field(default_factory=dict[str, TestOutcome])
    fault: str = ""

    def passed(self, name: str) -> bool:
        """Whether a test passed, or failed as it was expected to; one that is missing did not."""
        return self.outcomes.get(name) in _GOOD


def read_test_log(text: str, style: LogStyle = "pytest") -> TestLog:
    """Read the log of a test run.

    ``pytest``: the lines of its last short summary (``-rA``), test names cut at their first space as SWE-bench's lists
    cut them. ``django``: its runner with ``--verbosity 2``. ``sympy``: ``bin/test -C --verbose``. Names are those of
    SWE-bench's own parsers (``swebench.harness.log_parsers``); unlike there, a later line never makes a failed test
    pass, and a log that does not end as its runner ends one has a fault.

    Args:
        text: The log; colours do not count.
        style: Whose it is.
    """
    lines = [line.rstrip() for line in _ESCAPES.sub("", text).split("\n")]
    if style == "django":
        return _read_django(lines)
    return _read_sympy(lines) if style == "sympy" else _read_pytest(lines)


def _read_pytest(lines: list[str]) -> TestLog:
    begins = [place for place, line in enumerate(lines) if _SUMMARY.match(line)]
    counts = next((place for place in range(len(lines) - 1, -1, -1) if _count_line(lines[place])), -1)
    summary = lines[begins[-1] + 1 :] if begins else lines
    results = [match for match in map(_RESULT.match, summary) if match and not _FOLDED.match(match["name"])]
    found: list[tuple[str, TestOutcome]] = [(match["name"], _outcome(match["outcome"])) for match in results]
    named: list[tuple[str, TestOutcome]] = [(alias, outcome) for name, outcome in found for alias in _aliases(name)]
    outcomes = _worst(named)
    if counts < 0 or (begins and counts < begins[-1]):
        return TestLog(outcomes, "the log has no last line with the counts of tests: the run did not come to its end")
    passed = _PASSED.search(_count_line(lines[counts]))
    if sum(outcome == "PASSED" for _, outcome in found) > (int(passed["count"]) if passed else 0):
        return TestLog(outcomes, "the log names more passed tests than its last line counts")
    return TestLog(outcomes)


def _count_line(line: str) -> str:
    match = _COUNTS.match(line)
    return match["counts"] if match else ""


def _outcome(word: str) -> TestOutcome:
    return next(each for each in _RANKS if each == word)


def _aliases(name: str) -> Iterator[str]:
    """A test's name, and the forms in which lists have it that must not depend on a machine."""
    yield name
    path = _PATH_OPTION.match(name)
    if path:
        yield f"{path['test']}[{path['last']}]"
    if "MouseButton." in name:
        yield name.replace("MouseButton.LEFT", "1").replace("MouseButton.RIGHT", "3")


def _read_django(lines: list[str]) -> TestLog:
    return TestLog(_worst(_django_outcomes(lines)), _unended(lines, _DJANGO_END, "Ran N tests"))


def _django_outcomes(lines: list[str]) -> Iterator[tuple[str, TestOutcome]]:
    begun = ""
    for line in (_MIGRATION.sub("", line.strip()) for line in lines):
        match, fault = _DJANGO.match(line), _DJANGO_FAULT.match(line)
        if match:
            yield match["name"], _DJANGO_WORDS.get(match["word"], "SKIPPED")
            begun = ""
        elif fault:
            yield fault["name"], "FAILED" if fault["word"] == "FAIL" else "ERROR"
        elif " ... " in f"{line} ":
            begun = f"{line} ".split(" ... ")[0]
        elif begun and (line == "ok" or line in _DJANGO_WORDS):
            # What a test printed stands between its name and its outcome.
            yield begun, _DJANGO_WORDS[line]
            begun = ""


def _read_sympy(lines: list[str]) -> TestLog:
    return TestLog(_worst(_sympy_outcomes(lines)), _unended(lines, _SYMPY_END, "tests finished"))


def _sympy_outcomes(lines: list[str]) -> Iterator[tuple[str, TestOutcome]]:
    for line in (line.strip() for line in lines):
        match, fault = _SYMPY.match(line), _SYMPY_FAULT.match(line)
        if match:
            yield match["name"], _SYMPY_WORDS[match["word"]]
        elif fault:
            yield fault["name"], "FAILED"


def _unended(lines: list[str], end: re.Pattern[str], words: str) -> str:
    if any(end.match(line.strip()) for line in lines):
        return ""
    return f"the log has no line {words!r}: the run did not come to its end"


def _worst(found: Iterable[tuple[str, TestOutcome]]) -> dict[str, TestOutcome]:
    outcomes: dict[str, TestOutcome] = {}
    for name, outcome in found:
        if name not in outcomes or _RANKS[outcome] > _RANKS[outcomes[name]]:
            outcomes[name] = outcome
    return outcomes
