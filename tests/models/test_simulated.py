"""Simulated models: their statistics, and that nothing but seed, model, prompt and draw decides."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.errors import ProviderError, RateLimitError, UserError
from treadle.ledger.problem import Problem
from treadle.models.base import Completion, Message, Request
from treadle.models.simulated import SimulatedModel, simulated_model
from treadle.models.simulated_questions import SimulatedQuestion, find_question, simulated_questions
from treadle.operators.candidate import Candidate
from treadle.operators.criticise import criticise
from treadle.operators.fuse import fuse
from treadle.operators.rank import rank
from treadle.operators.rank_pairs import rank_pairs
from treadle.operators.unit_tests import check_statements, write_statements
from treadle.operators.verify import verify
from treadle.testing.sessions import recording_run


async def said(model: SimulatedModel, *contents: str, draw: int = 0, **options: Any) -> Completion:
    roles = ("user", "assistant")
    messages = tuple(Message(roles[place % 2], content) for place, content in enumerate(contents))  # pyright: ignore[reportArgumentType]
    return await model.complete(Request("any", messages, draw=draw, **options))


def answer_of(completion: Completion) -> str:
    return completion.text.rpartition("Answer: ")[2]


async def votes(model: SimulatedModel, questions: Sequence[SimulatedQuestion], n: int) -> float:
    """The share of questions on which a majority of n draws is right."""
    right = 0
    for question in questions:
        answers = Counter([answer_of(await said(model, question.text, draw=draw)) for draw in range(n)])
        right += answers.most_common(1)[0][0] == question.truth
    return 100 * right / len(questions)


class TestVoting:
    """Condorcet's jury theorem, with two answers."""

    async def test_independent_voters_above_one_half_gain(self) -> None:
        model = simulated_model("llm?skill=0.65")
        questions = simulated_questions(1, 6000)
        assert await votes(model, questions, 1) == pytest.approx(65, abs=1)
        assert await votes(model, questions, 5) == pytest.approx(76, abs=1)
        assert await votes(model, questions[:1000], 41) == pytest.approx(98, abs=1)

    async def test_voters_below_one_half_lose(self) -> None:
        model = simulated_model("llm?skill=0.45")
        questions = simulated_questions(2, 1000)
        assert await votes(model, questions, 15) < await votes(model, questions, 1) - 3

    async def test_voters_who_copy_each_other_gain_nothing(self) -> None:
        model = simulated_model("llm?skill=0.65&correlation=1")
        questions = simulated_questions(3, 1000)
        assert await votes(model, questions, 5) == await votes(model, questions, 1)

    async def test_many_wrong_answers_make_a_plurality_easier(self) -> None:
        model = simulated_model("llm?skill=0.45")
        assert await votes(model, simulated_questions(4, 600, answers=10), 11) > 80

    async def test_correlation_keeps_the_skill_of_one_draw(self) -> None:
        model = simulated_model("llm?skill=0.65&correlation=0.6")
        questions = simulated_questions(5, 2000)
        assert await votes(model, questions, 1) == pytest.approx(65, abs=2)
        assert await votes(model, questions, 7) < 76

    async def test_harder_questions_are_missed_more_often_as_stated(self) -> None:
        model = simulated_model("llm?skill=0.8")
        for difficulty in (-1.0, 0.0, 1.0):
            questions = [SimulatedQuestion(6, number, 2, difficulty) for number in range(3000)]
            assert await votes(model, questions, 1) == pytest.approx(100 * model.ability.success(difficulty), abs=2)

    async def test_two_models_are_independent(self) -> None:
        first, second = simulated_model("one?skill=0.5"), simulated_model("two?skill=0.5")
        agree = 0
        for question in simulated_questions(7, 3000):
            agree += answer_of(await said(first, question.text)) == answer_of(await said(second, question.text))
        assert agree / 30 == pytest.approx(50, abs=3)


class TestPurity:
    async def test_order_and_history_do_not_matter(self) -> None:
        requests = [(question.text, draw) for question in simulated_questions(1, 30) for draw in range(4)]
        first = simulated_model("llm?skill=0.6&failure_rate=0")
        expected = {key: await said(first, key[0], draw=key[1]) for key in requests}
        random.Random(1).shuffle(requests)
        again = simulated_model("llm?skill=0.6")
        assert {key: await said(again, key[0], draw=key[1]) for key in requests} == expected

    @pytest.mark.parametrize("other", ["llm?skill=0.6&seed=2", "other?skill=0.6"])
    async def test_another_seed_or_name_is_another_model(self, other: str) -> None:
        first, second = simulated_model("llm?skill=0.6"), simulated_model(other)
        texts = [question.text for question in simulated_questions(1, 40)]
        assert [await said(first, text) for text in texts] != [await said(second, text) for text in texts]
        assert first.identity != second.identity

    async def test_latency_is_no_part_of_the_answer(self) -> None:
        quick, slow = simulated_model("llm?skill=0.6"), simulated_model("llm?skill=0.6&latency_s=2&wait=0")
        text = simulated_questions(1, 1)[0].text
        assert (await said(quick, text)).text == (await said(slow, text)).text


class TestQuestions:
    @given(
        st.integers(-5, 2**40), st.integers(0, 10**6), st.integers(2, 300), st.floats(-4, 4).map(lambda x: round(x, 4))
    )
    @settings(max_examples=60)
    def test_a_question_is_found_again_in_any_wrapping(
        self, seed: int, number: int, answers: int, difficulty: float
    ) -> None:
        question = SimulatedQuestion(seed, number, answers, difficulty)
        example = SimulatedQuestion(seed + 1, 0).text
        found = find_question([f"Example: {example}", f"Think step by step.\n<task>\n{question.text}\n</task> Go."])
        assert found is not None
        assert found == question
        assert found.truth == question.truth
        assert question.truth in question.options

    def test_truths_are_spread_and_ids_are_unique(self) -> None:
        questions = simulated_questions(1, 3000, answers=3, spread=1.0)
        counts = Counter(question.truth for question in questions)
        assert set(counts) == {"A", "B", "C"}
        assert min(counts.values()) > 900
        assert len({question.id for question in questions}) == 3000
        mean = sum(question.difficulty for question in questions) / 3000
        assert abs(mean) < 0.1

    def test_a_longer_set_begins_with_a_shorter_one(self) -> None:
        assert simulated_questions(1, 20)[:10] == simulated_questions(1, 10)

    async def test_a_question_of_another_kind_is_answered_too(self) -> None:
        model = simulated_model("llm?skill=1&answers=30")
        answers = {answer_of(await said(model, "What is 2 + 2?", draw=draw)) for draw in range(5)}
        assert len(answers) == 1


class TestReplies:
    async def test_they_say_that_they_are_simulated(self) -> None:
        model = simulated_model("llm")
        completion = await said(model, simulated_questions(1, 1)[0].text)
        assert "simulated" in completion.text
        assert model.identity.provider == "simulated"

    async def test_usage_is_counted_and_bounded_by_the_limit(self) -> None:
        model = simulated_model("llm?output_tokens=100&length_spread=1")
        for draw in range(60):
            completion = await said(model, "x" * 41, draw=draw, settings={"max_tokens": 90})
            assert completion.usage is not None
            assert completion.usage.input == 11
            assert 0 < completion.usage.output <= 90
            assert ("Answer" in completion.text) == (completion.finish_reason == "stop")

    async def test_latency_passes_and_is_reported(self) -> None:
        model = simulated_model("llm?latency_s=0.02")
        began = time.monotonic()
        assert (await said(model, "x")).seconds == 0.02
        assert time.monotonic() - began >= 0.015

    async def test_failures_come_as_often_as_stated(self) -> None:
        model = simulated_model("llm?failure_rate=0.1&flaky_rate=0.2&truncation_rate=0.1&format_rate=0.1")
        seen: Counter[str] = Counter()
        for draw in range(3000):
            try:
                completion = await said(model, "x", draw=draw)
            except RateLimitError:
                seen["flaky"] += 1
                completion = await said(model, "x", draw=draw)
            except ProviderError as error:
                seen["failed for good"] += not error.retryable
                continue
            seen[completion.finish_reason] += 1
            seen["no answer"] += completion.finish_reason == "stop" and "Answer" not in completion.text
        assert seen["failed for good"] / 3000 == pytest.approx(0.1, abs=0.02)
        assert seen["flaky"] / 2700 == pytest.approx(0.2, abs=0.03)
        assert seen["length"] / 2700 == pytest.approx(0.1, abs=0.02)
        assert seen["no answer"] / 2430 == pytest.approx(0.1, abs=0.02)


class TestVerdicts:
    """A judge that is always right, shown one right and one wrong answer."""

    question = SimulatedQuestion(1, 1)
    right = f"I think.\nAnswer: {question.truth}"
    wrong = f"I think.\nAnswer: {'B' if question.truth == 'A' else 'A'}"

    async def judge(self, prompt: str, **options: Any) -> str:
        return (await said(simulated_model("judge?skill=1"), prompt, **options)).text

    @pytest.mark.parametrize("order", [1, 2])
    async def test_it_names_the_best_candidate(self, order: int) -> None:
        shown = [self.right, self.wrong] if order == 1 else [self.wrong, self.right]
        candidates = "".join(f"<candidate_{n}>\n{text}\n</candidate_{n}>" for n, text in enumerate(shown, 1))
        text = await self.judge(f'{self.question.text} One line of the form "Best: n".\n{candidates}')
        assert text.endswith(f"Best: {order}")

    async def test_it_prefers_and_rates(self) -> None:
        pair = f'{self.question.text} End with "[[A]]", "[[B]]" or "[[C]]".\n{{}}\n{{}}'
        assert (await self.judge(pair.format(self.right, self.wrong))).endswith("[[A]]")
        assert (await self.judge(pair.format(self.wrong, self.right))).endswith("[[B]]")
        assert (await self.judge(pair.format(self.right, self.right))).endswith("[[C]]")
        rate = f'{self.question.text} The form is "Rating: [[n]]".\n{{}}'
        high, low = [(await self.judge(rate.format(text)))[-4:] for text in (self.right, self.wrong)]
        assert int(high.strip("[ ]")) >= 8
        assert int(low.strip("[ ]")) <= 3

    async def test_it_criticises(self) -> None:
        model = simulated_model("judge?skill=1")
        ask = "Review the reply above. If nothing must change, answer with the one line: NO CHANGES"
        assert (await said(model, self.question.text, self.right, ask)).text.endswith("NO CHANGES")
        assert "seems wrong" in (await said(model, self.question.text, self.wrong, ask)).text

    def shown(self, *texts: str) -> str:
        return "".join(f"<candidate_{n}>\n{text}\n</candidate_{n}>" for n, text in enumerate(texts, 1))

    async def test_it_ranks_those_that_agree_with_it_first(self) -> None:
        candidates = self.shown(self.wrong, self.right, self.wrong, self.right)
        text = await self.judge(f'{self.question.text} The form is "Ranking: a > b > c".\n{candidates}')
        assert text.endswith("Ranking: 2 > 4 > 1 > 3")

    async def test_it_criticises_every_candidate_it_is_shown(self) -> None:
        ask = f'{self.question.text} Lines "Strengths: ..." and "Weaknesses: ...".'
        text = await self.judge(f"{ask}\n{self.shown(self.wrong, self.right)}")
        first, second = text.split("<critique_")[1:]
        assert "Strengths: none" in first
        assert f"seems wrong; {self.question.truth} seems right." in first
        assert second.endswith("Weaknesses: none\n</critique_2>")

    async def test_it_verifies_what_it_has_reasoned_about(self) -> None:
        model, asks = simulated_model("judge?skill=1"), 'The last line is "Verdict: correct".'
        for candidate, verdict in ((self.right, "Verdict: correct"), (self.wrong, "Verdict: incorrect")):
            first = f"{self.question.text}\n{self.shown(candidate)}"
            assert (await said(model, first, "It is thus.", asks)).text.endswith(verdict)

    async def test_it_writes_checks_and_checks_by_them(self) -> None:
        text = await self.judge(f"{self.question.text} Give a numbered list of check statements.")
        assert [line[:2] for line in text.splitlines()[-5:]] == ["1.", "2.", "3.", "4.", "5."]
        checks = "<checks>\n1. It is right.\n2. It is short.\n</checks>"
        for candidate, result in ((self.right, "pass"), (self.wrong, "fail")):
            asks = f'{self.question.text}\n{checks}\n{self.shown(candidate)}\nLines such as "1: pass".'
            assert (await self.judge(asks)).endswith(f"\n1: {result}\n2: {result}")

    async def test_a_schema_is_filled(self) -> None:
        schema = {
            "type": "object",
            "properties": {
                "reasoning": {"type": "string"},
                "answer": {"enum": ["A", "B"]},
                "is_correct": {"type": "boolean"},
                "best": {"type": "integer", "minimum": 1, "maximum": 2},
                "verdict": {"$ref": "#/$defs/verdict"},
                "tags": {"type": "array", "items": {"const": "x"}, "minItems": 2},
            },
            "$defs": {"verdict": {"anyOf": [{"enum": ["correct", "incorrect"]}]}},
        }
        value = msgspec.json.decode(await self.judge(f"{self.question.text}\n{self.right}", schema=schema))
        assert value["answer"] == self.question.truth
        assert value["is_correct"] is True
        assert value["best"] == 1
        assert value["verdict"] == "correct"
        assert value["tags"] == ["x", "x"]
        assert "simulated" in value["reasoning"]


class TestComponents:
    """The prompts of the components are those that it understands."""

    question = SimulatedQuestion(1, 1)
    drafts = tuple(
        Candidate(name, f"I think.\nAnswer: {answer}")
        for name, answer in zip("abc", ("?", question.truth, "?"), strict=True)
    )

    async def test_all_of_them_work_without_a_second_ask(self) -> None:
        problem, drafts = Problem(self.question.text), self.drafts
        async with recording_run(simulated_model("llm?skill=1")) as (run, recording):
            reviewed = await criticise(problem, drafts, run=run)
            assert ["Strengths: none" in (each.critique or "") for each in reviewed] == [True, False, True]
            assert [each.id for each in await rank(problem, reviewed, run=run, top_k=2)] == ["b", "a"]
            assert [each.id for each in await rank_pairs(problem, drafts, run=run, top_k=1)] == ["b"]
            assert [each.id for each in await verify(problem, reviewed, run=run)] == ["b"]
            statements = await write_statements(problem, run=run)
            assert len(statements) == 5
            checked = await check_statements(problem, drafts, statements, run=run)
            assert [each.id for each in checked][:1] == ["b"]
            (fused,) = await fuse(problem, reviewed, run=run)
            assert fused.text.endswith(f"Answer: {self.question.truth}")
            assert recording.tally.logical == 1 + 1 + 6 + 6 + 1 + 3 + 1


class TestOptions:
    @pytest.mark.parametrize(
        ("spec", "words"),
        [
            ("llm?skil=0.6", "did you mean skill"),
            ("llm?skill=1.5", "between 0 and 1"),
            ("llm?skill=high", "must be a number"),
            ("llm?skill=nan", "must be a number"),
            ("llm?seed=1.5", "whole number"),
            ("llm?skill", "name=value"),
            ("llm?skill=0.5&skill=0.6", "twice"),
            ("llm?latency_s=-1", "not be below"),
            ("llm?answers=1", "answers from 2"),
        ],
    )
    def test_they_are_read_strictly(self, spec: str, words: str) -> None:
        with pytest.raises(UserError, match=words):
            simulated_model(spec)

    @pytest.mark.parametrize(("skill", "share"), [(0.0, 0.0), (1.0, 100.0)])
    async def test_the_ends_of_the_skill_hold(self, skill: float, share: float) -> None:
        model = simulated_model(f"llm?skill={skill}&correlation=0.5")
        assert await votes(model, simulated_questions(1, 50, spread=1.0), 1) == share
