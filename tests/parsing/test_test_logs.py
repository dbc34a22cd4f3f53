"""Logs of pytest, django and sympy: which test came to what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.test_logs import LOG_STYLES, LogStyle, read_test_log

PYTEST = """\
============================= test session starts ==============================
collected 7 items

tests/test_a.py .F.xX                                                    [100%]

=========================== short test summary info ============================
PASSED tests/test_a.py::test_one
PASSED tests/test_a.py::TestB::test_two[a b-1]
PASSED tests/test_a.py::test_path[/tmp/x/data.bin]
SKIPPED [1] tests/test_a.py:12: not here
XFAIL tests/test_a.py::test_known - it is known
XPASS tests/test_a.py::test_surprise
ERROR tests/test_a.py::test_broken - RuntimeError: no
FAILED tests/test_a.py::test_bad - assert 1 == 2
====== 1 failed, 3 passed, 1 skipped, 1 xfailed, 1 xpassed, 1 error in 0.05s =======
"""
DJANGO = """\
Testing against Django installed in '/x/django' with up to 2 processes
test_one (admin.tests.A) ... ok
test_two (admin.tests.A)
A docstring of its own. ... ok
test_bad (admin.tests.A) ... FAIL
test_err (admin.tests.A) ... ERROR
test_skip (admin.tests.A) ... skipped 'no database'
test_known (admin.tests.A) ... expected failure
test_loud (admin.tests.A) ... Internal Server Error: /x/
ok
  Applying sites.0002_alter_domain_unique...test_no_migrations (admin.tests.B) ... ok

======================================================================
FAIL: test_bad (admin.tests.A)
----------------------------------------------------------------------
Ran 8 tests in 0.100s

FAILED (failures=1, errors=1)
"""
SYMPY = """\
sympy/core/tests/test_basic.py[5]
test_one ok
test_bad F
test_err E
test_known f
test_last ok                                                             [FAIL]
________________________________________________________________________________
_____________ sympy/core/tests/test_basic.py:test_deep _____________
============= tests finished: 2 passed, 1 failed, in 0.10 seconds ==============
"""


def test_pytest_names_are_those_of_the_lists() -> None:
    log = read_test_log(PYTEST)
    assert log.fault == ""
    assert dict(log.outcomes) == {
        "tests/test_a.py::test_one": "PASSED",
        "tests/test_a.py::TestB::test_two[a": "PASSED",
        "tests/test_a.py::test_path[/tmp/x/data.bin]": "PASSED",
        "tests/test_a.py::test_path[/data.bin]": "PASSED",
        "tests/test_a.py::test_known": "XFAIL",
        "tests/test_a.py::test_surprise": "XPASS",
        "tests/test_a.py::test_broken": "ERROR",
        "tests/test_a.py::test_bad": "FAILED",
    }
    assert log.passed("tests/test_a.py::test_known")
    assert not any(log.passed(f"tests/test_a.py::{name}") for name in ("test_surprise", "test_bad", "missing"))


def test_colours_do_not_count() -> None:
    red = "\x1b[36m\x1b[1m=== short test summary info ===\x1b[0m\n\x1b[32mPASSED\x1b[0m a.py::\x1b[1mtest_x\x1b[0m\n"
    assert read_test_log(f"{red}\x1b[32m\x1b[1m1 passed\x1b[0m\x1b[32m in 0.01s\x1b[0m\n").passed("a.py::test_x")


@pytest.mark.parametrize(
    "end",
    ["1 passed in 0.01s", "=== 1 passed, 2 warnings in 61.20s (0:01:01) ===", "=== 1 passed in 0.12 seconds ==="],
)
def test_the_last_line_has_many_forms(end: str) -> None:
    log = read_test_log(f"=== short test summary info ===\nPASSED a.py::test_x\n{end}\n")
    assert (log.fault, log.passed("a.py::test_x")) == ("", True)


def test_a_run_that_did_not_end_has_a_fault() -> None:
    cut = PYTEST[: PYTEST.rindex("\n======")]
    assert "did not come to its end" in read_test_log(cut).fault
    assert "did not come to its end" in read_test_log("PASSED a.py::test_x\n").fault
    assert all("did not come to its end" in read_test_log("", style).fault for style in LOG_STYLES)


def test_more_passes_than_are_counted_are_a_fault() -> None:
    log = read_test_log(
        PYTEST.replace("FAILED tests/test_a.py::test_bad - assert 1 == 2", "PASSED tests/test_a.py::test_bad")
    )
    assert "more passed tests" in log.fault


def test_no_later_line_makes_a_failed_test_pass() -> None:
    forged = PYTEST.replace("FAILED tests", "FAILED tests/test_a.py::test_one\nFAILED tests")
    assert not read_test_log(f"{forged}PASSED tests/test_a.py::test_one\n").passed("tests/test_a.py::test_one")
    late = DJANGO + "test_bad (admin.tests.A) ... ok\n"
    assert not read_test_log(late, "django").passed("test_bad (admin.tests.A)")
    assert not read_test_log(SYMPY + "test_bad ok\n", "sympy").passed("test_bad")


def test_what_tests_print_before_the_summary_is_no_outcome() -> None:
    log = read_test_log("PASSED a.py::test_x\n=== short test summary info ===\nFAILED a.py::test_y\n1 failed in 0.1s\n")
    assert dict(log.outcomes) == {"a.py::test_y": "FAILED"}


def test_django() -> None:
    log = read_test_log(DJANGO, "django")
    good = {name for name in log.outcomes if log.passed(name)}
    assert good == {
        "test_one (admin.tests.A)",
        "A docstring of its own.",
        "test_known (admin.tests.A)",
        "test_loud (admin.tests.A)",
        "test_no_migrations (admin.tests.B)",
    }
    assert log.outcomes["test_skip (admin.tests.A)"] == "SKIPPED"
    assert log.outcomes["test_err (admin.tests.A)"] == "ERROR"
    assert log.fault == ""


def test_sympy() -> None:
    log = read_test_log(SYMPY, "sympy")
    assert {name for name in log.outcomes if log.passed(name)} == {"test_one", "test_known", "test_last"}
    assert log.outcomes["sympy/core/tests/test_basic.py:test_deep"] == "FAILED"
    assert log.fault == ""


@given(st.text(), st.sampled_from(LOG_STYLES))
def test_any_text_is_read(text: str, style: LogStyle) -> None:
    log = read_test_log(text, style)
    assert not log.passed("tests/test_a.py::test_that_is_nowhere")
