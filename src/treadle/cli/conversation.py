"""What was said in the calls of a trace, from the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treadle.ledger.session import Session


async def add_texts(session: Session, traces: Iterable[Sequence[dict[str, Any]]]) -> None:
    """Add ``messages`` and ``reply`` to every call of these traces whose record the store has.

    Args:
        session: Whose store to read.
        traces: Traces as documents; changed in place.
    """
    from treadle.store.text import decode

    calls = [call for trace in traces for call in _calls(trace)]
    keys = list({call["key"] for call in calls})
    records = await session.journal.read(lambda store: store.calls(keys))
    for call in calls:
        record = records.get(call["key"])
        if record is not None:
            call["messages"] = decode(record.request)["messages"]
            call["reply"] = decode(record.completion)["text"]


def _calls(entries: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        if "call" in entry:
            yield entry
        yield from _calls(entry.get("children") or ())
