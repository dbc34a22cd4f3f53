"""A session: configuration, models, store and caller, open for as long as they are needed."""

from __future__ import annotations

import asyncio
import secrets
import time
import warnings
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Self

from treadle.config import ModelSettings, Settings, check_sandbox, find_config, load_settings, secret_values
from treadle.errors import Caution, UnknownNameError, UserError
from treadle.ledger.budget import Budget
from treadle.ledger.caller import Caller
from treadle.ledger.cast import Cast
from treadle.ledger.endpoint import Endpoint
from treadle.ledger.executing import Executions
from treadle.ledger.journal import Journal
from treadle.ledger.keys import normal_settings
from treadle.ledger.limits import ModelLimits
from treadle.ledger.prices import listed_price
from treadle.ledger.recording import Earlier, Recording
from treadle.ledger.resuming import read_earlier
from treadle.ledger.retries import RetryPolicy
from treadle.ledger.shared_sandbox import SharedSandbox, limits_of
from treadle.models.base import DEFAULT_MAX_TOKENS, Model, Price, Served
from treadle.models.registry import build_model
from treadle.sandbox.base import Sandbox
from treadle.store.base import RunRecord, Store
from treadle.store.open import open_store
from treadle.store.owner import owner
from treadle.store.text import decode, encode

DEFAULT_CONCURRENCY = 32
_SANDBOX = "sandbox"
_OTHER_SANDBOX = (
    "run {run} was begun with --sandbox {before} and goes on with --sandbox {now}: what programs came to so far was "
    "measured in the other one"
)
_NEAR = 200
"""How many of the latest runs a mistyped id is compared with."""


class Session:
    """Everything that calls share: an asynchronous context manager.

    Args:
        config: A treadle.toml, settings already read, or ``None`` for the treadle.toml found upwards from here
            (defaults where there is none).
        store: A store to use instead of the configured one; it stays its owner's to close.
        models: Models by alias, beside the configured ones (for tests and for models of your own).
        sandbox: A kind of sandbox, or a sandbox, instead of the configured one; a sandbox stays its owner's to close.

    Raises:
        ConfigError: When the file cannot be used.
        UnknownNameError: When there is no such kind of sandbox.
    """

    spends = True
    """Whether models are called and programs run here."""

    def __init__(
        self,
        config: str | Path | Settings | None = None,
        *,
        store: Store | None = None,
        models: Mapping[str, Model] | None = None,
        sandbox: str | Sandbox | None = None,
    ) -> None:
        if isinstance(config, Settings):
            self.settings = config
        else:
            self.settings = load_settings(Path(config) if config is not None else find_config(Path.cwd()))
        self._given_store = store
        self._given_models = dict(models or {})
        self._endpoints: dict[str, Endpoint] = {}
        given = check_sandbox(sandbox) if isinstance(sandbox, str) else sandbox
        configured = self.settings.sandbox
        self.shared_sandbox = SharedSandbox(given or configured.kind, limits_of(configured))

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opening:
            store = self._given_store or open_store(self.settings.store.url, self.settings.folder)
            if self._given_store is None:
                opening.callback(store.close)
            self.journal = Journal(store, secret_values(self.settings))
            opening.push_async_callback(self.journal.aclose)
            opening.push_async_callback(self._close_models)
            self.caller = Caller(self.journal, Random())
            opening.push_async_callback(self.caller.aclose)
            self.executions = Executions(self.journal, self.shared_sandbox)
            opening.push_async_callback(self.shared_sandbox.aclose)
            opening.push_async_callback(self.executions.aclose)
            self.interrupted = asyncio.Event()
            self._closing = opening.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._closing.aclose()

    async def _close_models(self) -> None:
        async with AsyncExitStack() as closing:
            for endpoint in self._endpoints.values():
                closing.push_async_callback(endpoint.model.aclose)

    @property
    def aliases(self) -> list[str]:
        """The models that have a name here."""
        return [*self._given_models, *(alias for alias in self.settings.models if alias not in self._given_models)]

    @property
    def roles(self) -> Mapping[str, str]:
        """The roles that the file names."""
        return self.settings.roles

    def interrupt(self) -> None:
        """End everything that runs in this session; what was paid for is kept."""
        self.interrupted.set()

    async def sandbox(self) -> SharedSandbox:
        """Where programs run; opened by the first that asks, closed with the session.

        Raises:
            SandboxError: Nothing here isolates, or what was asked for does not.
        """
        await self.shared_sandbox.open()
        return self.shared_sandbox

    def endpoint(self, name: str) -> Endpoint:
        """A model by alias or ``provider:model``.

        Raises:
            UnknownNameError: When there is no such alias and no such provider.
            UserError: When a key is missing or a part is not installed.
        """
        known = self._endpoints.get(name)
        if known is None:
            known = self._endpoints[name] = self._open(self.settings.model_names.get(name, name))
        return known

    def price(self, name: str) -> Price | None:
        """What a model costs, without opening it; ``None`` where nobody says."""
        if name in self._endpoints:
            return self._endpoints[name].price
        name = self.settings.model_names.get(name, name)
        settings = self.settings.models.get(name) or ModelSettings(model=name)
        provider, _, model = settings.model.partition(":")
        return _price(settings, provider, model)

    def _open(self, name: str) -> Endpoint:
        settings = self.settings.models.get(name)
        if settings is None:
            if name in self._given_models:
                return _endpoint(name, self._given_models[name], ModelSettings(model=name))
            if ":" not in name:
                raise UnknownNameError("model", name, [*self.aliases, *self.settings.model_names])
            settings = ModelSettings(model=name)
        model = self._given_models.get(name) or build_model(
            settings.model,
            base_url=settings.base_url,
            api_key_env=settings.api_key_env,
            max_concurrency=settings.max_concurrency or DEFAULT_CONCURRENCY,
            folder=self.settings.folder,
        )
        return _endpoint(name, model, settings)

    async def record(
        self,
        command: str,
        *,
        task: str = "",
        spec: Mapping[str, Any] | None = None,
        cast: Cast | None = None,
        budget: Budget | None = None,
        seed: int = 0,
        fresh: int = 0,
        resume: str | None = None,
        begun: float | None = None,
    ) -> Recording:
        """Begin a command's run.

        Args:
            command: The command's name.
            task: The task's name, where there is one.
            spec: What was asked, as JSON values, so that the run can be read and resumed later.
            cast: Which models play which roles.
            budget: Caps that win over the file's.
            seed: Seeds `Run.rng` and search strategies; never draws or splits.
            fresh: Which disjoint family of draws to take.
            resume: Go on with this run, under its id.
            begun: The loop's time when the command began, where it prepared something first; its clock runs from there.

        Raises:
            UnknownNameError: When there is no run to resume.
            UserError: When it belongs to another command, or is still running.
        """
        configured = self.settings.budget
        caps = Budget(configured.usd, configured.calls, configured.tokens, configured.seconds).merged(
            budget or Budget()
        )
        asked = encode({**(spec or {}), _SANDBOX: self.shared_sandbox.kind})
        record = RunRecord(await self._new_id(), command, task, asked, owner(), time.time())
        earlier, finished = Earlier(), None
        if resume is not None:
            first = await self._resumable(resume, command)
            self._warn_of_other_sandbox(first)
            record = replace(record, id=first.id, started=first.started, spec=first.spec)
            finished = first if first.ended_by == "done" else None
            earlier = await self.journal.read(lambda store: read_earlier(store, resume))
        if begun is not None:
            prepared = asyncio.get_running_loop().time() - begun
            earlier = replace(earlier, seconds=earlier.seconds + prepared)
        recording = Recording(self, record, cast or Cast(), caps, seed, fresh)
        recording.resume(earlier, finished)
        return recording

    def _warn_of_other_sandbox(self, first: RunRecord) -> None:
        before, now = decode(first.spec).get(_SANDBOX), self.shared_sandbox.kind
        if before not in (None, now):
            warnings.warn(_OTHER_SANDBOX.format(run=first.id, before=before, now=now), Caution, stacklevel=3)

    async def _new_id(self) -> str:
        while True:
            id = _run_id()
            if await self.journal.read(lambda store, id=id: store.run(id)) is None:
                return id

    async def _resumable(self, run: str, command: str) -> RunRecord:
        record = await self.journal.read(lambda store: find_run(store, run))
        if record.command != command:
            raise UserError(f"run {run} is a {record.command}, not a {command}; it cannot be resumed here")
        if record.ended_by is None:
            raise UserError(f"run {run} is still running (owner {record.owner}); stop that first")
        return record


def find_run(store: Store, id: str) -> RunRecord:
    """A run by its id.

    Raises:
        UnknownNameError: When there is none.
    """
    record = store.run(id)
    if record is None:
        raise UnknownNameError("run", id, [run.id for run in store.runs(_NEAR)])
    return record


def _run_id() -> str:
    return time.strftime("%y%m%d-%H%M%S-", time.gmtime()) + secrets.token_hex(2)


def _price(settings: ModelSettings, provider: str, name: str) -> Price | None:
    price = settings.price
    if price is None:
        return listed_price(provider, name)
    return Price(price.input, price.output, price.cached_input, price.cache_write)


def _endpoint(alias: str, model: Model, settings: ModelSettings) -> Endpoint:
    identity = model.identity
    served = model if isinstance(model, Served) else None
    width = settings.max_concurrency or (served.slots if served else DEFAULT_CONCURRENCY)
    return Endpoint(
        alias,
        model,
        # A script may look at the alias, so two aliases of one script are two models.
        replace(identity, name=f"{identity.name} as {alias}") if identity.provider == "scripted" else identity,
        ModelLimits(width, settings.requests_per_minute, settings.tokens_per_minute),
        _price(settings, identity.provider, identity.name),
        normal_settings({"max_tokens": DEFAULT_MAX_TOKENS, **settings.settings}),
        settings.timeout_s,
        RetryPolicy(attempts=settings.retries + 1),
        start=served.start if served else None,
        context_window=settings.context_window or (served.context_window if served else None),
        # A server of ours takes tools and reads no call out of a reply.
        calls_tools=served is None if settings.tools is None else settings.tools,
    )
