"""Models of the simulated surface: every part they play is seen by the prompt's words, and is as good as stated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from statistics import NormalDist, mean
from typing import Any

import pytest

from treadle.errors import UserError
from treadle.ledger.problem import Problem
from treadle.models.base import Completion, Message, Model, Request
from treadle.models.registry import build_model
from treadle.models.simulated_marks import Mark, estimates, marks
from treadle.models.simulated_questions import SimulatedQuestion, simulated_questions
from treadle.models.simulated_surface import Surface, talents
from treadle.operators.candidate import Candidate
from treadle.operators.criticise import criticise
from treadle.operators.fuse import fuse
from treadle.operators.rank import rank
from treadle.operators.rank_pairs import rank_pairs
from treadle.operators.unit_tests import check_statements, write_statements
from treadle.operators.verify import verify
from treadle.testing.sessions import recording_run

QUESTIONS = simulated_questions(1, 60, answers=4, spread=0.8)
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "simulated-archon.md"


def model(number: int = 1, options: str = "seed=1", name: str = "archon") -> Model:
    return build_model(f"simulated:{name}/{number}?{options}")


async def said(player: Model, text: str, draw: int = 0, **options: Any) -> Completion:
    return await player.complete(Request("any", (Message("user", text),), draw=draw, **options))


def quality(text: str, question: SimulatedQuestion) -> float:
    return marks(text, question.id)[-1].quality


async def average(player: Model, questions: Sequence[SimulatedQuestion] = QUESTIONS, draws: int = 8) -> float:
    return mean([quality((await said(player, q.text, draw)).text, q) for q in questions for draw in range(draws)])


def written(question: SimulatedQuestion, values: Sequence[float]) -> list[Candidate]:
    """Candidates of stated qualities, which look like what they are."""
    return [Candidate(str(at), f"{Mark(question.id, each, each)}\nAnswer: A") for at, each in enumerate(values)]


class TestReplies:
    async def test_a_reply_says_that_it_is_simulated_and_is_the_same_whenever_it_is_asked(self) -> None:
        first = await said(model(), QUESTIONS[0].text)
        assert "(simulated)" in first.text
        assert first == await said(model(), QUESTIONS[0].text)
        assert first.text != (await said(model(), QUESTIONS[0].text, 1)).text
        assert first.text != (await said(model(2), QUESTIONS[0].text)).text
        assert first.text != (await said(model(), QUESTIONS[0].text, settings={"temperature": 1})).text
        assert first.text == (await said(model(), QUESTIONS[0].text, settings={"max_tokens": 999})).text

    async def test_skill_falls_from_the_first_model_to_the_last(self) -> None:
        best, middle, last = [await average(model(number)) for number in (1, 5, 10)]
        assert best > middle > last
        skills = [talent.skill for talent in talents(Surface())]
        assert skills == sorted(skills, reverse=True)
        assert best - last == pytest.approx(1.2, abs=0.25)

    async def test_the_letter_is_right_with_the_chance_that_the_quality_states(self) -> None:
        right = expected = 0.0
        for question in QUESTIONS:
            for draw in range(20):
                text = (await said(model(), question.text, draw)).text
                right += text.endswith(f"Answer: {question.truth}")
                expected += NormalDist().cdf(quality(text, question))
        assert right == pytest.approx(expected, abs=60)

    async def test_a_long_reply_is_cut_and_tokens_are_a_quarter_of_the_characters(self) -> None:
        whole = await said(model(), QUESTIONS[0].text)
        cut = await said(model(), QUESTIONS[0].text, settings={"max_tokens": 5})
        assert whole.usage is not None
        assert cut.usage is not None
        assert (whole.finish_reason, whole.usage.output) == ("stop", -(-len(whole.text) // 4))
        assert (cut.finish_reason, cut.text, cut.usage.output) == ("length", whole.text[:20], 5)

    async def test_a_schema_is_filled_with_the_letter(self) -> None:
        schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
        reply = await said(model(), QUESTIONS[0].text, schema=schema)
        assert re.fullmatch(r'\{"answer":"[ABCD]"\}', reply.text)

    async def test_a_question_that_is_not_simulated_is_answered_too(self) -> None:
        assert marks((await said(model(), "What is love?")).text)

    @pytest.mark.parametrize(
        "spec",
        ["archon/0", "archon/11", "archon/1?shared=0.8&own=0.8", "archon/1?skil=1", "archon/x", "archon/1?loss=-1"],
    )
    def test_a_model_that_is_not_there_is_refused(self, spec: str) -> None:
        with pytest.raises(UserError, match="simulated|option"):
            build_model(f"simulated:{spec}")

    def test_latency_is_said(self) -> None:
        assert "latency_s=0.5" in model(1, "seed=1&latency_s=0.5").identity.name


class TestMarks:
    def test_a_mark_that_was_changed_or_copied_from_another_question_is_none(self) -> None:
        mark = str(Mark("q-1", 0.5, 0.7))
        assert marks(f"So: {mark}") == [Mark("q-1", 0.5, 0.7)]
        assert marks(mark.replace("quality 0.5", "quality 2.5")) == []
        assert marks(mark.replace("q-1", "q-2")) == []
        assert marks(mark, "q-2") == []
        assert marks(str(Mark("q-1", 1e9, -1e9))) == [Mark("q-1", 9.9999, -9.9999)]


class TestParts:
    """Each part through its operator and a real run."""

    async def test_a_ranker_puts_the_better_ones_first(self) -> None:
        places: list[int] = []
        async with recording_run(model()) as (run, recording):
            for at, question in enumerate(QUESTIONS):
                given = written(question, [1.0, -1.0, 0.0, -2.0])
                kept = await rank(Problem(question.text), given, run=run.child(str(at)), top_k=2)
                assert len(kept) == 2
                places.append(int(kept[0].id))
            assert recording.tally.logical == len(QUESTIONS)
        assert places.count(0) > len(places) / 2 > 4 * places.count(3)

    async def test_pairs_are_compared(self) -> None:
        firsts: list[str] = []
        async with recording_run(model()) as (run, _):
            for at, question in enumerate(QUESTIONS[:20]):
                given = written(question, [-2.0, 2.0, 0.0])
                firsts.append((await rank_pairs(Problem(question.text), given, run=run.child(str(at)), top_k=1))[0].id)
        assert firsts.count("1") > 14

    async def test_a_critic_estimates_every_candidate_and_errs_less_where_there_are_few(self) -> None:
        errors: dict[int, list[float]] = {2: [], 20: []}
        async with recording_run(model()) as (run, recording):
            for count, found in errors.items():
                for at, question in enumerate(QUESTIONS):
                    given = written(question, [place / count for place in range(count)])
                    reviewed = await criticise(Problem(question.text), given, run=run.child(f"{count} {at}"))
                    assert all("Strengths" in (each.critique or "") for each in reviewed)
                    found += [
                        abs(estimates(each.critique or "")[0] - place / count) for place, each in enumerate(reviewed)
                    ]
            assert recording.tally.logical == 2 * len(QUESTIONS)
        assert mean(errors[2]) < mean(errors[20]) / 2

    async def test_a_verifier_errs_on_both_sides_and_is_mostly_right(self) -> None:
        kept: list[str] = []
        async with recording_run(model(1, "seed=1&leniency=0")) as (run, _):
            for at, question in enumerate(QUESTIONS):
                given = written(question, [0.3, -0.3])
                passed = await verify(Problem(question.text), given, run=run.child(str(at)))
                kept += [each.id for each in passed] if len(passed) < 2 else []
        assert 0 < kept.count("1") < kept.count("0") / 3

    async def test_statements_are_as_many_as_asked_for_and_tell_good_from_bad(self) -> None:
        firsts: list[str] = []
        async with recording_run(model()) as (run, _):
            for at, question in enumerate(QUESTIONS):
                here, problem = run.child(str(at)), Problem(question.text)
                statements = await write_statements(problem, run=here)
                assert len(statements) == 8
                assert len(await write_statements(problem, run=here, fewest=3, most=3)) == 3
                firsts.append((await check_statements(problem, written(question, [-1, 1]), statements, run=here))[0].id)
        assert firsts.count("1") > 0.75 * len(firsts)

    async def test_a_fuser_gains_from_good_candidates_and_a_weak_one_falls_below_picking(self) -> None:
        results: dict[int, list[float]] = {1: [], 10: []}
        for number, found in results.items():
            async with recording_run(model(number)) as (run, _):
                for at, question in enumerate(QUESTIONS):
                    given = written(question, [0.8, 0.2, -0.4])
                    (one,) = await fuse(Problem(question.text), given, run=run.child(str(at)))
                    found.append(quality(one.text, question))
        assert mean(results[10]) < mean(results[1])
        assert mean(results[10]) < 0.8

    async def test_a_fuser_of_one_candidate_again_and_again_gains_less_each_time(self) -> None:
        means: list[float] = []
        async with recording_run(model()) as (run, _):
            for level in (-2.0, 0.0, 2.0):
                found = [
                    (await fuse(Problem(q.text), written(q, [level, level + 0.5]), run=run.child(f"{at} {level}")))[0]
                    for at, q in enumerate(QUESTIONS)
                ]
                means.append(mean(quality(each.text, q) for each, q in zip(found, QUESTIONS, strict=True)) - level)
        assert means == sorted(means, reverse=True)


class TestNull:
    async def test_all_models_and_prompts_have_one_quality(self) -> None:
        best, last = [await average(model(number, name="archon-null"), draws=20) for number in (1, 10)]
        assert best == pytest.approx(last, abs=0.12)
        fused: list[float] = []
        async with recording_run(model(name="archon-null")) as (run, _):
            for at, question in enumerate(QUESTIONS):
                problem, given = Problem(question.text), written(question, [3.0, 3.0])
                made = await fuse(problem, given, run=run.child(str(at)), samples=20)
                fused += [quality(each.text, question) for each in made]
        assert mean(fused) == pytest.approx(best, abs=0.12)

    async def test_rankings_know_nothing(self) -> None:
        firsts: list[str] = []
        async with recording_run(model(name="archon-null")) as (run, _):
            for at, question in enumerate(QUESTIONS):
                given = written(question, [3.0, -3.0])
                firsts.append((await rank(Problem(question.text), given, run=run.child(str(at)), top_k=1))[0].id)
        assert 18 < firsts.count("0") < 42


def test_every_parameter_is_on_the_page_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", PAGE.read_text(), re.MULTILINE))
    assert rows == {field.name: f"{field.default:g}" for field in fields(Surface)}
