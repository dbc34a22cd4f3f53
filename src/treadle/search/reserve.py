"""Money kept for the honest end of a search while it searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from treadle.evaluation.estimate import one_workflow
from treadle.evaluation.report import Row
from treadle.ledger.budget import Amount
from treadle.ledger.recording import Recording
from treadle.search.closing_cost import closing_calls
from treadle.search.finale import standard_baselines
from treadle.search.ranking import Ranked
from treadle.search.settings import MOST_STRUCTURES, PAPER_STRUCTURES, SearchSettings
from treadle.search.space import Grid, Space, Structure
from treadle.tasks.task import Task
from treadle.workflows.base import Workflow

SAFETY = 1.2
"""How much more than expected is kept for selection and test."""
SEARCHING = 0.5
"""The share of a budget beyond which not everything that may become a finalist is provided for."""


@dataclass(slots=True)
class Reserve:
    """What selection and test will cost, as far as is known by now.

    Attributes:
        recording: The command's run.
        task: The task, with its split.
        settings: How the search is run.
        rows: Everything measured so far: what a call costs is read from it.
    """

    recording: Recording
    task: Task
    settings: SearchSettings
    rows: list[Row] = field(default_factory=list[Row])

    def covers_beginning(self, space: Space) -> bool:
        """Whether the budget covers the least that a search can do: its ranking, its cheapest structure, the end."""
        least = cheapest(space, 1)[0].workflow
        searching = (least.calls.likely + self._ranking(space)) * len(self.task.split.search)
        return self._covers(self._closing([least], searching * self.settings.search_repeat))

    def keep(self, workflows: Sequence[Workflow]) -> None:
        """Set aside what the end can cost when these are what it may choose from.

        That is all of it for as few as one of them, the cheapest, and beyond that no more than half of the budget: with
        less than that to search on, fewer finalists are the better use.
        """
        budget = self.recording.account.budget
        if budget.calls is None and budget.usd is None and budget.tokens is None:
            return
        lightest = min(workflows, key=lambda workflow: workflow.calls.likely)
        least, most = self._left(self._closing([lightest])), self._left(self._closing(workflows))
        half = Amount(
            int(SEARCHING * (budget.calls or 0)), int(SEARCHING * (budget.tokens or 0)), SEARCHING * (budget.usd or 0)
        )
        self.recording.account.set_aside(
            Amount(
                min(most.calls, max(least.calls, half.calls)),
                min(most.tokens, max(least.tokens, half.tokens)),
                min(most.usd, max(least.usd, half.usd)),
            )
        )

    def affordable(self, finalists: Sequence[Workflow]) -> list[Workflow]:
        """As many of the finalists as what is left covers, the first ones first.

        Returns:
            Where not even the first one is covered, the first that is; nothing where none is.
        """
        for count in range(len(finalists), 0, -1):
            if self._covers(self._closing(finalists[:count])):
                return list(finalists[:count])
        return [one for one in finalists if self._covers(self._closing([one]))][:1]

    def covers(self, calls: float) -> bool:
        """Whether what is left covers so many calls more."""
        return self._covers(self.amount(int(calls)))

    def too_small(self, space: Space, most: int) -> str:
        """Why a budget cannot be begun with, and what would do."""
        workflows = [each.workflow for each in dearest(space, most)]
        _, closing = closing_calls(self.task, self.settings, workflows)
        each = sum(workflow.calls.likely for workflow in workflows) + self._ranking(space)
        calls = len(self.task.split.search) * self.settings.search_repeat * each
        tokens, usd = self._per_call()
        needs = {
            "usd": f"--budget-usd {SAFETY * (calls + closing) * usd:.3g}",
            "calls": f"--budget-calls {calls + closing}",
            "tokens": f"--budget-tokens {SAFETY * (calls + closing) * tokens:.0f}",
        }
        budget = self.recording.account.budget
        asked = [text for unit, text in needs.items() if getattr(budget, unit) is not None]
        return (
            "the budget does not cover the least that a search does, its cheapest structure and the end: nothing was "
            f"begun; {' '.join(asked)} would do for the whole search, whatever it meets"
        )

    def _closing(self, workflows: Sequence[Workflow], beside: int = 0) -> Amount:
        _, calls = closing_calls(self.task, self.settings, workflows)
        return self.amount(calls + beside)

    def _ranking(self, space: Space) -> int:
        return len(space.ranking) if isinstance(space, Ranked) and len(space.ranking) > 1 else 0

    def amount(self, calls: int) -> Amount:
        """What so many calls may cost, by what calls cost so far."""
        tokens, usd = self._per_call()
        return Amount(calls, int(SAFETY * calls * tokens), SAFETY * calls * usd)

    def _covers(self, amount: Amount) -> bool:
        return self.recording.account.covers(self._left(amount))

    def _left(self, amount: Amount) -> Amount:
        """What of an amount is not paid yet.

        What an earlier part of a resumed run paid for and this one has not come across is still ahead, so a resumed
        search decides as it did before.
        """
        paid = self.amount(len(self.recording.unclaimed))
        return Amount(
            max(0, amount.calls - paid.calls), max(0, amount.tokens - paid.tokens), max(0.0, amount.usd - paid.usd)
        )

    def _per_call(self) -> tuple[float, float]:
        """Tokens and dollars of a call, the scorer's calls among them."""
        tally = self.recording.tally
        if tally.paid:
            return tally.usage.total / tally.paid, tally.usd / tally.paid
        outcomes = [outcome for row in self.rows for outcome in row.outcomes if outcome.finished]
        calls = sum(outcome.calls for outcome in outcomes)
        if calls:
            return sum(o.tokens for o in outcomes) / calls, sum(o.usd or 0.0 for o in outcomes) / calls
        single = standard_baselines(self.task)[0]
        first = one_workflow(single, self.task.split.search, self.recording.endpoint())
        count = max(1.0, first.calls.low)
        return first.tokens.low / count, (first.usd.low / count if first.usd else 0.0)


def most_evaluated(space: Space, settings: SearchSettings) -> int:
    """Structures that a search evaluates at most."""
    usual = PAPER_STRUCTURES if settings.schedule == "paper" else MOST_STRUCTURES
    return min(settings.max_evals or usual, space.valid or usual)


def cheapest(space: Space, most: int) -> Sequence[Structure]:
    """The structures of a space that take fewest calls, at most so many; of a list the first ones."""
    structures = space.structures()
    if not isinstance(space, Grid) or len(structures) <= most:
        return structures[:most]
    return [structures[int(place)] for place in space.costs().argsort(kind="stable")[:most]]


def dearest(space: Space, most: int) -> Sequence[Structure]:
    """The structures of a space that take most calls, at most so many; of a list the first ones."""
    structures = space.structures()
    if not isinstance(space, Grid) or len(structures) <= most:
        return structures[:most]
    return [structures[int(place)] for place in space.costs().argsort(kind="stable")[-most:]]
