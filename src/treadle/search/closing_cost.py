"""What the honest end of a search can cost, so that it is kept while searching."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.evaluation.estimate import JUDGE_CALLS
from treadle.search.finale import VOTES, standard_baselines
from treadle.search.selection import FINALISTS
from treadle.search.settings import SearchSettings
from treadle.tasks.base import Sample
from treadle.tasks.task import Task
from treadle.workflows.base import Workflow


def closing_calls(task: Task, settings: SearchSettings, workflows: Sequence[Workflow]) -> tuple[int, int]:
    """Calls of selection and test, at least and at most.

    At least: one finalist that turns out to be a baseline, so that the test part stays closed. At most: the dearest
    finalists and all baselines on the selection part, then the winner against two baselines on the test part.

    Args:
        task: The task, with its split.
        settings: How the search is run.
        workflows: What may become a finalist.
    """
    selection, test = (_turns(part) for part in (task.split.selection, task.split.test))
    _, judging = JUDGE_CALLS if task.scorer.judged else (0, 0)
    calls = sorted((workflow.calls.likely + judging for workflow in workflows), reverse=True)
    basics = sum(workflow.calls.low + judging for workflow in standard_baselines(task))
    dearest = calls[0]
    most = selection * (sum(calls[:FINALISTS]) + basics + dearest)
    most += test * settings.test_repeat * (2 * dearest + max(VOTES + judging, dearest))
    return selection * basics, most


def _turns(samples: Sequence[Sample]) -> int:
    return sum(1 + len(sample.further) for sample in samples)
