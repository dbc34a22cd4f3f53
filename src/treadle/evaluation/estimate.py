"""What a measurement would cost, before a cent is spent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from treadle.evaluation.judging import labelled_pairs
from treadle.ledger.endpoint import Endpoint
from treadle.tasks.base import Sample
from treadle.tasks.reference_answers import ReferenceAnswers
from treadle.tasks.task import Task
from treadle.workflows.base import Workflow

BYTES_PER_TOKEN = 5
PROMPT_OVERHEAD = 1_000
"""Bytes that a workflow's own instructions may add to a question."""
SHOWN_EXAMPLES = 10
"""Solved examples that a workflow may show beside a question."""
SLOW_TOKENS_PER_S = 20.0
JUDGE_CALLS = (1, 4)
"""A judge is asked once a turn at least; in both orders and once more each at most."""
LABEL_CALLS = (2, 4)
"""A pair that people judged is judged in both orders, each asked once or twice."""


@dataclass(frozen=True, slots=True)
class Range:
    """At least and at most; ``high`` is ``None`` where nothing bounds it."""

    low: float
    high: float | None

    def __add__(self, other: Range) -> Range:
        high = None if self.high is None or other.high is None else self.high + other.high
        return Range(self.low + other.low, high)

    def times(self, low: float, high: float | None) -> Range:
        """This range, so many times at least and at most."""
        return Range(self.low * low, None if self.high is None or high is None else self.high * high)

    def document(self) -> dict[str, float | None]:
        """The range as JSON values."""
        return {"low": self.low, "high": self.high}


NOTHING = Range(0, 0)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a measurement would cost at least and at most.

    ``low`` takes five bytes a token, replies of one token and no time at all; ``high`` takes every byte for a token,
    prompts that hold all earlier replies and ten examples, replies of ``max_tokens`` and 20 tokens a second. Nothing
    that is cached already is subtracted. ``usd`` is ``None`` when a model has no price; roles count at the price of
    whoever plays them where a workflow knows how often each is asked, else at that of whoever answers.
    """

    calls: Range
    tokens: Range
    usd: Range | None
    seconds: Range

    @classmethod
    def nothing(cls, *, priced: bool) -> Estimate:
        """No cost at all."""
        return cls(NOTHING, NOTHING, NOTHING if priced else None, NOTHING)

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(
            self.calls + other.calls,
            self.tokens + other.tokens,
            None if self.usd is None or other.usd is None else self.usd + other.usd,
            self.seconds + other.seconds,
        )

    def times(self, low: float, high: float | None) -> Estimate:
        """The cost of doing it so many times at least and at most."""
        return Estimate(
            self.calls.times(low, high),
            self.tokens.times(low, high),
            None if self.usd is None else self.usd.times(low, high),
            self.seconds.times(low, high),
        )

    def document(self) -> dict[str, Any]:
        """The estimate as JSON values."""
        return {
            "calls": self.calls.document(),
            "tokens": self.tokens.document(),
            "usd": None if self.usd is None else self.usd.document(),
            "seconds": self.seconds.document(),
        }


def estimate(
    workflows: Sequence[Workflow],
    samples: Sequence[Sample],
    endpoint: Endpoint,
    repeats: int = 1,
    *,
    judged: bool = False,
    played_by: Callable[[str], Endpoint] | None = None,
) -> Estimate:
    """What measuring workflows on samples would cost.

    Args:
        workflows: What would be measured.
        samples: On what.
        endpoint: The model that answers where nothing else is said.
        repeats: How often.
        judged: Whether the scorer asks a model.
        played_by: The model that plays a role; ``endpoint`` plays all where it is not given.
    """
    total = Estimate.nothing(priced=bool(workflows) or endpoint.price is not None)
    for workflow in workflows:
        total += one_workflow(workflow, samples, endpoint, judged=judged, played_by=played_by)
    return total.times(repeats, repeats)


def one_workflow(
    workflow: Workflow,
    samples: Sequence[Sample],
    endpoint: Endpoint,
    *,
    judged: bool = False,
    played_by: Callable[[str], Endpoint] | None = None,
) -> Estimate:
    """What measuring one workflow once on samples would cost; see `estimate` for the arguments."""
    parts = [(endpoint, workflow.calls)]
    if played_by is not None and workflow.by_role:
        parts = [(played_by(role), calls) for role, calls in workflow.by_role]
    reply = max(int(player.settings["max_tokens"]) for player, _ in parts)
    asks = _asks(workflow, samples, reply, judged)
    least, most = JUDGE_CALLS if judged else (0, 0)
    total = Estimate.nothing(priced=True)
    for place, (player, calls) in enumerate(parts):
        judge = Range(least, most) if place == 0 else NOTHING
        total += _estimate_of(asks, Range(calls.low, calls.high) + judge, player)
    return total


def _asks(workflow: Workflow, samples: Sequence[Sample], reply: int, judged: bool) -> list[_Ask]:
    """The prompts of a workflow, with replies of so many tokens in them."""
    high = workflow.calls.high
    if high is not None and judged:
        high += JUDGE_CALLS[1]
    sizes = [_size(sample, judged) for sample in samples]
    shown = PROMPT_OVERHEAD + SHOWN_EXAMPLES * max(sizes, default=0)
    asks: list[_Ask] = []
    for sample, size in zip(samples, sizes, strict=True):
        turns = 1 + len(sample.further)
        earlier = int(high or 1) if workflow.shown is None else workflow.shown + 1
        asks.append(_Ask(_bytes(sample.input), size + shown + reply * (earlier * turns - 1), turns))
    return asks


def labels_estimate(task: Task, endpoint: Endpoint) -> Estimate:
    """What holding a task's judge against its human labels would cost: every pair in both orders, each asked twice."""
    samples = {sample.id: sample for sample in task.samples}
    written = int(endpoint.settings["max_tokens"])
    asks: list[_Ask] = []
    for id, _, a, b in labelled_pairs(task, task.samples):
        least = sum(map(_bytes, (*a, *b)))
        asks.append(_Ask(least, least + _size(samples[id], judged=True) + PROMPT_OVERHEAD + written, 1))
    return _estimate_of(asks, Range(*LABEL_CALLS), endpoint)


@dataclass(frozen=True, slots=True)
class _Ask:
    """Prompts of one kind: bytes of each at least and at most, and how many."""

    least: int
    most: int
    count: int


def _estimate_of(asks: Sequence[_Ask], per_ask: Range, endpoint: Endpoint) -> Estimate:
    written = int(endpoint.settings["max_tokens"])
    count = sum(ask.count for ask in asks)
    calls = per_ask.times(count, count)
    least = sum(ask.count * (ask.least // BYTES_PER_TOKEN + 1) for ask in asks)
    read = Range(least, sum(ask.count * ask.most for ask in asks)).times(per_ask.low, per_ask.high)
    wrote = Range(count, count * written).times(per_ask.low, per_ask.high)
    price = endpoint.price
    usd = None
    if price is not None:
        low = (read.low * min(price.input, price.cached_input or price.input) + wrote.low * price.output) / 1e6
        dearest = sum(ask.count * price.bound(ask.most, written) for ask in asks)
        usd = Range(low, None if per_ask.high is None else dearest * per_ask.high)
    slow = min(endpoint.timeout_s, written / SLOW_TOKENS_PER_S)
    width = max(1, endpoint.limits.concurrency)
    seconds = Range(0.0, None if calls.high is None else slow * calls.high / width + slow * bool(asks))
    return Estimate(calls, read + wrote, usd, seconds)


def _size(sample: Sample, judged: bool) -> int:
    """Bytes of a question: all its turns, and for a judge what it compares with."""
    target = sample.target
    texts = [sample.input, *sample.further]
    if judged and isinstance(target, ReferenceAnswers):
        texts += [*target.answers, *target.solutions]
    elif judged and isinstance(target, str):
        texts.append(target)
    return sum(map(_bytes, texts))


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
