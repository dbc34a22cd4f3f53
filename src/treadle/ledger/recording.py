"""One command's run: its budget, its models, what it paid, and how it ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from treadle.errors import RunLimitError, UserError
from treadle.ledger.budget import Account, Amount, Budget, OverBudgetError
from treadle.ledger.caller import Caller, Endpoint, recorded_usage
from treadle.ledger.journal import Journal
from treadle.ledger.scope import DRAW_MAP
from treadle.ledger.tally import Tally
from treadle.store.base import CallRecord, RunRecord
from treadle.store.text import decode, encode

if TYPE_CHECKING:
    from treadle.ledger.session import Session

_NO_DRAWS: Mapping[str, int] = {}

EndedBy = Literal["done", "infra", "budget", "interrupt"]


@dataclass(slots=True)
class Ending:
    """How a command's run ended, and the document it answered with; filled in by the command."""

    ended_by: str = "interrupt"
    document: Any = None


@dataclass(frozen=True, slots=True)
class Cast:
    """Who plays which part: the models a command was given, and roles named by it.

    Attributes:
        models: Aliases or ``provider:model`` names, the strong one first.
        roles: Role name to alias; wins over everything else.
    """

    models: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict[str, str])

    def model(self, role: str | None, configured: Mapping[str, str], aliases: Sequence[str]) -> str:
        """The model that plays a role.

        ``--role`` wins; ``strong`` and ``weak`` are the first and the last of the models given; then the file's
        roles; then the first model given, the file's strong one, or the only one it has.

        Args:
            role: A role, or ``None`` for whoever answers where nothing is said.
            configured: The file's roles.
            aliases: The file's models.

        Raises:
            UserError: When nothing says who that is.
        """
        role = "optimiser" if role == "optimizer" else role
        if role is not None and role in self.roles:
            return self.roles[role]
        if self.models and role in (None, "strong", "weak"):
            return self.models[-1 if role == "weak" else 0]
        if role is not None and role in configured:
            return configured[role]
        if self.models:
            return self.models[0]
        if "strong" in configured or len(aliases) == 1:
            return configured.get("strong") or aliases[0]
        raise UserError(
            "no model is given: use --model ALIAS or --model provider:model, or name [roles] strong in treadle.toml"
            + (f" (models there: {', '.join(aliases)})" if aliases else "")
        )


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
        self.tally = Tally()
        self.limit: RunLimitError | None = None
        self.dollar_caps = False
        self.unclaimed: set[str] = set()
        self._raced: dict[str, dict[str, Mapping[str, int]]] = {}
        self._record = record
        self._endpoints: dict[tuple[str | None, str | None], Endpoint] = {}
        self._deadline = None if budget.seconds is None else asyncio.get_running_loop().time() + budget.seconds
        self._started = asyncio.get_running_loop().time()

    @property
    def caller(self) -> Caller:
        """What makes the calls."""
        return self.session.caller

    @property
    def journal(self) -> Journal:
        """The store, off the event loop."""
        return self.session.journal

    @property
    def models(self) -> tuple[str, ...]:
        """The models that were given, the strong one first."""
        return self.cast.models or (self.cast.model(None, self.session.roles, self.session.aliases),)

    @property
    def seconds(self) -> float:
        """Wall clock since the run began."""
        return asyncio.get_running_loop().time() - self._started

    @property
    def in_time(self) -> bool:
        """Whether the clock still allows more."""
        return self._deadline is None or asyncio.get_running_loop().time() < self._deadline

    def resume(self, paid: Sequence[CallRecord]) -> None:
        """Go on where an earlier part of this run stopped: what it paid counts, once, and so does its time."""
        self.unclaimed = {record.key for record in paid}
        tokens = sum(recorded_usage(record).total for record in paid)
        self.account.spent = Amount(len(paid), tokens, sum(record.usd or 0.0 for record in paid))
        last = max((record.at for record in paid), default=self._record.started)
        self._started -= max(0.0, last - self._record.started)

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
            self.limit = RunLimitError(
                error.unit,
                f"the budget of {error.limit:g} {error.unit} is spent; the next call needs {unit} {_up(error.needed)}"
                " or more (a lower max_tokens lowers it)",
            )
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
        """Write down, however the block ends, how the run ended and what it answered."""
        ending = Ending()
        try:
            yield ending
        except UserError:
            ending.ended_by = "mistake"
            raise
        finally:
            record = replace(
                self._record,
                ended=time.time(),
                ended_by=ending.ended_by,
                usd=self.tally.total_usd,
                result=None if ending.document is None else encode(ending.document),
            )
            await asyncio.shield(self.journal.change(lambda store: store.save_run(record)))


def _require_price(endpoint: Endpoint) -> None:
    if endpoint.price is None:
        raise UserError(
            f"{endpoint.alias} has no price, so dollars cannot be counted: give it price = {{ input = …, output = … }}"
            " in treadle.toml, or limit calls or tokens instead"
        )


def _up(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value * 1.0000005:.7g}"
