"""What is known of a judge that compares pairs: position bias, length bias, and agreement with people.

Position and length bias as in "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena" (arXiv 2306.05685, section 3.3);
agreement as in its section 4, over three classes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from treadle.errors import RunLimitError, SampleFailure, UserError
from treadle.evaluation.statistics.intervals import score_interval
from treadle.ledger.keys import draw_base
from treadle.ledger.recording import EndedBy, Recording
from treadle.ledger.run import Run
from treadle.ledger.scope import Scope
from treadle.ledger.tally import Tally
from treadle.tasks.base import Comparer, Duel, Preferred, Sample
from treadle.tasks.human_labels import HumanLabel
from treadle.tasks.task import Task

LABELLED_COMMANDS = ("eval", "baseline")
"""Commands that show how far the judge agrees with people, and pay for it."""

Pair = tuple[str, int, tuple[str, ...], tuple[str, ...]]
_PLACE: dict[Preferred, int] = {"a": 1, "tie": 0, "b": -1}


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, with the 95 % interval of the share, clustered by question."""

    count: int
    n: int
    ci95: tuple[float, float] | None

    @classmethod
    def of(cls, hits: Sequence[tuple[str, bool]]) -> Share:
        """The share of hits.

        Args:
            hits: What each is clustered by, and whether it is one.
        """
        values = [float(hit) for _, hit in hits]
        return cls(int(sum(values)), len(values), score_interval(values, [cluster for cluster, _ in hits]))

    @property
    def share(self) -> float | None:
        """The fraction; ``None`` of nothing."""
        return self.count / self.n if self.n else None

    def document(self) -> dict[str, Any]:
        """The share as JSON values."""
        ci95 = None if self.ci95 is None else list(self.ci95)
        return {"count": self.count, "n": self.n, "share": self.share, "ci95": ci95}


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a judge agrees with people on pairs that both saw.

    Both say a, b or tie; a judge whose two orders disagree says tie.

    Attributes:
        labels: Labels of the questions measured.
        agreed: Those on which both say the same, among those that the judge came to a verdict on.
        kappa: Cohen's kappa (Cohen 1960), the agreement beyond that of chance; ``None`` where chance alone agrees.
        tally: What asking the judge cost; it is in no row of the table, only in the run's total.
    """

    labels: int
    agreed: Share
    kappa: float | None
    tally: Tally

    def document(self) -> dict[str, Any]:
        """The agreement as JSON values."""
        agreed, tally = self.agreed.document(), self.tally
        return {
            "labels": self.labels,
            "n": agreed["n"],
            "agreed": agreed["count"],
            "share": agreed["share"],
            "ci95": agreed["ci95"],
            "kappa": self.kappa,
            "calls": {
                "logical": tally.logical,
                "paid": tally.paid,
                "cached": tally.cached,
                "retried": tally.retried,
            },
            "usd": tally.total_usd,
        }


def judge_document(duels: Sequence[tuple[str, Duel]], agreement: Agreement | None) -> dict[str, Any]:
    """The figures of a judge as JSON values.

    ``position.disagree``: pairs whose two orders disagree. ``position.first``: those of them in which the place that
    was favoured is the first. ``length``: pairs that the longer answer won, among those of unequal length that one won.

    Args:
        duels: What each is clustered by, and the comparison.
        agreement: Agreement with people, where there are labels.
    """
    leaning = [(cluster, _leaning(duel)) for cluster, duel in duels]
    decided = [(c, d) for c, d in duels if d.winner != "tie" and d.lengths[0] != d.lengths[1]]
    return {
        "pairs": len(duels),
        "position": {
            "disagree": Share.of([(cluster, lean != 0) for cluster, lean in leaning]).document(),
            "first": Share.of([(cluster, lean > 0) for cluster, lean in leaning if lean]).document(),
        },
        "length": Share.of([(c, (d.lengths[0] > d.lengths[1]) == (d.winner == "a")) for c, d in decided]).document(),
        "agreement": None if agreement is None else agreement.document(),
    }


def kappa(pairs: Sequence[tuple[Preferred, Preferred]]) -> float | None:
    """Cohen's kappa of two raters (Cohen 1960, Educational and Psychological Measurement 20).

    Args:
        pairs: What each of the two says of every item.

    Returns:
        1 for full agreement, 0 for that of chance; ``None`` without items, or where both always say the same thing.
    """
    if not pairs:
        return None
    n = len(pairs)
    first, second = (Counter(pair[place] for pair in pairs) for place in (0, 1))
    chance = sum(first[name] * second[name] for name in first) / n**2
    if chance == 1:
        return None
    return (sum(one == other for one, other in pairs) / n - chance) / (1 - chance)


def labelled_pairs(task: Task, samples: Sequence[Sample]) -> list[Pair]:
    """The pairs of answers that a task has labels for, each once.

    Args:
        task: The task.
        samples: Those of its samples that count.
    """
    return list(dict.fromkeys(_pair(label) for label in _labels_of(task, samples)))


@dataclass(slots=True)
class LabelCheck:
    """A task's judge, being held against its human labels within a command's run.

    Each pair of answers is judged once, in both orders, however many people judged it; every label counts.

    Attributes:
        recording: The command's run, which pays.
        task: The task; its scorer compares.
        samples: The samples measured; labels of others are left out.
    """

    recording: Recording
    task: Task
    samples: Sequence[Sample]
    _tally: Tally = field(default_factory=Tally)
    _said: dict[Pair, Preferred] = field(default_factory=dict[Pair, Preferred])

    async def run(self) -> EndedBy:
        """Ask the judge until done, out of budget or interrupted.

        Raises:
            UserError: When something only the user can mend came up.
        """
        return await self.recording.until_ended(self._work())

    @property
    def agreement(self) -> Agreement:
        """The agreement on everything judged so far."""
        clusters = {sample.id: sample.group or sample.id for sample in self.samples}
        labels = _labels_of(self.task, self.samples)
        judged = [label for label in labels if _pair(label) in self._said]
        both: list[tuple[Preferred, Preferred]] = [(label.winner, self._said[_pair(label)]) for label in judged]
        agreed = Share.of(
            [(clusters[label.id], one == other) for label, (one, other) in zip(judged, both, strict=True)]
        )
        return Agreement(len(labels), agreed, kappa(both), self._tally)

    async def _work(self) -> None:
        pairs = iter(labelled_pairs(self.task, self.samples))
        width = max(1, self.recording.endpoint("judge").limits.concurrency)
        samples = {sample.id: sample for sample in self.samples}
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(width):
                    group.create_task(self._worker(pairs, samples))
        except* UserError as errors:
            raise errors.exceptions[0] from None

    async def _worker(self, pairs: Iterator[Pair], samples: dict[str, Sample]) -> None:
        for pair in pairs:
            if self.recording.limit is not None:
                return
            duel = await self._judged(pair, samples[pair[0]])
            if duel is not None:
                self._said[pair] = duel.winner

    async def _judged(self, pair: Pair, sample: Sample) -> Duel | None:
        _, turn, a, b = pair
        recording = self.recording
        base = draw_base(0, recording.fresh)
        identity = f"{sample.id}|{base}|label"
        scope = Scope(recording, identity, base, identity, tallies=(recording.tally, self._tally))
        scorer = self.task.scorer
        if not isinstance(scorer, Comparer):
            raise UserError(
                f"{self.task.name}: the scorer {scorer.name} compares no pairs, so labels say nothing of it"
            )
        try:
            duel, _ = await scorer.compare(sample, turn, a, b, Run(scope))
        except (SampleFailure, RunLimitError):
            return None
        return None if scope.ended is not None else duel


def _leaning(duel: Duel) -> int:
    """Which place the verdicts favour: above 0 the first, below 0 the second, 0 where the orders agree."""
    return _PLACE[duel.first] - _PLACE[duel.second]


def _labels_of(task: Task, samples: Sequence[Sample]) -> list[HumanLabel]:
    known = {sample.id for sample in samples}
    return [label for label in task.labels if label.id in known]


def _pair(label: HumanLabel) -> Pair:
    return label.id, label.turn, label.a, label.b
