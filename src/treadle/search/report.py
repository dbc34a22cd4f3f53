"""What a search answers: the best structure, what it was tested against, and what finding it cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treadle.evaluation.leak_lists import Leaks
from treadle.evaluation.report import Row
from treadle.search.finale import Finale, cost_of
from treadle.search.payback import payback
from treadle.search.ranking import Ranking
from treadle.search.space import Space, Trial
from treadle.search.verdict import NamedComparison
from treadle.workflows.archon.json_form import structure_document
from treadle.workflows.base import Workflow
from treadle.workflows.weakening import structure_of


@dataclass(frozen=True, slots=True)
class SearchReport:
    """The document of `treadle.search`.

    Attributes:
        run: Id of the run in the store.
        task: The task's name.
        ended_by: ``done``, ``infra``, ``budget`` or ``interrupt``.
        message: Why it ended early, in words.
        space: What was searched.
        method: Who proposed.
        seed: The strategy's seed.
        trials: What was evaluated, in the order of suggestion.
        finale: Selection and test.
        test_questions: Size of the test part.
        spent: What this run paid: usd, calls_logical, calls_paid, tokens, seconds.
        ranking: The models given by what each scored alone, where that was measured.
        regret: Of a simulated task, points from the best structure's true score to that of the space's true best.
        leaks: Hidden tests that stood in prompts; ``None`` where no question has hidden tests.
    """

    run: str
    task: str
    ended_by: str
    message: str
    space: Space
    method: str
    seed: int
    trials: Sequence[Trial]
    finale: Finale
    test_questions: int
    spent: dict[str, Any]
    ranking: Ranking | None = None
    regret: float | None = None
    leaks: Leaks | None = None

    @property
    def usable(self) -> bool:
        """Whether something was found, and no hidden test stood in a prompt."""
        return self.finale.winner is not None and not self.leaks

    @property
    def comparisons(self) -> tuple[NamedComparison, ...]:
        """The winner against its baselines, on the test part."""
        return self.finale.comparisons

    def document(self) -> dict[str, Any]:
        """The report as JSON values, as the contract says; ``leaks`` only where questions have hidden tests."""
        finale = self.finale
        leaking = {leak["workflow"] for leak in self.leaks or ()}
        apart = {*finale.baselines, *leaking}
        clean = [trial for trial in self.trials if trial.structure.name not in leaking]
        return {
            "run": self.run,
            "ended_by": self.ended_by,
            "message": self.message,
            "space": {"name": self.space.name, "raw": self.space.raw, "valid": self.space.valid},
            "method": self.method,
            "seed": self.seed,
            "evaluated": len(self.trials),
            "ranking": self.ranking.document() if self.ranking else None,
            "best": self._best(),
            "finalists": [_row(row) for name, row in finale.selected.items() if name not in apart],
            "baselines": [_row(finale.selected[name]) for name in finale.baselines if name in finale.selected],
            "test": {
                "n": self.test_questions,
                "opened": finale.opened,
                "detectable": finale.detectable,
                "comparisons": [_comparison(each, finale.usable) for each in finale.comparisons],
            },
            "pareto": [_trial(trial) for trial in pareto(clean)],
            "spent": self.spent,
            "payback": self._payback(),
            "objective": {
                "kind": self.finale.settings.objective,
                "lambda": self.finale.settings.weight,
                "cost_unit": self.finale.unit,
            },
            "regret": self.regret,
            "history": [_trial(trial) for trial in self.trials],
        } | ({} if self.leaks is None else {"leaks": self.leaks})

    def _payback(self) -> dict[str, Any] | None:
        finale = self.finale
        if finale.winner is None or not finale.usable:
            return None
        costs = {name: cost_of(row.per_sample, finale.unit) for name, row in finale.selected.items()}
        spent = self.spent["calls_paid" if finale.unit == "calls" else finale.unit]
        found = payback(costs[finale.winner.name], finale.comparisons, costs, spent, finale.unit)
        return found.document() if found else None

    def _best(self) -> dict[str, Any] | None:
        winner = self.finale.winner
        if winner is None:
            return None
        seen = next((trial for trial in self.trials if trial.structure.name == winner.name), None)
        tested = self.finale.tested
        fresh = tested or self.finale.selected[winner.name]
        ci95 = tested.ci95 if tested else None
        return {
            "workflow": winner.name,
            "search_score": seen.score if seen else None,
            "score": tested.score if tested else None,
            "ci95": list(ci95) if ci95 else None,
            "per_sample": fresh.per_sample,
            "structure": _structure(winner),
        } | ({"tasks": fresh.tasks} if fresh.origins else {})


def pareto(trials: Sequence[Trial]) -> list[Trial]:
    """Trials that met every search question and that no other beats in both score and cost, cheapest first."""
    most = max((trial.samples for trial in trials), default=0)
    whole = [trial for trial in trials if trial.samples == most and trial.score is not None and not trial.stopped_at]
    front: list[Trial] = []
    for trial in sorted(whole, key=lambda trial: (trial.cost, -(trial.score or 0.0))):
        if not front or (trial.score or 0.0) > (front[-1].score or 0.0):
            front.append(trial)
    return front


def _structure(workflow: Workflow) -> dict[str, Any] | None:
    """The structure of a workflow as JSON values, prompts of one's own included; ``None`` where it has none."""
    structure = structure_of(workflow)
    return None if structure is None else structure_document(structure)


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "number": trial.number,
        "workflow": trial.structure.name,
        "samples": trial.samples,
        "score": trial.score,
        "stopped_at": trial.stopped_at,
        "per_sample": trial.per_sample,
    }


def _row(row: Row) -> dict[str, Any]:
    ci95 = row.ci95
    return {
        "workflow": row.workflow,
        "part": "selection",
        "score": row.score,
        "ci95": list(ci95) if ci95 else None,
        "per_sample": row.per_sample,
    } | ({"tasks": row.tasks} if row.origins else {})


def _comparison(row: NamedComparison, usable: bool) -> dict[str, Any]:
    found = row.comparison
    return {
        "against": row.against,
        "workflow": row.workflow,
        "difference": found.difference,
        "ci95": list(found.ci95),
        "p_value": found.p_value,
        "verdict": found.verdict if usable else None,
    }
