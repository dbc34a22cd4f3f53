"""The three baselines before anything else, the noise floor, and what to try next."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from math import nan
from typing import Any, Unpack

from treadle.errors import UserError
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.measuring import Asked, Measuring
from treadle.evaluation.preparing import TaskLike, prepare_task
from treadle.evaluation.report import Report, Row
from treadle.evaluation.statistics.holm import compare_rows
from treadle.evaluation.statistics.paired import Comparison
from treadle.evaluation.statistics.power import detectable_difference
from treadle.ledger.session import Session
from treadle.tasks.task import Task

BASELINES = ("single", "cot", "self-consistency?n=5")
ENOUGH = 0.97
"""A score from which no structure can show a gain on a few hundred questions."""

_BY_KIND = {
    "code": "code: draw several programs and keep the one that passes the public tests (best-of-n, alphacodium);"
    " do not merge programs in prose",
    "quantity": "maths and quantities: different approaches, then compare (diverse); do not rewrite again and again"
    " with one prompt; let code compute (program-of-thought)",
    "one answer": "one right answer: verify and filter, then merge; do not stack fusion layers",
    "writing": "writing and instructions: many answers, then critique, rank and fuse (depth helps);"
    " do not use unit-test statements",
}
_KIND_BY_SCORER = {
    "gsm8k": "quantity",
    "numeric": "quantity",
    "math": "quantity",
    "judge": "writing",
    "pairwise": "writing",
    "tests": "code",
}


@dataclass(frozen=True, slots=True)
class BaselineReport:
    """The document of ``treadle baseline``: the table, the noise floor and advice in words."""

    report: Report
    comparisons: dict[str, Comparison]
    advice: tuple[str, ...]

    @property
    def ended_by(self) -> str:
        """How the measurement ended."""
        return self.report.ended_by

    @property
    def message(self) -> str:
        """Why it ended early."""
        return self.report.message

    def document(self) -> dict[str, Any]:
        """The report as JSON values, as the contract says."""
        comparisons = [
            {
                "against": "single",
                "workflow": name,
                "difference": found.difference,
                "ci95": list(found.ci95),
                "p_value": found.p_value,
                "verdict": found.verdict,
            }
            for name, found in self.comparisons.items()
        ]
        return {**self.report.document(), "comparisons": comparisons, "advice": list(self.advice)}


async def baseline(
    session: Session,
    task: TaskLike,
    *,
    repeat: int = 5,
    margin: float = 2.0,
    **measuring: Unpack[Measuring],
) -> BaselineReport:
    """Measure the three baselines and say what to try next; see `treadle.baseline` for the arguments."""
    if repeat < 2:
        raise UserError("baseline needs --repeat 2 or more: with one repeat no noise can be seen")
    begun = asyncio.get_running_loop().time()
    asked = Asked(**measuring)
    opened = await prepare_task(session, task, **asked.preparing)
    report = await evaluate(session, BASELINES, opened, command="baseline", repeat=repeat, begun=begun, **measuring)
    comparisons: dict[str, Comparison] = {}
    if report.ended_by == "done":
        comparisons = _against_single(report.rows, margin)
    return BaselineReport(report, comparisons, tuple(_advice(opened, report, comparisons)))


def _against_single(rows: tuple[Row, ...], margin: float) -> dict[str, Comparison]:
    first, *others = rows
    scores = {row.workflow: row.question_scores() for row in rows}
    table = {row.workflow: [scores[row.workflow].get(id, nan) for id in first.ids] for row in others}
    single = [scores[first.workflow].get(id, nan) for id in first.ids]
    return compare_rows(table, single, list(first.clusters), margin)


def _advice(task: Task, report: Report, comparisons: dict[str, Comparison]) -> list[str]:
    if report.ended_by != "done":
        return ["the measurement did not finish, so it advises nothing yet"]
    advice: list[str] = []
    questions = len(set(report.rows[0].clusters))
    best = max(report.rows, key=lambda row: row.score or 0.0)
    detectable = detectable_difference(questions, base=min(0.95, max(0.05, best.score or 0.05)))
    if questions < 100:
        shown = "no difference at all" if detectable is None else f"only differences of {detectable:.0f} points or more"
        advice.append(f"{questions} questions show {shown}; collect 100 to 200 before trusting a choice")
    better = [name for name, found in comparisons.items() if found.verdict == "better"]
    if (report.rows[0].score or 0.0) >= ENOUGH:
        advice.append("one call is enough here: stop, and spend the effort elsewhere")
        return advice
    if better:
        row = max((row for row in report.rows if row.workflow in better), key=lambda row: row.score or 0.0)
        advice.append(f"start from {row.workflow}: it is better than one call, at {_cost(row, report.rows[0])}")
    else:
        advice.append("neither chain of thought nor voting is shown to beat one call here: start from single")
    noise = report.noise
    if noise is not None:
        advice.append(f"a difference below {noise['points']:.1f} points is noise between two runs of one workflow")
    advice.append(_BY_KIND[_KIND_BY_SCORER.get(task.scorer.name.partition("?")[0], "one answer")])
    return advice


def _cost(row: Row, single: Row) -> str:
    calls, base = row.per_sample["calls"] or 0.0, single.per_sample["calls"] or 0.0
    tokens, least = row.per_sample["tokens"] or 0.0, single.per_sample["tokens"] or 0.0
    times = f"{tokens / least:.1f} times the tokens" if least else f"{tokens:.0f} tokens"
    return f"{calls:g} calls a question instead of {base:g}, {times}"
