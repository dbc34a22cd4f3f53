"""What an ablation would cost, and whether it could show anything, before a cent is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treadle.evaluation.ablation import measured_by
from treadle.evaluation.estimate import Estimate, Range, one_workflow
from treadle.evaluation.statistics.mcnemar import mcnemar_bounds
from treadle.evaluation.statistics.paired import ALPHA
from treadle.ledger.recording import Recording
from treadle.tasks.task import Task
from treadle.workflows.archon.structure import distinct_calls
from treadle.workflows.weakening import Divided, structure_of


@dataclass(frozen=True, slots=True)
class AblationEstimate:
    """What an ablation would cost.

    Attributes:
        structures: Workflows measured; at most, the lean one is tried as often as there are parts.
        samples: Questions.
        cost: At least, all calls but those of the dearest workflow are shared; at most, none is.
        shared_calls: Calls that are paid where replies can be used and differ, without the lean workflow; ``None``
            where it is not known which calls are shared.
        least_margin: Above how many points the margin must be for a part to be called dead, even if nothing changed
            without it.
    """

    structures: Range
    samples: Range
    cost: Estimate
    shared_calls: int | None
    least_margin: float

    def document(self) -> dict[str, Any]:
        """The estimate as JSON values."""
        return {
            "structures": self.structures.document(),
            "samples": self.samples.document(),
            **self.cost.document(),
            "shared_calls": self.shared_calls,
            "least_margin": self.least_margin,
        }


def estimate_ablation(divided: Divided, task: Task, recording: Recording, repeats: int = 1) -> AblationEstimate:
    """What ablating a workflow on a task would cost.

    Args:
        divided: The workflow and its parts.
        task: On what.
        recording: The run that would be made; knows who would be asked.
        repeats: How often each question is answered.
    """
    samples, judged, endpoint = task.samples, task.scorer.judged, recording.endpoint()
    alone = [one_workflow(workflow, samples, endpoint, judged=judged) for workflow in measured_by(divided)]
    total = Estimate.nothing(priced=endpoint.price is not None)
    for each in alone:
        total += each
    further = len(divided.parts) - 1
    total += alone[0].times(0, further)
    cost = Estimate(
        _shared(total.calls, [each.calls for each in alone]),
        _shared(total.tokens, [each.tokens for each in alone]),
        None if total.usd is None else _shared(total.usd, [each.usd for each in alone if each.usd is not None]),
        total.seconds,
    ).times(repeats, repeats)
    count = len(alone)
    clusters = len({sample.group or sample.id for sample in samples})
    return AblationEstimate(
        Range(count, count + further),
        Range(len(samples), len(samples)),
        cost,
        _shared_calls(divided, recording, len(samples) * repeats),
        100.0 * mcnemar_bounds(0, 0, clusters, ALPHA / len(divided.parts))[1],
    )


def _shared(total: Range, alone: Sequence[Range]) -> Range:
    """A range whose low end pays everything but the dearest part from the cache."""
    return Range(max(each.low for each in alone), total.high)


def _shared_calls(divided: Divided, recording: Recording, answers: int) -> int | None:
    structures = [structure_of(workflow) for workflow in measured_by(divided)]
    known = [each.cast(recording.models, recording.named) for each in structures if each is not None]
    return answers * distinct_calls(known) if len(known) == len(structures) else None
