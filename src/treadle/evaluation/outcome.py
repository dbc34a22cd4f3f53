"""One question answered once: run, graded, written down."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treadle.errors import Caution, CrashError, SampleTimeoutError, UserError
from treadle.evaluation.classifying import REASON_LIMIT, Status, classify
from treadle.evaluation.leaks import find_leaks
from treadle.ledger.budget import Account, Budget
from treadle.ledger.journal import Record
from treadle.ledger.keys import draw_base
from treadle.ledger.recording import Recording
from treadle.ledger.run import Run
from treadle.ledger.scope import Scope
from treadle.ledger.spent import Spent, spent_by_player
from treadle.ledger.tally import Tally
from treadle.models.base import Completion
from treadle.store.base import SampleRecord, ScoreRecord
from treadle.store.text import encode
from treadle.tasks.base import Duel, Sample, Score
from treadle.tasks.dialogue import Dialogue
from treadle.tasks.task import Task
from treadle.workflows.base import Workflow

LEAK = "a hidden test stood in a prompt, so the answer says nothing: {test}"
_CAUTION = (
    "hidden tests reached the prompts of {workflow}: such answers count as failures, and the result is not usable"
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question in one repeat.

    ``score`` is ``None`` for infra failures and unfinished questions; ``calls``, ``tokens``, ``usd`` (``None`` when a
    model has no price) and ``seconds`` are what the question costs fresh, without the scorer. ``duels`` are the
    comparisons of a pairwise judge, the answer as a. ``leaks`` are hidden tests that stood in a prompt; ``None`` where
    the question has none. ``label`` is what kind of answer the scorer calls it. ``players`` is what the calls cost by
    role and model.
    """

    id: str
    cluster: str
    repeat: int
    status: Status
    score: float | None
    answer: str
    reason: str
    calls: int
    tokens: int
    usd: float | None
    seconds: float
    duels: tuple[Duel, ...] = ()
    leaks: tuple[str, ...] | None = None
    label: str = ""
    players: Mapping[tuple[str, str], Spent] = field(default_factory=dict[tuple[str, str], Spent])

    @property
    def finished(self) -> bool:
        """Whether the question came to an end of its own."""
        return self.status != "unfinished"


@dataclass(frozen=True, slots=True)
class Question:
    """One question to be answered once by one workflow."""

    workflow: Workflow
    task: Task
    sample: Sample
    repeat: int
    phase: int
    caps: Budget


async def answer_question(recording: Recording, question: Question, tallies: tuple[Tally, ...]) -> Outcome:
    """Run a workflow on one sample, grade its answer and commit both.

    Args:
        recording: The command's run.
        question: What to answer, and its own caps.
        tallies: Counts to add every call to, besides the run's.

    Raises:
        UserError: When the failure is the user's to mend; nothing else ends the run from here.
    """
    scope = await _scope(recording, question, (recording.tally, *tallies))
    status, reason, answer = await _answered(question, scope)
    seconds = scope.root.finish()
    leaks = await find_leaks(recording.journal, question.sample, scope.span)
    if leaks:
        warnings.warn(_CAUTION.format(workflow=question.workflow.name), Caution, stacklevel=2)
        status, reason = ("crash", LEAK.format(test=leaks[0])) if status != "unfinished" else (status, reason)
    score: Score | None = None
    scored = scope
    if status == "ok":
        scored = _grading(scope)
        status, reason, score = await _grade(question.task, question.sample, answer, scored)
    sample = question.sample
    outcome = Outcome(
        sample.id,
        sample.group or sample.id,
        question.repeat,
        status,
        _value(status, score),
        recording.journal.cleaned(score.answer if score else answer),
        recording.journal.cleaned(reason),
        scope.cost.calls,
        scope.cost.tokens,
        scope.cost.total_usd,
        seconds,
        score.duels if score else (),
        leaks,
        recording.journal.cleaned(score.label) if score else "",
        spent_by_player(scope.span),
    )
    await _keep(recording, question, outcome, scope, scored)
    return outcome


def _grading(scope: Scope) -> Scope:
    """Where a scorer works: its calls are none of the structure's."""
    identity = f"{scope.identity}|scorer"
    return Scope(scope.recording, identity, scope.draw_base, scope.seed, None, scope.tallies, grading=True)


async def _scope(recording: Recording, question: Question, tallies: tuple[Tally, ...]) -> Scope:
    base = draw_base(question.repeat, recording.fresh, question.phase)
    caps = question.caps
    subject = f"{question.workflow.name}|{question.task.hash}"
    identity = f"{question.sample.id}|{base}"
    return Scope(
        recording,
        identity,
        base,
        f"{recording.seed}/{question.sample.id}/{base}",
        None if caps.calls is None and caps.usd is None and caps.tokens is None else Account(caps),
        tallies,
        subject=subject,
        known_draws=await recording.raced_draws(subject, identity),
    )


async def _answered(question: Question, scope: Scope) -> tuple[Status, str, str]:
    """What came of the workflow: the status, why it is not ``ok``, and the answer."""
    try:
        return "ok", "", await _answer(question, scope)
    except UserError:
        raise
    except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001  a workflow may raise anything
        _unless_ended_from_outside(error)
        return *classify(scope.ended or error), ""


async def _answer(question: Question, scope: Scope) -> str:
    limit = question.caps.seconds
    clock: asyncio.Timeout | None = None
    try:
        async with asyncio.timeout(limit) as clock:
            scope.clock.watch(clock)
            answer = await _converse(question, scope)
    except TimeoutError as error:
        if clock is not None and clock.expired():
            raise SampleTimeoutError(f"not answered within {limit or 0:g} s") from error
        raise
    finally:
        scope.clock.watch(None)
    if scope.ended is not None:
        # Whatever the workflow made of it: the run was over, so this is no answer.
        raise scope.ended
    return answer


async def _converse(question: Question, scope: Scope) -> str:
    """The answer, or those to all turns of the question, each asked with the answers before it in the chat."""
    run = Run(scope)
    problem = question.task.problem(question.sample)
    answers = [_text(question, await question.workflow(problem, run))]
    while scope.ended is None:
        following = question.task.next_problem(question.sample, answers)
        if following is None:
            break
        turn = run.child(f"turn {len(answers) + 1}")
        answers.append(_text(question, await question.workflow(following, turn)))
    return answers[0] if len(answers) == 1 else Dialogue(answers)


def _text(question: Question, answer: Any) -> str:
    if isinstance(answer, Completion):
        return answer.text
    if not isinstance(answer, str):
        raise CrashError(f"{question.workflow.name} returned {type(answer).__name__}, not a str")
    return answer


def _unless_ended_from_outside(error: BaseException) -> None:
    """Go on cancelling what is cancelled from outside; a workflow that cancels itself is a crash of its own."""
    task = asyncio.current_task()
    if isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling()):
        raise error


async def _grade(task: Task, sample: Sample, answer: str, scope: Scope) -> tuple[Status, str, Score | None]:
    try:
        score = await task.scorer.score(sample, answer, Run(scope))
        if scope.ended is not None:
            # Whatever the scorer made of it: the run was over, so this is no grade.
            raise scope.ended
    except UserError:
        raise
    except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001  a user's scorer may raise anything
        _unless_ended_from_outside(error)
        status, reason = classify(scope.ended or error)
        return status, f"scorer: {reason}", None
    return score.failure or "ok", score.reason, score


def _value(status: Status, score: Score | None) -> float | None:
    if status in ("infra", "unfinished"):
        return None
    return score.value if score is not None and status == "ok" else 0.0


async def _keep(recording: Recording, question: Question, outcome: Outcome, scope: Scope, scored: Scope) -> None:
    documents = scope.span.documents()
    if scored is not scope and scored.span.entries:
        documents.append({"operator": "scorer", "children": scored.span.documents()})
    if outcome.reason:
        kind = "graded" if outcome.status == "ok" else outcome.status
        documents.append({"note": kind, "reason": outcome.reason})
    workflow = question.workflow.name
    place = (recording.id, workflow, outcome.id, outcome.repeat)
    sample = SampleRecord(
        *place,
        outcome.status,
        outcome.answer,
        outcome.calls,
        outcome.usd,
        outcome.tokens,
        outcome.seconds,
        encode(documents),
    )
    records: list[Record] = [sample, *scope.records()]
    if outcome.score is not None:
        records.append(
            ScoreRecord(*place, question.task.scorer.name, outcome.score, outcome.answer, outcome.reason[:REASON_LIMIT])
        )
    await recording.journal.write(*records)
