"""What a measurement says: rows with score, interval, failures and both costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from treadle.errors import FAILURE_CLASSES
from treadle.evaluation.claim import Claim
from treadle.evaluation.judging import Agreement, judge_document
from treadle.evaluation.leak_lists import joined, leaks_of
from treadle.evaluation.outcome import Outcome
from treadle.evaluation.pass_at import pass_at_document
from treadle.evaluation.row_samples import mean, quantile, sample_documents
from treadle.evaluation.spending import spending_document
from treadle.evaluation.statistics.intervals import score_interval
from treadle.evaluation.statistics.noise import noise_floor
from treadle.ledger.tally import Tally

INFRA_SHARE = 0.05
"""Above this share of infrastructure failures a result is not usable."""


@dataclass(slots=True)
class Row:
    """One workflow's measurement.

    Attributes:
        workflow: Canonical name.
        models: The models that were given.
        ids: Ids of the samples asked for, in order.
        clusters: What each sample is clustered by.
        repeats: How often each was asked for.
        outcomes: What came of them, in the order of ``ids`` and repeats.
        tally: What this run paid for the row.
        seconds: Wall clock of the row.
        began: The loop's time when its first question was taken up.
        origins: Of joined tasks, the name of the one that each sample comes from.
        agreement: How far the judge agrees with the task's human labels, where there are any.
    """

    workflow: str
    models: tuple[str, ...]
    ids: Sequence[str]
    clusters: Sequence[str]
    repeats: int
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    tally: Tally = field(default_factory=Tally)
    seconds: float = 0.0
    began: float = 0.0
    origins: Mapping[str, str] = field(default_factory=dict[str, str])
    agreement: Agreement | None = None
    _scored: tuple[int, dict[str, float]] | None = None

    def question_scores(self) -> dict[str, float]:
        """Score of each scored question, averaged over its repeats."""
        if self._scored is None or self._scored[0] != len(self.outcomes):
            means = {id: mean(values) for id, values in self._scores_by_question().items()}
            self._scored = (len(self.outcomes), means)
        return self._scored[1]

    def repeat_scores(self) -> dict[str, list[float]]:
        """Scores of each question in all of its repeats, for questions scored in every one of them."""
        found = self._scores_by_question()
        return {id: values for id, values in found.items() if len(values) == self.repeats}

    def _scores_by_question(self) -> dict[str, list[float]]:
        scores: dict[str, list[float]] = {}
        for outcome in self.outcomes:
            if outcome.score is not None:
                scores.setdefault(outcome.id, []).append(outcome.score)
        return scores

    @property
    def score(self) -> float | None:
        """Mean over scored questions, or ``None`` when nothing was scored."""
        scores = self.question_scores()
        return fmean(scores.values()) if scores else None

    @property
    def score_all(self) -> float | None:
        """Mean over everything that finished, infrastructure failures as 0."""
        finished = [outcome.score or 0.0 for outcome in self.outcomes if outcome.finished]
        return fmean(finished) if finished else None

    @property
    def ci95(self) -> tuple[float, float] | None:
        """95 % interval of the score, clustered by group."""
        scores = self.question_scores()
        clusters = dict(zip(self.ids, self.clusters, strict=True))
        return score_interval(list(scores.values()), [clusters[id] for id in scores])

    @property
    def complete(self) -> bool:
        """Whether every question came to an end in every repeat."""
        return sum(outcome.finished for outcome in self.outcomes) == len(self.ids) * self.repeats

    @property
    def infra_share(self) -> float:
        """Share of infrastructure failures among what finished."""
        finished = [outcome for outcome in self.outcomes if outcome.finished]
        return sum(o.status == "infra" for o in finished) / len(finished) if finished else 0.0

    @property
    def first_failure(self) -> str:
        """What the first infrastructure failure said."""
        return next((outcome.reason for outcome in self.outcomes if outcome.status == "infra"), "")

    @property
    def per_sample(self) -> dict[str, float | None]:
        """What one question costs when run fresh, on average over those that no provider failed."""
        finished = [outcome for outcome in self.outcomes if outcome.finished and outcome.status != "infra"]
        if not finished:
            return {"calls": None, "usd": None, "seconds": None, "tokens": None}
        prices = [outcome.usd for outcome in finished if outcome.usd is not None]
        return {
            "calls": fmean(o.calls for o in finished),
            "usd": fmean(prices) if len(prices) == len(finished) else None,
            "seconds": fmean(o.seconds for o in finished),
            "tokens": fmean(o.tokens for o in finished),
        }

    @property
    def tasks(self) -> list[dict[str, Any]]:
        """Of joined tasks, the row of each of them as JSON values; their mean is the row's score."""
        scores = self.question_scores()
        clusters = dict(zip(self.ids, self.clusters, strict=True))
        rows: list[dict[str, Any]] = []
        for name in dict.fromkeys(self.origins.get(id, "") for id in self.ids) if self.origins else ():
            own = [id for id in self.ids if self.origins.get(id) == name]
            values = {id: scores[id] for id in own if id in scores}
            ci95 = score_interval(list(values.values()), [clusters[id] for id in values])
            mean = fmean(values.values()) if values else None
            rows.append({"task": name, "n": len(own), "score": mean, "ci95": None if ci95 is None else list(ci95)})
        return rows

    @property
    def judge(self) -> dict[str, Any] | None:
        """The figures of the pairwise judge as JSON values, or ``None`` where nothing was compared."""
        duels = [(outcome.cluster, duel) for outcome in self.outcomes for duel in outcome.duels]
        return judge_document(duels, self.agreement) if duels or self.agreement else None

    @property
    def leaks(self) -> list[dict[str, Any]] | None:
        """Hidden tests that stood in prompts as JSON values; ``None`` where no question has hidden tests."""
        return leaks_of(self.workflow, self.outcomes)

    def document(self) -> dict[str, Any]:
        """The row as JSON values; ``judge`` only where a judge compared pairs, ``tasks`` only of several."""
        usage = self.tally.usage
        ci95 = self.ci95
        judge = self.judge
        samples = sample_documents(self.ids, self.outcomes, self.question_scores())
        statuses = [sample["status"] for sample in samples]
        return (
            {
                "workflow": self.workflow,
                "models": list(self.models),
                "n": len(self.ids),
                "scored": len(self.question_scores()),
                "failed": {kind: statuses.count(kind) for kind in FAILURE_CLASSES},
                "score": self.score,
                "score_all": self.score_all,
                "ci95": None if ci95 is None else list(ci95),
                "repeats": self._scores_by_repeat(),
                "calls": {
                    "logical": self.tally.logical,
                    "paid": self.tally.paid,
                    "cached": self.tally.cached,
                    "retried": self.tally.retried,
                },
                "tokens": {
                    "input": usage.input,
                    "cached_input": usage.cached_input,
                    "cache_write": usage.cache_write,
                    "output": usage.output,
                    "reasoning": usage.reasoning,
                },
                "usd": self.tally.total_usd,
                "estimated_calls": self.tally.estimated,
                "per_sample": self.per_sample,
                "seconds": self._seconds(),
                "samples": samples,
            }
            | ({} if judge is None else {"judge": judge})
            | ({"tasks": self.tasks} if self.origins else {})
        )

    def _scores_by_repeat(self) -> list[float | None]:
        scores: list[list[float]] = [[] for _ in range(self.repeats)]
        for outcome in self.outcomes:
            if outcome.score is not None:
                scores[outcome.repeat].append(outcome.score)
        return [fmean(values) if values else None for values in scores]

    def _seconds(self) -> dict[str, float | None]:
        ordered = sorted(outcome.seconds for outcome in self.outcomes if outcome.finished)
        return {"p50": quantile(ordered, 0.5), "p95": quantile(ordered, 0.95), "total": self.seconds}


@dataclass(frozen=True, slots=True)
class Report:
    """The document of `treadle.evaluate`.

    Attributes:
        run: Id of the run in the store.
        task: The task's name.
        ended_by: ``done``, ``infra``, ``budget`` or ``interrupt``.
        rows: One for every workflow asked for, also when ended early.
        message: Why it ended early, in words.
        pass_at: The numbers k of which pass@k was asked for.
        claims: What several modes of one workflow show against its strong model alone; ``None`` without that row.
        predictions: Files with the answers of each workflow in the benchmark's own form, where its scorer writes them.
    """

    run: str
    task: str
    ended_by: str
    rows: tuple[Row, ...]
    message: str = ""
    pass_at: tuple[int, ...] = ()
    claims: tuple[Claim, ...] | None = None
    predictions: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def noise(self) -> dict[str, Any] | None:
        """The noise floor: how far two fresh runs of one workflow differ, from the complete row that differs most."""
        repeats = max((row.repeats for row in self.rows), default=1)
        if repeats < 2:
            return None
        floors = [noise_floor(list(row.repeat_scores().values())) for row in self.rows if row.complete]
        known = [floor for floor in floors if floor is not None]
        return {"points": max(known), "repeats": repeats} if known else None

    @property
    def leaks(self) -> list[dict[str, Any]] | None:
        """Hidden tests that stood in prompts as JSON values; ``None`` where no question has hidden tests."""
        return joined(row.leaks for row in self.rows)

    @property
    def usable(self) -> bool:
        """Whether every row has a score, and no hidden test stood in a prompt."""
        return not self.leaks and all(row.score is not None for row in self.rows)

    def document(self) -> dict[str, Any]:
        """The report as JSON values, as the contract says; the last ones only where there are any."""
        leaks, claims = self.leaks, self.claims
        more = {
            "leaks": leaks,
            "claims": None if claims is None else [claim.document() for claim in claims],
            "predictions": dict(self.predictions) or None,
        }
        return {
            "run": self.run,
            "task": self.task,
            "ended_by": self.ended_by,
            "results": self.results,
            "noise": self.noise,
            "message": self.message,
        } | {name: value for name, value in more.items() if value is not None}

    @property
    def results(self) -> list[dict[str, Any]]:
        """The rows as JSON values; ``pass_at_k`` only where it was asked for, ``roles`` and ``labels`` only of some."""
        return [
            row.document() | pass_at_document(row.outcomes, self.pass_at) | spending_document(row.outcomes)
            for row in self.rows
        ]
