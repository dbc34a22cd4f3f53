"""treadle.toml: found, read and checked into typed settings; no key is ever in it."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treadle.config_models import ModelSettings, read_model
from treadle.config_secrets import refuse_secrets
from treadle.errors import ConfigError, UnknownNameError
from treadle.redaction import PLACEHOLDERS, SHORTEST_SECRET
from treadle.toml_table import TomlTable

CONFIG_NAME = "treadle.toml"
DEFAULT_STORE_URL = "sqlite:///.treadle/treadle.db"

ROLES = (
    "strong",
    "weak",
    "judge",
    "generator",
    "fuser",
    "critic",
    "ranker",
    "verifier",
    "tester",
    "manager",
    "worker",
    "optimiser",
    "executor",
)

SANDBOX_KINDS = (
    "auto",
    "bubblewrap",
    "namespaces",
    "nsjail",
    "landlock",
    "docker",
    "podman",
    "wasi",
    "monty",
    "none",
)
"""What may run code that models write; ``auto`` is the strongest here, and ``none`` holds only where it is named."""


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The ``[store]`` table; a relative path is relative to `Settings.folder`."""

    url: str = DEFAULT_STORE_URL


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """The ``[budget]`` table: what one run may use; ``None`` sets no limit, 0 allows cached calls only."""

    usd: float | None = None
    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """The ``[sandbox]`` table: what runs the code that models write, and what a program may take."""

    kind: str = "auto"
    """One of `SANDBOX_KINDS`."""
    seconds: float = 10.0
    """Wall clock."""
    memory_mb: int = 512
    """Mebibytes of all its processes."""
    processes: int = 64
    """Processes and threads at one time."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A whole treadle.toml, or the defaults where there is none.

    ``roles`` maps role names of `ROLES` to aliases (of ``models`` or a command's own) or ``provider:model``;
    ``model_names`` maps what others' files call a model to the same; ``folder``
    is the folder of the file, or the current one, and what relative paths in it are relative to; ``path`` is the file,
    where there is one.
    """

    models: Mapping[str, ModelSettings] = field(default_factory=dict[str, ModelSettings])
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    model_names: Mapping[str, str] = field(default_factory=dict[str, str])
    store: StoreSettings = field(default_factory=StoreSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    folder: Path = field(default_factory=Path.cwd)
    path: Path | None = None


def find_config(start: Path) -> Path | None:
    """The nearest treadle.toml from a folder upwards, or ``None``."""
    folder = start.absolute()
    for parent in (folder, *folder.parents):
        try:
            if (parent / CONFIG_NAME).is_file():
                return parent / CONFIG_NAME
        except PermissionError:
            continue
    return None


def load_settings(path: Path | None) -> Settings:
    """Read and check a treadle.toml.

    Args:
        path: The file, or ``None`` for the defaults.

    Raises:
        ConfigError: The file is not there, not UTF-8 or not TOML, has a key that is unknown or a value that does not
            fit, or holds a secret (which the text does not repeat).
    """
    return Settings() if path is None else settings_from(_read(path), path)


def settings_from(document: dict[str, Any], path: Path) -> Settings:
    """Check what a TOML parser read from a file, as `load_settings` does.

    Args:
        document: The tables.
        path: The file they stand for: it is named in errors, and its folder is that of the settings.

    Raises:
        ConfigError: As `load_settings`.
    """
    top = TomlTable(str(path), "", document)
    refuse_secrets(top)
    top.allow(("models", "roles", "model_names", "store", "budget", "sandbox"))
    aliases = top.table("models")
    return Settings(
        models={alias: read_model(aliases, alias) for alias in aliases.values},
        roles=_roles(top.table("roles")),
        model_names=_model_names(top.table("model_names")),
        store=_store(top.table("store")),
        budget=_budget(top.table("budget")),
        sandbox=_sandbox(top.table("sandbox")),
        folder=path.absolute().parent,
        path=path.absolute(),
    )


def canonical_role(name: str) -> str:
    """A role's name as `ROLES` has it (``optimizer`` is ``optimiser``).

    Raises:
        UnknownNameError: There is no such role.
    """
    role = "optimiser" if name == "optimizer" else name
    if role not in ROLES:
        raise UnknownNameError("role", name, ROLES)
    return role


def check_sandbox(kind: str) -> str:
    """A kind of sandbox, as it was given.

    Raises:
        UnknownNameError: There is no such kind.
    """
    if kind not in SANDBOX_KINDS:
        raise UnknownNameError("sandbox", kind, SANDBOX_KINDS)
    return kind


def secret_values(settings: Settings) -> frozenset[str]:
    """What must never be kept or shown: the values of the variables that ``api_key_env`` names and of ``*_API_KEY``."""
    named = {model.api_key_env for model in settings.models.values()}
    values = {value.strip() for name, value in os.environ.items() if name in named or name.endswith("_API_KEY")}
    return frozenset(value for value in values if len(value) >= SHORTEST_SECRET and value.lower() not in PLACEHOLDERS)


def _read(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file; `treadle init` writes one") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); it must be a readable file") from None
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}: line {line} is not UTF-8; save the file as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}; texts need quotes and every key its own line") from None
    except RecursionError:
        raise ConfigError(f"{path}: nests too deeply; no setting needs that") from None


def _roles(table: TomlTable) -> dict[str, str]:
    """A role may name a model that only a command brings; what no one knows is refused when it is asked for."""
    roles: dict[str, str] = {}
    for name in table.values:
        try:
            role = canonical_role(name)
        except UnknownNameError as error:
            raise table.error(name, f"is no role: {error}") from None
        if role in roles:
            raise table.error(name, "is given twice, as optimiser and as optimizer; keep one")
        roles[role] = table.text(name) or ""
    return roles


def _model_names(table: TomlTable) -> dict[str, str]:
    return {name: table.text(name) or "" for name in table.values}


def _store(table: TomlTable) -> StoreSettings:
    table.allow(("url",))
    url = table.text("url", DEFAULT_STORE_URL) or DEFAULT_STORE_URL
    if "://" not in url:
        raise table.error("url", f'must begin with a scheme, as in url = "{DEFAULT_STORE_URL}"')
    return StoreSettings(url)


def _budget(table: TomlTable) -> BudgetSettings:
    table.allow(tuple(BudgetSettings.__dataclass_fields__))
    return BudgetSettings(
        usd=table.number("usd", zero=True),
        calls=table.whole("calls", zero=True),
        tokens=table.whole("tokens", zero=True),
        seconds=table.number("seconds", zero=True),
    )


def _sandbox(table: TomlTable) -> SandboxSettings:
    table.allow(tuple(SandboxSettings.__dataclass_fields__))
    default = SandboxSettings()
    kind = table.text("kind", default.kind) or default.kind
    try:
        check_sandbox(kind)
    except UnknownNameError as error:
        raise table.error("kind", f"cannot be used: {error}") from None
    return SandboxSettings(
        kind,
        table.number("seconds", default.seconds) or default.seconds,
        table.whole("memory_mb", default.memory_mb) or default.memory_mb,
        table.whole("processes", default.processes) or default.processes,
    )
