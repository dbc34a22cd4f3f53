"""What a measurement would cost, before a cent is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treadle.ledger.endpoint import Endpoint
from treadle.tasks.base import Sample
from treadle.workflows.base import Workflow

BYTES_PER_TOKEN = 5
PROMPT_OVERHEAD = 1_000
"""Bytes that a workflow's own instructions may add to a question."""
SHOWN_EXAMPLES = 10
"""Solved examples that a workflow may show beside a question."""
SLOW_TOKENS_PER_S = 20.0
JUDGE_CALLS = (1, 4)
"""A judge is asked once at least; in both orders and once more each at most."""


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
    that is cached already is subtracted. ``usd`` is ``None`` when the model has no price; roles count at its price.
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
) -> Estimate:
    """What measuring workflows on samples would cost.

    Args:
        workflows: What would be measured.
        samples: On what.
        endpoint: The model that answers where nothing else is said.
        repeats: How often.
        judged: Whether the scorer asks a model.
    """
    total = Estimate.nothing(priced=endpoint.price is not None)
    for workflow in workflows:
        total += one_workflow(workflow, samples, endpoint, judged=judged)
    return total.times(repeats, repeats)


def one_workflow(
    workflow: Workflow, samples: Sequence[Sample], endpoint: Endpoint, *, judged: bool = False
) -> Estimate:
    """What measuring one workflow once on samples would cost; see `estimate` for the arguments."""
    least, most = JUDGE_CALLS if judged else (0, 0)
    low_calls = workflow.calls.low + least
    high_calls = None if workflow.calls.high is None else workflow.calls.high + most
    written = int(endpoint.settings["max_tokens"])
    sizes = [len(sample.input.encode("utf-8", "replace")) for sample in samples]
    extra = PROMPT_OVERHEAD + SHOWN_EXAMPLES * max(sizes, default=0) + written * ((high_calls or 1) - 1)
    longest = [size + extra for size in sizes]
    calls = Range(low_calls, high_calls).times(len(samples), len(samples))
    read = Range(sum(size // BYTES_PER_TOKEN + 1 for size in sizes), sum(longest)).times(low_calls, high_calls)
    wrote = Range(len(samples), len(samples) * written).times(low_calls, high_calls)
    price = endpoint.price
    usd = None
    if price is not None:
        low = (read.low * min(price.input, price.cached_input or price.input) + wrote.low * price.output) / 1e6
        dearest = sum(price.bound(size, written) for size in longest)
        usd = Range(low, None if high_calls is None else dearest * high_calls)
    slow = min(endpoint.timeout_s, written / SLOW_TOKENS_PER_S)
    width = max(1, endpoint.limits.concurrency)
    seconds = Range(0.0, None if calls.high is None else slow * calls.high / width + slow)
    return Estimate(calls, read + wrote, usd, seconds)
