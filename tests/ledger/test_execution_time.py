"""What the programs of a question cost it, and when they end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from machine import PROGRAM, TASK, Machine, echo, executions, running

from treadle.errors import ProviderError
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.outcome import Question, answer_question
from treadle.ledger.budget import Budget
from treadle.ledger.run import Run
from treadle.ledger.shared_sandbox import SharedSandbox
from treadle.sandbox.base import (
    Command,
    ExecResult,
    Limits,
    Program,
    Status,
)
from treadle.store.open import open_store
from treadle.store.text import decode
from treadle.tasks.base import Sample, Score
from treadle.tasks.scorers.unscored import Unscored
from treadle.tasks.task import Task
from treadle.testing.sessions import new_scope, recording_run, scripted_session
from treadle.testing.virtual_time import run_virtual


async def test_a_question_whose_program_the_machine_refused_is_infra_and_comes_out_right_later() -> None:
    store = open_store("sqlite:///:memory:", Path())
    statuses: list[str] = []
    asked: tuple[Status, ...] = ("refused", "ok", "ok")
    for status in asked:
        machine = Machine(status=status)
        async with scripted_session(echo, store=store, sandbox=machine) as session:
            report = await evaluate(session, [running("a")], TASK, models=["m"])
        statuses += [f"{outcome.status} {outcome.answer}" for outcome in report.rows[0].outcomes]
    store.close()
    assert statuses == ["infra ", "infra ", *["ok 1"] * 4]


async def test_repeats_and_fresh_families_run_anew_and_a_finished_run_replays() -> None:
    machine = Machine(seconds=1.5)
    async with scripted_session(echo, sandbox=machine) as session:
        answers: list[Any] = []
        for fresh in (0, 1, 0):
            report = await evaluate(session, [running("a", "b")], TASK, repeat=2, fresh=fresh, models=["m"])
            (row,) = report.rows
            answers.append([(outcome.repeat, outcome.answer) for outcome in row.outcomes])
            assert row.per_sample["seconds"] == 3.0
    assert answers[0] == answers[2]
    assert answers[0] != answers[1]
    # Both questions run the same programs, so each is made once in each of the four blocks.
    assert len(machine.done) == 2 * 2 * 2


async def test_what_a_scorer_runs_is_no_part_of_the_structures_cost() -> None:
    class Running(Unscored):
        runs_code = False

        async def score(self, sample: Sample, answer: str, run: Run) -> Score:
            result = await run.sandbox.execute(Program("graded"))
            return Score(1.0, result.stdout)

    machine = Machine(seconds=5.0)
    async with scripted_session(echo, sandbox=machine) as session:
        task = Task("q", TASK.samples, Running())
        report = await evaluate(session, ["single"], task, models=["m"])
        (row,) = report.rows
        assert [outcome.score for outcome in row.outcomes] == [1.0, 1.0]
        assert (row.per_sample["seconds"] or 0.0) < 5.0
        samples = await session.journal.read(lambda store: store.samples(report.run))
        assert all(b'"operator":"scorer"' in sample.trace and b'"execution"' in sample.trace for sample in samples)
        machine.status = "refused"
        report = await evaluate(session, ["single"], task, models=["m"], fresh=1)
        assert {outcome.status for outcome in report.rows[0].outcomes} == {"infra"}
        assert "refused to run it: no room" in report.rows[0].outcomes[0].reason


def test_a_questions_time_ends_a_program_that_hangs_and_nothing_is_left_running() -> None:
    async def main() -> None:
        machine = Machine(takes=1000)
        async with scripted_session(echo, sandbox=machine) as session:
            recording = await session.record("test")
            loop = asyncio.get_running_loop()
            question = Question(running("hangs"), TASK, TASK.samples[0], 0, 0, Budget(seconds=3))
            outcome = await answer_question(recording, question, ())
            assert (outcome.status, loop.time()) == ("timeout", 3.0)
            assert (machine.running, machine.ended) == (0, 1)

    run_virtual(main())


def test_a_program_that_was_cut_costs_its_time_and_stands_in_the_trace() -> None:
    async def main() -> None:
        machine = Machine(takes=5, seconds=5)
        async with scripted_session(echo, sandbox=machine) as session:
            session.shared_sandbox = SharedSandbox(machine, Limits(), width=1)
            session.executions._sandbox = session.shared_sandbox  # pyright: ignore[reportPrivateUsage]
            recording = await session.record("test")
            questions = [
                Question(running(f"{n}", f"{n} on"), TASK, TASK.samples[n], 0, 0, Budget(seconds=7)) for n in (0, 1)
            ]
            outcomes = await asyncio.gather(*(answer_question(recording, each, ()) for each in questions))
            assert [(outcome.status, outcome.seconds) for outcome in outcomes] == [("timeout", 7.0)] * 2
            samples = await session.journal.read(lambda store: store.samples(recording.id))
            for sample in samples:
                whole, cut, _ = decode(sample.trace)
                assert (whole["status"], whole["seconds"]) == ("ok", 5.0)
                assert (cut["status"], cut["start"], cut["seconds"], cut["cached"]) == ("cut", 5.0, 2.0, False)

    run_virtual(main())


@pytest.mark.parametrize("joins", [0.0, 1.0])
def test_what_is_cut_costs_the_time_since_it_could_get_on(joins: float) -> None:
    async def main() -> None:
        async with scripted_session(echo, sandbox=Machine(takes=10)) as session:
            recording = await session.record("test")
            whole = asyncio.create_task(Run(new_scope(recording)).sandbox.execute(PROGRAM))
            await asyncio.sleep(joins)
            run = Run(new_scope(recording))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(4):
                    await run.sandbox.execute(PROGRAM)
            assert [(each["status"], each["seconds"]) for each in executions(run)] == [("cut", 4.0)]
            assert (await whole).status == "ok"

    run_virtual(main())


def test_what_waits_for_its_turn_when_it_is_cut_costs_nothing() -> None:
    async def main() -> None:
        machine = Machine(takes=10)
        shared = SharedSandbox(machine, Limits(), width=1)
        async with scripted_session(echo, sandbox=machine) as session:
            session.executions._sandbox = shared  # pyright: ignore[reportPrivateUsage]
            recording = await session.record("test")
            first = asyncio.create_task(Run(new_scope(recording)).sandbox.execute(PROGRAM))
            await asyncio.sleep(1)
            run = Run(new_scope(recording))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(4):
                    await run.sandbox.execute(Program("waits"))
            assert [(each["status"], each["seconds"]) for each in executions(run)] == [("cut", 0.0)]
            await first

    run_virtual(main())


def test_a_fault_of_the_sandbox_leaves_its_time_in_the_trace() -> None:
    class Breaking(Machine):
        async def execute(self, work: Program | Command, **given: Any) -> ExecResult:
            await asyncio.sleep(2)
            raise OSError("no more processes")

    async def main() -> None:
        async with recording_run(echo, sandbox=Breaking()) as (run, _):
            with pytest.raises(ProviderError):
                await run.sandbox.execute(PROGRAM)
            assert [(each["status"], each["seconds"]) for each in executions(run)] == [("cut", 2.0)]

    run_virtual(main())


def test_whoever_is_cut_goes_on_when_its_program_is_really_over() -> None:
    class Slow(Machine):
        over = 0

        async def execute(self, work: Program | Command, **given: Any) -> ExecResult:
            try:
                return await super().execute(work, **given)
            finally:
                await asyncio.sleep(1)
                self.over += 1

    async def main() -> None:
        machine = Slow(takes=100)
        async with recording_run(echo, sandbox=machine) as (run, _):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(4):
                    await run.sandbox.execute(PROGRAM)
            assert (machine.over, asyncio.get_running_loop().time()) == (1, 5.0)
            assert executions(run)[0]["seconds"] == 4.0

    run_virtual(main())


@pytest.mark.parametrize(("says", "counts"), [(0.0, 3.0), (2.0, 2.0)])
def test_the_seconds_of_a_sandbox_that_measures_none_are_measured_here(says: float, counts: float) -> None:
    async def main() -> None:
        async with recording_run(echo, sandbox=Machine(takes=3, seconds=says)) as (run, _):
            assert (await run.sandbox.execute(PROGRAM)).seconds == counts
            assert executions(run)[0]["seconds"] == counts

    run_virtual(main())


def test_waiting_for_a_turn_is_nobodys_time() -> None:
    async def main() -> None:
        machine = Machine(takes=2, seconds=2)
        async with scripted_session(echo, sandbox=machine) as session:
            session.shared_sandbox = SharedSandbox(machine, Limits(), width=2)
            session.executions._sandbox = session.shared_sandbox  # pyright: ignore[reportPrivateUsage]
            recording = await session.record("test")
            questions = [Question(running(f"{n}"), TASK, TASK.samples[0], 0, 0, Budget(seconds=3)) for n in range(6)]
            outcomes = await asyncio.gather(*(answer_question(recording, each, ()) for each in questions))
            assert {(outcome.status, outcome.seconds) for outcome in outcomes} == {("ok", 2.0)}
            assert (machine.most, asyncio.get_running_loop().time()) == (2, 6.0)

    run_virtual(main())


@pytest.mark.parametrize("ends", ["interrupt", "clock"])
def test_an_interrupt_and_the_runs_clock_end_programs(ends: str) -> None:
    async def main() -> None:
        machine = Machine(takes=1000)
        async with scripted_session(echo, sandbox=machine) as session:
            loop = asyncio.get_running_loop()
            if ends == "interrupt":
                loop.call_later(5, session.interrupt)
            budget = Budget(seconds=5) if ends == "clock" else None
            report = await evaluate(session, [running("hangs")], TASK, models=["m"], budget=budget)
            assert report.ended_by == ("interrupt" if ends == "interrupt" else "budget")
            assert (machine.running, machine.ended, loop.time()) == (0, 1, 5.0)

    run_virtual(main())


def test_one_that_gives_up_does_not_end_what_another_still_waits_for() -> None:
    async def main() -> None:
        machine = Machine(takes=10)
        async with scripted_session(echo, sandbox=machine) as session:
            recording = await session.record("test")
            impatient, patient = (
                asyncio.create_task(Run(new_scope(recording)).sandbox.execute(PROGRAM)) for _ in range(2)
            )
            await asyncio.sleep(5)
            impatient.cancel()
            assert (await patient).stdout == "1"
            assert asyncio.get_running_loop().time() == 10

    run_virtual(main())
