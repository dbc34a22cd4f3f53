"""What a search would cost, and what it could show, before a cent is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from treadle.errors import UserError
from treadle.evaluation.estimate import Estimate, Range, estimate, one_workflow
from treadle.evaluation.measuring import Asked, Measuring
from treadle.evaluation.preparing import TaskLike
from treadle.evaluation.statistics.power import detectable_difference
from treadle.ledger.session import Session
from treadle.search.closing_cost import closing_calls
from treadle.search.finale import standard_baselines
from treadle.search.ranking import Ranked
from treadle.search.reserve import cheapest, dearest, most_evaluated
from treadle.search.search import NEEDS_PRICES, open_search, usual_method
from treadle.search.settings import SearchSettings
from treadle.search.space import Space
from treadle.search.study import blocks_of
from treadle.workflows.base import Workflow


@dataclass(frozen=True, slots=True)
class SearchEstimate:
    """What a search would cost at least (everything drops after its first block) and at most.

    ``detectable`` is the difference in points that its test part can show with 80 % power; ``dearest`` are the
    structures that cost most.
    """

    structures: Range
    samples: Range
    calls_per_structure: Range
    cost: Estimate
    detectable: float | None
    dearest: Sequence[Workflow] = ()

    def document(self) -> dict[str, Any]:
        """The estimate as JSON values, as the contract says."""
        return {
            "structures": self.structures.document(),
            "samples": self.samples.document(),
            "calls_per_structure": self.calls_per_structure.document(),
            **self.cost.document(),
            "detectable": self.detectable,
        }


async def estimate_search(
    session: Session,
    space: str,
    *,
    task: TaskLike,
    method: str | None = None,
    settings: SearchSettings | None = None,
    **measuring: Unpack[Measuring],
) -> SearchEstimate:
    """What a search would cost, and what difference its test part can show; nothing is spent."""
    asked = Asked(**measuring)
    settings = settings or SearchSettings()
    opened, found, cast = await open_search(session, space, task, method or usual_method(space), settings, asked)
    endpoint = session.endpoint(cast.model(None, session.roles, session.aliases))
    if settings.cost_unit == "usd" and endpoint.price is None:
        raise UserError(NEEDS_PRICES)
    most = most_evaluated(found, settings)
    split, judged = opened.split, opened.scorer.judged
    first_block = [sample for cluster in blocks_of(split.search, settings.block)[0] for sample in cluster]
    few = [structure.workflow for structure in cheapest(found, most)]
    workflows = [structure.workflow for structure in dearest(found, most)]
    searching = estimate(_ranked_by(found), split.search, endpoint, judged=judged)
    searching += _between(
        estimate(few, first_block, endpoint, judged=judged),
        estimate(workflows, split.search, endpoint, judged=judged),
    )
    searching = searching.times(settings.search_repeat, settings.search_repeat)
    least, _ = closing_calls(opened, settings, few)
    _, most_calls = closing_calls(opened, settings, workflows)
    single = one_workflow(standard_baselines(opened)[0], split.test, endpoint, judged=judged)
    longest = max(workflows, key=lambda workflow: workflow.calls.high or workflow.calls.low)
    per_call = one_workflow(longest, split.test, endpoint, judged=judged).times(1, 1 / max(1, longest.calls.low))
    closing = _between(single.times(least / len(split.test), 0), per_call.times(0, most_calls / len(split.test)))
    cost = searching + closing
    calls = Range(searching.calls.low / most, None if searching.calls.high is None else searching.calls.high / most)
    questions = len({sample.group or sample.id for sample in split.test})
    return SearchEstimate(
        Range(most, most),
        Range(len(first_block), len(split.search)),
        calls,
        cost,
        detectable_difference(questions, repeats=settings.test_repeat),
        workflows,
    )


def _ranked_by(space: Space) -> list[Workflow]:
    if not isinstance(space, Ranked) or len(space.ranking) < 2:
        return []
    return [structure.workflow for structure in space.singles()]


def _between(least: Estimate, most: Estimate) -> Estimate:
    usd = None if least.usd is None or most.usd is None else Range(least.usd.low, most.usd.high)
    return Estimate(
        Range(least.calls.low, most.calls.high),
        Range(least.tokens.low, most.tokens.high),
        usd,
        Range(least.seconds.low, most.seconds.high),
    )
