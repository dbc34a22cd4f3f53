"""Test cases that a model writes, and candidates ranked by what they agree on."""

from __future__ import annotations

from treadle.ledger.problem import Problem
from treadle.models.base import Request
from treadle.operators.candidate import Candidate
from treadle.operators.code_agreement import rank_by_agreement, write_code_tests
from treadle.sandbox.unprotected import Unprotected
from treadle.testing.stage import stage

PROBLEM = Problem("double(n)", entry_point="double", public_tests=("assert double(0) == 0",))
WRITTEN = """\
Here they are:
```python
assert double(1) == 2
assert double(  1 ) == 2, "again"
assert double(0) == 0
assert triple(1) == 3
assert double(2) == 4
```"""


async def test_cases_that_call_the_entry_point_count_once_and_public_ones_not_at_all() -> None:
    async with stage(lambda _: WRITTEN) as here:
        assert await write_code_tests(PROBLEM, run=here.run) == ("assert double(1) == 2", "assert double(2) == 4")
        assert await write_code_tests(PROBLEM, run=here.run, most=1) == ("assert double(1) == 2",)
        assert here.requests[0].messages[0].content.startswith("<task>\ndouble(n)")
        assert (
            "10 test cases as `assert` statements such as `assert double(...)" in here.requests[0].messages[0].content
        )


async def test_several_draws_are_put_together() -> None:
    async with stage(lambda request: f"assert double({request.draw}) == {2 * request.draw}") as here:
        found = await write_code_tests(Problem("double", entry_point="double"), run=here.run, n=3)
        assert found == tuple(f"assert double({n}) == {2 * n}" for n in range(3))
        assert here.calls == 3


async def test_none_are_asked_for_once_more_and_then_there_are_none() -> None:
    def late(request: Request) -> str:
        return WRITTEN if len(request.messages) > 1 else "I would test small numbers."

    async with stage(late) as here:
        assert len(await write_code_tests(PROBLEM, run=here.run)) == 2
        assert here.calls == 2
    async with stage(lambda _: "No.") as here:
        assert await write_code_tests(PROBLEM, run=here.run) == ()
        assert await write_code_tests(Problem("?"), run=here.run) == ()
        assert here.calls == 2
        assert [note["to"] for note in here.notes("fallback")] == ["no test cases"] * 2


def program(body: str) -> str:
    return f"```python\ndef double(n):\n    return {body}\n```"


async def test_those_that_agree_win_over_those_that_pass_more_alone() -> None:
    tests = ("assert double(1) == 2", "assert double(2) == 4", "assert double(3) == 9", "assert double(4) == 16")
    # Two are right; one alone passes two tests that are wrong besides one that is right.
    bodies = {"0": "n * n", "1": "n + n", "2": "2 * n", "3": "n"}
    given = [Candidate(id, program(body)) for id, body in bodies.items()]
    async with stage(lambda _: "", sandbox=Unprotected()) as here:
        ranked = await rank_by_agreement(PROBLEM, given, tests, run=here.run)
        assert {each.id for each in ranked[:2]} == {"1", "2"}
        assert [each.id for each in ranked[2:]] == ["0", "3"]
        assert ranked[0].checks == (True, True, False, False)
        (ranking,) = here.notes("ranked")
        assert [score % 17 for score in ranking["scores"]] == [3, 4, 4, 0]


async def test_a_public_test_counts_more_than_any_agreement() -> None:
    given = [Candidate(str(place), program(body)) for place, body in enumerate(["n + 1", "n + 1 ", "2 * n"])]
    async with stage(lambda _: "", sandbox=Unprotected()) as here:
        ranked = await rank_by_agreement(
            PROBLEM, given, ("assert double(1) == 2", "assert double(2) == 3"), run=here.run
        )
        assert ranked[0].id == "2"


async def test_without_any_test_the_order_given_stands() -> None:
    given = [Candidate("0", program("n")), Candidate("1", program("2 * n"))]
    async with stage(lambda _: "") as here:
        assert await rank_by_agreement(Problem("?"), given, (), run=here.run, top_k=1) == tuple(given[:1])
        assert here.notes("fallback")


async def test_cases_may_use_what_is_set_up_for_them() -> None:
    problem = Problem(
        "area(r)", entry_point="area", fields={"setup": "import math\nfrom cmath import isclose\nEDGE = 1"}
    )
    written = "assert math.isclose(area(3), 28.27)\nassert isclose(area(1), 3.14)\nassert area(0) < EDGE"
    async with stage(lambda _: f"{written}\nassert area(0) < OTHER") as here:
        assert await write_code_tests(problem, run=here.run) == tuple(written.split("\n"))


async def test_a_sound_program_stands_before_any_agreement_of_prose() -> None:
    wrong = Candidate("4", program("7"))
    for given in ([*PROSE, wrong], [wrong, *PROSE]):
        async with stage(lambda _: "", sandbox=Unprotected()) as here:
            ranked = await rank_by_agreement(PROBLEM, given, ("assert double(1) == 2",), run=here.run)
            assert ranked[0].id == wrong.id


PROSE = [Candidate(str(place), text) for place, text in enumerate(["I cannot.", "Sorry, no.", "Hm?", "No."])]
