"""Structures answering questions: what is asked, how often, in which order, and what failures leave."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from treadle.config import ModelSettings
from treadle.errors import ProviderError, RunLimitError, SampleBudgetError, ServerError
from treadle.evaluation.cautions import parameters
from treadle.evaluation.evaluate import begin
from treadle.ledger.budget import Budget
from treadle.ledger.cast import Cast
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Message, Request
from treadle.models.scripted import Scripted
from treadle.search.spaces.open import Given, open_space
from treadle.testing.components import by_the_book
from treadle.testing.sessions import new_scope, recording_run, scripted_session
from treadle.testing.stage import stage
from treadle.testing.virtual_time import run_virtual
from treadle.workflows.archon.components.critic import Critic
from treadle.workflows.archon.components.fuser import Fuser
from treadle.workflows.archon.components.generator import Generator
from treadle.workflows.archon.components.ranker import PairRanker, Ranker
from treadle.workflows.archon.components.unit_tests import TestChecker, TestWriter
from treadle.workflows.archon.components.verifier import Verifier
from treadle.workflows.archon.one_line import parse_one_line
from treadle.workflows.archon.structure import Archon, Layer, distinct_calls
from treadle.workflows.archon.workflow import ArchonWorkflow
from treadle.workflows.base import Workflow
from treadle.workflows.registry import open_workflow

HERE = Path()
TEN = {f"m{place}": by_the_book for place in range(1, 11)}


def opened(spec: str) -> Workflow:
    return open_workflow(spec, folder=HERE)


def random_structures(space: str, count: int, seed: int) -> list[tuple[Workflow, Archon]]:
    structures = open_space(space, HERE).structures()
    chosen = [structures[place] for place in Random(seed).sample(range(len(structures)), count)]
    return [(each.workflow, parse_one_line(each.name.removeprefix("archon:"))) for each in chosen]


@pytest.mark.parametrize(
    "line", ["8g", "8g>r5", "8g>f", "8g>c>f", "8g>c>r5>f", "8g>v", "8g>v>f", "8g>u>e", "8g>u>e>f", "5g>p3>f", "u>3g>e1"]
)
async def test_a_shape_makes_exactly_the_calls_that_it_predicts(line: str) -> None:
    workflow = opened(f"archon:{line}")
    async with stage(by_the_book) as here:
        assert await workflow(Problem("Why?"), here.run)
        assert here.calls == workflow.calls.usual


async def test_two_hundred_random_structures_make_the_calls_they_predict_and_share_what_is_the_same() -> None:
    chosen = [*random_structures("archon", 100, 1), *random_structures("archon-19152", 100, 2)]
    async with scripted_session(TEN) as session:
        recording = await session.record("test", cast=Cast(tuple(session.aliases)))
        for workflow, _ in chosen:
            before = recording.tally.logical
            await workflow(Problem("Why?"), Run(new_scope(recording)))
            assert recording.tally.logical - before == workflow.calls.usual, workflow.name
        cast = [structure.cast(tuple(session.aliases), lambda role: None) for _, structure in chosen]
        assert recording.tally.paid == distinct_calls(cast, "Why?") < recording.tally.logical / 1.3


async def test_a_single_call_and_the_first_generator_are_one_call() -> None:
    async with recording_run(by_the_book) as (run, recording):
        await opened("single")(Problem("Why?"), run)
        await opened("archon:3g>f")(Problem("Why?"), run)
        assert (recording.tally.logical, recording.tally.paid) == (5, 4)


async def test_every_turn_and_role_of_the_chat_reaches_every_component() -> None:
    chat = (
        Message("system", "You are terse."),
        Message("user", "First question?"),
        Message("assistant", "First answer."),
        Message("user", "And {then} [1]?"),
    )
    async with stage(by_the_book) as here:
        await opened("archon:2g>c>r2>v>u>e>f")(Problem("And {then} [1]?", messages=chat), here.run)
        assert here.calls == 2 + 1 + 1 + 4 + 3 + 1
        for request in here.requests:
            assert request.messages[:3] == chat[:3]
            assert "And {then} [1]?" in request.messages[3].content


def test_components_of_a_layer_work_at_the_same_time() -> None:
    def slow(request: Request) -> Scripted:
        return {"text": by_the_book(request), "delay_s": 1.0}

    async def answer() -> float:
        async with recording_run({"a": slow, "b": slow}) as (run, recording):
            await opened("archon:4g(a,b)>4f(a,b)>f(a)")(Problem("Why?"), run)
            return recording.seconds

    assert run_virtual(answer()) == pytest.approx(3.0, abs=0.1)  # pyright: ignore[reportUnknownMemberType]


async def test_a_generator_that_fails_leaves_the_layer_with_the_answers_of_the_others() -> None:
    def broken(request: Request) -> str:
        raise ServerError("down")

    settings = {"b": ModelSettings("scripted:b", retries=0)}
    async with recording_run({"a": by_the_book, "b": broken}, settings=settings) as (run, _):
        assert await opened("archon:4g(a,b)>f(a)")(Problem("Why?"), run)
        with pytest.raises(ProviderError):
            await opened("archon:2g(b)>f(a)")(Problem("Why?"), run)
        with pytest.raises(ProviderError):
            await opened("archon:2g(a)>f(b)")(Problem("Why?"), run)


async def test_a_fuser_that_says_nothing_leaves_the_candidates_as_they_were() -> None:
    def silent(request: Request) -> str:
        return "" if "<candidate_1>" in request.messages[-1].content else by_the_book(request)

    async with stage(silent) as here:
        answer = await opened("archon:2g>f")(Problem("Why?"), here.run)
        assert answer.startswith("a reply")
        assert here.notes("fallback")


async def test_a_model_that_answers_garbage_to_everything_still_leads_to_an_answer() -> None:
    async with stage(lambda request: f"garbage [1] strengths weakness {request.draw}") as here:
        workflow = opened("archon:3g>c>r2>u>e>v>f")
        assert await workflow(Problem("Why?"), here.run) == "garbage [1] strengths weakness 0"
        assert here.notes("fallback")
        assert workflow.calls.low <= here.calls <= (workflow.calls.high or 0)


async def test_statements_written_first_are_part_of_what_generators_are_asked() -> None:
    async with stage(by_the_book) as here:
        await opened("archon:u>2g>e1")(Problem("Why?"), here.run)
        asked = [request.messages[-1].content for request in here.requests if "passes all of these" in
                 request.messages[-1].content]  # fmt: skip
        assert len(asked) == 2
        assert all("1. It says" in text for text in asked)


@pytest.mark.parametrize("calls", [1, 4, 5, 7, 9])
async def test_a_budget_that_ends_inside_a_layer_ends_the_question(calls: int) -> None:
    async with recording_run(by_the_book, budget=Budget(calls=calls)) as (run, recording):
        with pytest.raises(RunLimitError):
            await opened("archon:4g>c>r2>4f>f")(Problem("Why?"), run)
        assert recording.tally.paid <= calls
    async with recording_run(by_the_book, caps=Budget(calls=calls)) as (run, _):
        with pytest.raises(SampleBudgetError):
            await opened("archon:4g>c>r2>4f>f")(Problem("Why?"), run)


async def test_candidates_that_do_not_fit_a_window_are_left_out_by_rank_and_noted() -> None:
    def long(request: Request) -> str:
        return (
            by_the_book(request) if "<candidate_1>" in request.messages[-1].content else f"{request.draw} " + "x" * 900
        )

    settings = {"m": ModelSettings("scripted:m", context_window=1200, settings={"max_tokens": 100})}
    seen: list[str] = []

    def watched(request: Request) -> str:
        seen.append(request.messages[-1].content)
        return long(request)

    async with recording_run(watched, settings=settings) as (run, _):
        assert await opened("archon:8g>f")(Problem("Why?"), run)
    fused = next(text for text in seen if "<candidate_1>" in text)
    assert "<candidate_2>" in fused
    assert "<candidate_8>" not in fused
    assert len(fused) / 3 < 1200


async def test_what_pairs_are_shown_fits_the_window_too() -> None:
    seen: list[str] = []

    def long(request: Request) -> str:
        seen.append(request.messages[-1].content)
        return by_the_book(request) if '"Best: n"' in seen[-1] else f"{request.draw} " + "xyz " * 20_000

    settings = {"m": ModelSettings("scripted:m", context_window=2000, settings={"max_tokens": 100})}
    async with recording_run(long, settings=settings) as (run, _):
        assert await opened("archon:3g>p1")(Problem("Why?"), run)
    pairs = [text for text in seen if '"Best: n"' in text]
    assert len(pairs) == 6
    for text in pairs:
        assert 3000 < len(text) < 3 * 2000
        assert text.count("a part is left out here") == 2


async def test_an_own_instruction_reaches_every_component() -> None:
    layers: list[Layer] = [(Generator(samples=2, prompt="OWN g"),), (Critic(prompt="OWN c"),)]
    layers += [(Ranker(prompt="OWN r"),), (PairRanker(prompt="OWN p"),), (Verifier(prompt="OWN v"),)]
    layers += [(TestWriter(prompt="OWN u"),), (TestChecker(prompt="OWN e"),), (Fuser(prompt="OWN f"),)]
    async with stage(by_the_book) as here:
        await ArchonWorkflow(Archon(tuple(layers)))(Problem("Why?"), here.run)
        for letter in "gcrpvuef":
            assert any(f"OWN {letter}" in request.messages[0].content for request in here.requests), letter


async def test_a_small_fuser_is_warned_of_with_the_reason() -> None:
    async with scripted_session({"qwen2.5-7b": by_the_book, "big-70b": by_the_book}) as session:
        recording = await session.record("test", cast=Cast(tuple(session.aliases)))
        with pytest.warns(UserWarning, match="about 7B parameters and is a fuser"):
            begin(recording, Budget(), None, [opened("archon:4g>f(1)")])
        begin(recording, Budget(), None, [opened("archon:4g(1)>v(1)>f(2)"), opened("archon:4g>r1")])


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("qwen2.5-7b-instruct", 7),
        ("Qwen/Qwen1.5-110B-Chat", 110),
        ("mistralai/Mixtral-8x7B", 56),
        ("smollm2-135m.gguf", 0.135),
        ("llama-3.2-1b as a", 1),
        ("gpt-5-mini", None),
        ("phi-4", None),
        ("gemma2b9", None),
    ],
)
def test_a_models_size_is_read_from_its_name(name: str, size: float | None) -> None:
    assert parameters(name) == pytest.approx(size)


async def test_named_structures_are_what_their_papers_say() -> None:
    lines = {
        "moa?layers=3&proposers=4": "4g>4f>f",
        "moa?layers=2": "6g>f",
        "self-moa?n=6": "6g(1)>f(1)",
        "blender?n=4": "4g>p3>f",
    }
    for name, line in lines.items():
        first, second = opened(name), opened(f"archon:{line}")
        assert first.calls == second.calls
        answers: list[str] = []
        for workflow in (first, second):
            async with recording_run({"a": by_the_book, "b": by_the_book}) as (run, _):
                answers.append(await workflow(Problem("Why?"), run))
        assert answers[0] == answers[1]


def test_a_structure_of_a_space_is_cut_to_the_models_given() -> None:
    one = open_space("archon", HERE, Given(1)).structures()
    assert one[0].name == "archon:g>f"
    two = open_space("archon-9576", HERE, Given(2)).structures()
    assert two[0].name == "archon:g(1)>2f(1,2)>f(1)"
