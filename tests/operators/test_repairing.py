"""Public tests that are run, and programs written anew in the light of what failed."""

from __future__ import annotations

from treadle.ledger.problem import Problem
from treadle.models.base import Request
from treadle.operators.candidate import Candidate
from treadle.operators.executed_tests import run_public_tests, select_by_tests
from treadle.operators.repair import repair_by_tests
from treadle.sandbox.base import ExecResult, Traits
from treadle.sandbox.unprotected import Unprotected
from treadle.testing.stage import stage

TESTS = ("assert last([1, 2]) == 2", "assert last([]) is None")
PROBLEM = Problem("last(items): the last item, None where there is none.", entry_point="last", public_tests=TESTS)
RIGHT = "def last(items):\n    return items[-1] if items else None\n"
HALF = "def last(items):\n    return items[-1]\n"
WRONG = "def last(items):\n    return 7\n"


def block(program: str) -> str:
    return f"```python\n{program}```"


async def test_public_tests_are_run_and_what_came_of_them_is_noted() -> None:
    async with stage(lambda _: "", sandbox=Unprotected()) as here:
        report = await run_public_tests(PROBLEM, Candidate("0", block(HALF)), run=here.run)
        assert [outcome.verdict for outcome in report.outcomes] == ["passed", "error"]
        (note,) = here.notes("tested")
        assert (note["candidate"], note["passed"], note["of"]) == ("0", 1, 2)
        assert "IndexError" in note["reason"]
        prose = await run_public_tests(PROBLEM, Candidate("1", "I cannot do that."), run=here.run)
        assert prose.passed == 0


async def test_tests_have_what_the_task_gives_besides_and_whatever_else_the_program_defines() -> None:
    problem = Problem(
        "?",
        entry_point="make",
        public_tests=("assert math.floor(make().size) == 2", "assert isinstance(make(), Box)"),
        fields={"setup": "import math"},
    )
    code = "class Box:\n    size = 2.5\ndef make():\n    return Box()\n"
    async with stage(lambda _: "", sandbox=Unprotected()) as here:
        report = await run_public_tests(problem, Candidate("0", code), run=here.run)
        assert report.all_passed, report.outcomes


async def test_a_wrong_program_is_written_anew_after_the_failing_test_is_shown() -> None:
    def reply(request: Request) -> str:
        return f"It fails on the empty list.\n{block(RIGHT)}"

    async with stage(reply, sandbox=Unprotected()) as here:
        result = await repair_by_tests(PROBLEM, Candidate("0", block(HALF)), run=here.run)
        assert result.passed
        assert (result.candidate.id, result.candidate.text, result.candidate.parents) == ("0.1", block(RIGHT), ("0",))
        assert result.candidate.checks == (True, True)
        asked, program, told = here.requests[0].messages
        assert asked.content.startswith(PROBLEM)
        assert program.content == block(HALF)
        assert "<test>\nassert last([]) is None\n</test>" in told.content
        assert "IndexError" in told.content
        assert TESTS[0] not in told.content
        assert here.calls == 1


async def test_a_program_that_passes_needs_no_call() -> None:
    async with stage(lambda _: "", sandbox=Unprotected()) as here:
        result = await repair_by_tests(PROBLEM, Candidate("0", block(RIGHT)), run=here.run)
        assert result.passed
        assert result.candidate.id == "0"
        assert here.calls == 0


async def test_a_worse_program_and_no_program_are_dropped_and_retries_end() -> None:
    replies = [block(WRONG), "I give up.", block(HALF)]
    async with stage(lambda request: replies[request.draw], sandbox=Unprotected()) as here:
        result = await repair_by_tests(PROBLEM, Candidate("0", block(HALF)), run=here.run, retries=3)
        assert not result.passed
        assert result.candidate.id == "0.3"
        assert here.calls == 3
        assert [note["candidate"] for note in here.notes("dropped")] == ["0.1"]
        assert [note["to"] for note in here.notes("fallback")] == ["the program before"]
        assert here.notes("not repaired")


async def test_without_public_tests_the_program_stays_as_it_is() -> None:
    async with stage(lambda _: "", sandbox=Unprotected()) as here:
        given = Candidate("0", block(HALF))
        result = await repair_by_tests(Problem("?", entry_point="last"), given, run=here.run)
        assert (result.candidate, result.report, result.passed) == (given, None, False)
        assert here.notes("fallback")
        assert here.calls == 0


class Refusing:
    """A sandbox that no tests can be sent to."""

    name = identity = "refusing"
    traits = Traits(inputs=False)

    async def execute(self, *_: object, **__: object) -> ExecResult:
        return ExecResult("refused", reason="closed today")

    async def aclose(self) -> None: ...


async def test_tests_that_the_sandbox_refused_say_nothing_of_the_program() -> None:
    async with stage(lambda _: block(RIGHT), sandbox=Refusing()) as here:
        given = Candidate("0", block(HALF))
        result = await repair_by_tests(PROBLEM, given, run=here.run)
        assert (result.candidate, result.passed) == (given, False)
        assert [note["reason"] for note in here.notes("fallback")] == ["closed today"]
        assert here.calls == 0


async def test_the_candidates_that_pass_most_stand_first_and_of_equals_what_most_wrote() -> None:
    other = "def last(xs):\n    if xs:\n        return xs[-1]\n    return None\n"
    twin = f"# the last one\n{RIGHT}"
    texts = {"0": WRONG, "1": other, "2": HALF, "3": RIGHT, "4": twin}
    given = [Candidate(id, block(text)) for id, text in texts.items()]
    async with stage(lambda _: "", sandbox=Unprotected()) as here:
        ranked = await select_by_tests(PROBLEM, given, run=here.run)
        ids = [each.id for each in ranked]
        assert set(ids[:2]) == {"3", "4"}
        assert ids[2:] == ["1", "2", "0"]
        assert ranked[3].checks == (True, False)
        assert await select_by_tests(PROBLEM, given, run=here.run, top_k=1) == ranked[:1]
        assert await select_by_tests(Problem("?"), given, run=here.run, top_k=2) == tuple(given[:2])
        assert here.calls == 0


async def test_a_sound_program_that_passes_nothing_stands_before_replies_without_one() -> None:
    prose = [Candidate(str(place), text) for place, text in enumerate(["I cannot.", "Sorry, no.", "Hm?", "No."])]
    wrong = Candidate("4", block(WRONG))
    for given in ([*prose, wrong], [wrong, *prose]):
        async with stage(lambda _: "", sandbox=Unprotected()) as here:
            ranked = await select_by_tests(PROBLEM, given, run=here.run)
            assert ranked[0].id == wrong.id
            (ranking,) = here.notes("ranked")
            assert sorted(ranking["scores"])[:4] == [0] * 4


async def test_what_setup_takes_from_the_program_is_there() -> None:
    problem = Problem(
        "?",
        entry_point="at",
        public_tests=("assert at(box) == limit",),
        fields={"setup": "limit = 3\nbox = Box(limit)"},
    )
    code = "limit = 9\nclass Box:\n    def __init__(self, at): self.at = at\ndef at(box): return box.at\n"
    async with stage(lambda _: "", sandbox=Unprotected()) as here:
        report = await run_public_tests(problem, Candidate("0", block(code)), run=here.run)
        assert report.all_passed, report.outcomes


async def test_a_report_that_is_there_is_not_made_again() -> None:
    async with stage(lambda _: block(RIGHT), sandbox=Unprotected()) as here:
        report = await run_public_tests(PROBLEM, Candidate("0", block(HALF)), run=here.run)
        result = await repair_by_tests(PROBLEM, Candidate("0", block(HALF)), run=here.run, report=report)
        assert result.passed
        assert [note["candidate"] for note in here.notes("tested")] == ["0", "0.1"]
