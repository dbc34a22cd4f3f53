"""One command's run: its budget, its models, what it paid, and how it ended."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from treadle.errors import RunLimitError, UserError
from treadle.ledger.budget import Account, Amount, Budget, OverBudgetError
from treadle.ledger.caller import Caller
from treadle.ledger.cast import Cast
from treadle.ledger.endpoint import Endpoint
from treadle.ledger.journal import Journal
from treadle.ledger.scope import DRAW_MAP
from treadle.ledger.tally import Tally
from treadle.models.base import Completion
from treadle.store.base import EventRecord, RunRecord
from treadle.store.text import decode, encode

if TYPE_CHECKING:
    from treadle.ledger.session import Session

PART = "part"
"""Kind of the events that say when a part of a run began, and how long it took once it has ended."""
_GIVEN = ("strong", "weak")
_NO_DRAWS: Mapping[str, int] = {}

EndedBy = Literal["done", "infra", "budget", "interrupt"]


@dataclass(slots=True)
class Ending:
    """How a command's run ended, and the document it answered with; filled in by the command."""

    ended_by: str = "error"
    document: Any = None


@dataclass(frozen=True, slots=True)
class Earlier:
    """What earlier parts of a resumed run did.

    Attributes:
        keys: The calls they paid for and that are kept.
        unkept: Calls they paid for that another process had made first.
        spent: All of that together.
        seconds: Wall clock of all parts.
    """

    keys: tuple[str, ...] = ()
    unkept: tuple[Completion, ...] = ()
    spent: Amount = Amount()
    seconds: float = 0.0


class Recording:
    """A command's run while it happens; made by `Session.record`.

    Attributes:
        id: What the run is addressed by later.
        account: What it may spend, and has.
        tally: What it paid.
        limit: The limit that ended it, once one did.
        unclaimed: Calls that an earlier part of a resumed run paid for and this part has not come across yet.
        dollar_caps: Whether something besides the run's budget is counted in dollars, so that models need prices.
    """

    def __init__(self, session: Session, record: RunRecord, cast: Cast, budget: Budget, seed: int, fresh: int) -> None:
        self.session = session
        self.id = record.id
        self.seed = seed
        self.fresh = fresh
        self.cast = cast
        self.account = Account(budget)
        self.tally = Tally(unpriced=session.price(self.models[0]) is None)
        self.limit: RunLimitError | None = None
        self.dollar_caps = False
        self.unclaimed: set[str] = set()
        self._raced: dict[str, dict[str, Mapping[str, int]]] = {}
        self._record = record
        self._finished: RunRecord | None = None
        self._endpoints: dict[tuple[str | None, str | None], Endpoint] = {}
        self._deadline = None if budget.seconds is None else asyncio.get_running_loop().time() + budget.seconds
        self._started = self._opened = asyncio.get_running_loop().time()

    @property
    def caller(self) -> Caller:
        """What makes the calls."""
        return self.session.caller

    @property
    def journal(self) -> Journal:
        """The store, off the event loop."""
        return self.session.journal

    @property
    def folder(self) -> Path:
        """Where files of this run belong; nobody made it yet."""
        return self.session.settings.folder.absolute() / ".treadle" / "runs" / self.id

    @property
    def models(self) -> tuple[str, ...]:
        """The models that were given, the strong one first."""
        return self.cast.models or (self.cast.model(None, self.session.roles, self.session.aliases),)

    @property
    def seconds(self) -> float:
        """Wall clock since the run began."""
        return asyncio.get_running_loop().time() - self._started

    @property
    def priced(self) -> bool:
        """Whether every model that may be asked here has a price."""
        # With models given, the first and the last of them are the strong and the weak one, whatever the file says.
        filed = (alias for role, alias in self.session.roles.items() if not self.cast.models or role not in _GIVEN)
        names = {*self.models, *self.cast.roles.values(), *filed}
        return all(self.session.price(name) is not None for name in names)

    def named(self, role: str) -> str | None:
        """The model that the command or the file names for a role; ``None`` where whoever is given plays it."""
        return self.cast.roles.get(role) or self.session.roles.get(role)

    def asked_models(self) -> list[str]:
        """Every model that was asked so far, with its settings, as texts in a fixed order."""
        opened = {endpoint.alias: endpoint for endpoint in self._endpoints.values()}
        return sorted(
            f"{each.identity} {encode(dict(sorted(each.settings.items()))).decode()}" for each in opened.values()
        )

    @property
    def in_time(self) -> bool:
        """Whether the clock still allows more."""
        return self._deadline is None or asyncio.get_running_loop().time() < self._deadline

    def resume(self, earlier: Earlier, finished: RunRecord | None = None) -> None:
        """Go on where earlier parts of this run stopped: what they paid counts, once, and so does their time.

        Args:
            earlier: What they did.
            finished: The run as it ended, where it was done already: going on with it never makes it less than that.
        """
        self._finished = finished
        self.unclaimed = set(earlier.keys)
        self.account.spent = earlier.spent
        self._started -= earlier.seconds
        if self._deadline is not None:
            self._deadline -= earlier.seconds
        for lost in earlier.unkept:
            self.tally.pay(lost)

    def endpoint(self, role: str | None = None, model: str | None = None) -> Endpoint:
        """The model that plays a role, or the one named.

        Raises:
            UserError: When no model was given, or the name is unknown.
        """
        known = self._endpoints.get((role, model))
        if known is None:
            known = self.session.endpoint(model or self.cast.model(role, self.session.roles, self.session.aliases))
            if self.account.budget.usd is not None or self.dollar_caps:
                _require_price(known)
            self._endpoints[role, model] = known
        return known

    async def raced_draws(self, subject: str, question: str) -> Mapping[str, int]:
        """The draws of a question whose tasks raced when it was answered before; empty for all others."""
        known = self._raced.get(subject)
        if known is None:
            events = await self.journal.read(lambda store: store.events(DRAW_MAP, subject))
            found: list[dict[str, Any]] = [decode(event.payload) for event in events]
            known = self._raced[subject] = {each["question"]: each["draws"] for each in found}
        return known.get(question, _NO_DRAWS)

    def limit_reached(self, error: OverBudgetError) -> RunLimitError:
        """Note that the run's budget ended it."""
        if self.limit is None:
            unit = {"usd": "--budget-usd", "calls": "--budget-calls", "tokens": "--budget-tokens"}[error.unit]
            lower = "" if error.unit == "calls" else " (a lower max_tokens lowers it)"
            more = f": it takes {unit} {_up(error.needed)} or more{lower}"
            if error.kept:
                more = f", beside the {_up(error.kept)} kept for selection and test; a larger {unit} lets it go on"
            amount = f"{error.limit:.10f}".rstrip("0").rstrip(".")
            budget = f"${amount}" if error.unit == "usd" else f"{amount} {error.unit}"
            self.limit = RunLimitError(error.unit, f"the budget of {budget} does not cover the next call{more}")
        return self.limit

    async def until_ended(self, work: Coroutine[Any, Any, None]) -> EndedBy:
        """Do work until it is done, the clock runs out or the session is interrupted; nothing is left running.

        Returns:
            How it ended. Failures of the work itself are raised.
        """
        task = asyncio.ensure_future(work)
        interrupted = asyncio.ensure_future(self.session.interrupted.wait())
        timeout = None if self._deadline is None else self._deadline - asyncio.get_running_loop().time()
        try:
            await asyncio.wait({task, interrupted}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if self.session.interrupted.is_set() and (task.cancelled() or not task.done()):
                return "interrupt"
            if task.done():
                task.result()
                return "budget" if self.limit else "done"
            seconds = self.account.budget.seconds or 0.0
            self.limit = RunLimitError(
                "seconds", f"the time budget of {seconds:g} s is spent; --budget-seconds raises it"
            )
            return "budget"
        finally:
            interrupted.cancel()
            task.cancel()
            await asyncio.gather(task, interrupted, return_exceptions=True)

    @asynccontextmanager
    async def closing(self) -> AsyncGenerator[Ending]:
        """Write the run down, and, however the block ends, how it ended and what it answered."""
        ending = Ending()
        part = len(await self.journal.read(lambda store: store.events(PART, self.id)))
        await self._save(ending, part, ended=False)
        try:
            yield ending
        except UserError:
            ending.ended_by = "mistake"
            raise
        except asyncio.CancelledError:
            ending.ended_by = "interrupt"
            raise
        finally:
            await asyncio.shield(self._save(ending, part, ended=True))

    def _encoded(self, document: Any) -> bytes:
        return self.journal.cleaned(encode(document).decode()).encode()

    async def _save(self, ending: Ending, part: int, *, ended: bool) -> None:
        now = time.time()
        record = self._record
        if ended:
            document = None if ending.document is None else self._encoded(ending.document)
            record = replace(record, ended=now, ended_by=ending.ended_by, usd=self.tally.total_usd, result=document)
        if self._finished is not None and record.ended_by != "done":
            record = self._finished
        seconds = asyncio.get_running_loop().time() - self._opened
        await self.journal.change(lambda store: store.save_run(record))
        payload = encode({"part": part, "seconds": seconds if ended else None})
        await self.journal.write(EventRecord(self.id, PART, self.id, now, payload))


def _require_price(endpoint: Endpoint) -> None:
    if endpoint.price is None:
        raise UserError(
            f"{endpoint.alias} has no price, so dollars cannot be counted: give it price = {{ input = …, output = … }}"
            " in treadle.toml, or limit calls or tokens instead"
        )


def _up(value: float) -> str:
    """A number rounded up to three digits, so that it is enough."""
    if value == int(value):
        return f"{value:.0f}"
    places = 2 - math.floor(math.log10(abs(value)))
    return f"{math.ceil(round(value * 10**places, 6)) / 10**places:.{max(0, places)}f}"
