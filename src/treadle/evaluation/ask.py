"""One question, one answer, with its trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treadle.evaluation.evaluate import begin
from treadle.evaluation.found import found_workflows
from treadle.evaluation.outcome import Outcome, Question, answer_question
from treadle.evaluation.preparing import WorkflowLike, prepare_sandbox, prepare_workflows
from treadle.ledger.budget import Budget
from treadle.ledger.cast import Cast
from treadle.ledger.problem import Problem
from treadle.ledger.recording import Recording
from treadle.ledger.session import Session
from treadle.store.text import decode
from treadle.tasks.base import Sample
from treadle.tasks.scorers.unscored import Unscored
from treadle.tasks.task import Task


@dataclass(frozen=True, slots=True)
class Answer:
    """The document of `treadle.run`: the answer, what this run paid, and the trace.

    ``status`` is ``ok``, the class of the failure, or ``unfinished``; ``message`` says why.
    """

    run: str
    answer: str
    status: str
    message: str
    ended_by: str
    calls: Mapping[str, int]
    tokens: Mapping[str, int]
    usd: float | None
    seconds: float
    trace: Sequence[Mapping[str, Any]]

    def document(self) -> dict[str, Any]:
        """The answer as JSON values, as the contract says."""
        return {
            "run": self.run,
            "answer": self.answer,
            "status": self.status,
            "ended_by": self.ended_by,
            "message": self.message,
            "calls": dict(self.calls),
            "tokens": dict(self.tokens),
            "usd": self.usd,
            "seconds": self.seconds,
            "trace": list(self.trace),
        }


@dataclass(frozen=True, eq=False)
class OneProblem(Task):
    """A task of one question, which reaches the workflow with everything that its asker gave it."""

    given: str = ""

    def problem(self, sample: Sample) -> Problem:
        """The question as it was given."""
        return self.given if isinstance(self.given, Problem) else Problem(self.given, id=sample.id)


async def ask(
    session: Session,
    workflow: WorkflowLike,
    question: str,
    *,
    models: Sequence[str] = (),
    roles: Mapping[str, str] | None = None,
    seed: int = 0,
    fresh: int = 0,
    budget: Budget | None = None,
    caps: Budget | None = None,
) -> Answer:
    """Answer one question as a command's run of its own; see `treadle.run` for the arguments."""
    given = await found_workflows(session, [workflow])
    found = prepare_workflows(given.workflows)[0]
    await prepare_sandbox(session, None, [found])
    sample = Sample("question", str(question))
    recording = await session.record(
        "run",
        spec={"workflows": [found.name], "question": str(question), "models": list(models)},
        cast=Cast(tuple(models) or given.models, {**given.roles, **(roles or {})}),
        budget=budget,
        seed=seed,
        fresh=fresh,
    )
    task = OneProblem("question", (sample,), Unscored(), given=question)
    outcomes: list[Outcome] = []

    async def work() -> None:
        asked = Question(found, task, sample, 0, 0, caps or Budget())
        outcomes.append(await answer_question(recording, asked, ()))

    begin(recording, caps or Budget(), None, [found])
    async with recording.closing() as ending:
        ended_by = await recording.until_ended(work())
        outcome = outcomes[0] if outcomes else None
        if ended_by == "done" and outcome is not None and outcome.status == "infra":
            ended_by = "infra"
        answer = await _answer(recording, found.name, outcome, ended_by)
        ending.ended_by = answer.ended_by
        ending.document = answer.document()
    return answer


async def _answer(recording: Recording, workflow: str, outcome: Outcome | None, ended_by: str) -> Answer:
    records = await recording.journal.read(lambda store: store.samples(recording.id, workflow))
    tally = recording.tally
    usage = tally.usage
    return Answer(
        recording.id,
        outcome.answer if outcome else "",
        outcome.status if outcome else "unfinished",
        outcome.reason if outcome else str(recording.limit or ""),
        ended_by,
        {"logical": tally.logical, "paid": tally.paid, "cached": tally.cached, "retried": tally.retried},
        {
            "input": usage.input,
            "cached_input": usage.cached_input,
            "cache_write": usage.cache_write,
            "output": usage.output,
            "reasoning": usage.reasoning,
        },
        tally.total_usd,
        recording.seconds,
        decode(records[0].trace) if records else [],
    )
