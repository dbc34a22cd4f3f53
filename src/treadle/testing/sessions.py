"""Sessions for tests: scripted models, a store in memory, nothing on disk."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import cast

from treadle.config import ModelSettings, Settings
from treadle.ledger.budget import Account, Budget
from treadle.ledger.cast import Cast
from treadle.ledger.recording import Recording
from treadle.ledger.run import Run
from treadle.ledger.scope import Scope
from treadle.ledger.session import Session
from treadle.models.base import Model
from treadle.models.scripted import ReplyFunction, ScriptedModel
from treadle.sandbox.base import Sandbox
from treadle.store.base import Store
from treadle.store.open import open_store

ModelLike = ReplyFunction | Model


@asynccontextmanager
async def scripted_session(
    models: ModelLike | Mapping[str, ModelLike],
    *,
    settings: Mapping[str, ModelSettings] | None = None,
    store: Store | None = None,
    sandbox: str | Sandbox | None = None,
) -> AsyncGenerator[Session]:
    """A session whose models are functions of a request.

    Args:
        models: A function (its alias is ``m``), a model, or several by alias.
        settings: Prices, limits and sampling settings by alias.
        store: A store to use; one in memory by default.
        sandbox: A kind of sandbox, or a sandbox; ``auto`` by default.
    """
    given = cast("Mapping[str, ModelLike]", models if isinstance(models, Mapping) else {"m": models})
    opened = {alias: _model(alias, model) for alias, model in given.items()}
    config = Settings(models=dict(settings or {}))
    kept = store or open_store("sqlite:///:memory:", config.folder)
    try:
        async with Session(config, store=kept, models=opened, sandbox=sandbox) as session:
            yield session
    finally:
        if store is None:
            kept.close()


def _model(alias: str, given: ModelLike) -> Model:
    return given if isinstance(given, Model) else ScriptedModel(given, alias)


@asynccontextmanager
async def recording_run(
    models: ModelLike | Mapping[str, ModelLike],
    *,
    budget: Budget | None = None,
    caps: Budget | None = None,
    settings: Mapping[str, ModelSettings] | None = None,
    store: Store | None = None,
    sandbox: str | Sandbox | None = None,
) -> AsyncGenerator[tuple[Run, Recording]]:
    """A run of one question, for tests of operators and workflows, with the recording that pays for it.

    Args:
        models: As in `scripted_session`, like everything that is not named here.
        budget: Caps of the whole run.
        caps: Caps of the question.
        settings: Settings by alias.
        store: A store to use.
        sandbox: A sandbox to use.
    """
    async with scripted_session(models, settings=settings, store=store, sandbox=sandbox) as session:
        recording = await session.record("test", cast=Cast(tuple(session.aliases)), budget=budget)
        yield Run(new_scope(recording, caps)), recording


def new_scope(
    recording: Recording, caps: Budget | None = None, *, known_draws: Mapping[str, int] | None = None
) -> Scope:
    """A question of its own within a recording."""
    account = Account(caps) if caps else None
    return Scope(recording, "q", account=account, tallies=(recording.tally,), known_draws=known_draws or {})
