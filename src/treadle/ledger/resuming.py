"""What the store knows of the earlier parts of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.ledger.budget import Amount
from treadle.ledger.paying import UNKEPT, Recorded
from treadle.ledger.recording import PART, Earlier, Recording
from treadle.models.base import Completion, Usage
from treadle.store.base import CallRecord, EventRecord, Store
from treadle.store.text import decode


def read_earlier(store: Store, run: str) -> Earlier:
    """What earlier parts of a run paid, and how long they took.

    Args:
        store: Where to look.
        run: The run's id.
    """
    kept = store.paid_by(run)
    unkept = [_completion(event) for event in store.events(UNKEPT, run=run)]
    tokens = sum((decode(call.completion, Recorded).usage or Usage()).total for call in kept)
    tokens += sum(each.usage.total for each in unkept if each.usage)
    usd = sum(call.usd or 0.0 for call in kept) + sum(each.usd or 0.0 for each in unkept)
    spent = Amount(len(kept) + len(unkept), tokens, usd)
    seconds = _seconds(store.events(PART, run), kept)
    return Earlier(tuple(call.key for call in kept), tuple(unkept), spent, seconds)


async def count_unclaimed(recording: Recording) -> None:
    """Count what earlier parts of a run paid for and this part did not come across: it was paid all the same.

    Args:
        recording: A resumed run that is over.
    """
    keys = sorted(recording.unclaimed)
    recording.unclaimed.clear()
    calls = await recording.journal.read(lambda store: store.calls(keys)) if keys else {}
    for call in calls.values():
        recording.tally.pay(Completion("", decode(call.completion, Recorded).usage, usd=call.usd))


def _completion(event: EventRecord) -> Completion:
    cost: dict[str, Any] = decode(event.payload)
    return Completion("", Usage(input=int(cost["tokens"])), usd=cost["usd"])


def _seconds(events: Sequence[EventRecord], paid: Sequence[CallRecord]) -> float:
    """Time of all parts; one that was killed lasted until the last call that it finished."""
    begun: dict[int, float] = {}
    lasted: dict[int, float] = {}
    for event in events:
        told: dict[str, Any] = decode(event.payload)
        if told["seconds"] is None:
            begun[told["part"]] = event.at
        else:
            lasted[told["part"]] = told["seconds"]
    for part, start in begun.items():
        if part not in lasted:
            end = begun.get(part + 1, float("inf"))
            lasted[part] = max((call.at - start for call in paid if start <= call.at < end), default=0.0)
    return sum(lasted.values())
