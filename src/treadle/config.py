"""treadle.toml: found, read and checked into typed settings; no key is ever in it."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

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


@dataclass(frozen=True, slots=True)
class PriceSettings:
    """US dollars per million tokens; what is not given costs what plain input costs."""

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One ``[models.<alias>]`` table."""

    model: str
    """``provider:name``, as written."""
    base_url: str | None = None
    """Without a slash at its end."""
    api_key_env: str | None = None
    """The name of the variable that holds the key."""
    timeout_s: float = 120.0
    """The whole call, in seconds of wall clock."""
    max_concurrency: int | None = None
    """Calls in flight; where nothing is said, 32, or what a local server takes at once."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    """Input and output together."""
    retries: int = 5
    """How often a failed call is tried again; 0 makes one attempt."""
    price: PriceSettings | None = None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Sampling settings, sent with every call."""
    context_window: int | None = None
    """Tokens of prompt and reply together; where it is known, components that show candidates keep within it."""


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
    top.allow(("models", "roles", "model_names", "store", "budget"))
    aliases = top.table("models")
    return Settings(
        models={alias: _model(aliases, alias) for alias in aliases.values},
        roles=_roles(top.table("roles")),
        model_names=_model_names(top.table("model_names")),
        store=_store(top.table("store")),
        budget=_budget(top.table("budget")),
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


_MODEL_KEYS = tuple(ModelSettings.__dataclass_fields__)
_OWN_SETTINGS = ("model", "messages", "n", "tools", "schema", "draw")
_COMMON_SETTINGS = ("temperature", "max_tokens", "top_p", "top_k", "seed", "stop", "reasoning_effort")


def _model(aliases: TomlTable, alias: str) -> ModelSettings:
    table = aliases.table(alias)
    if re.search(r"[\s:,=?&/()\[\]]|^-?\d+$", alias) or alias in {"", "auto"}:
        raise aliases.error(alias, "is no alias that a command can take; use letters, digits, . _ and -")
    for name in _COMMON_SETTINGS:
        if name in table.values:
            raise table.error(name, f"belongs one level deeper; write it under [{table.path('settings')}]")
    table.allow(_MODEL_KEYS)
    model = table.text("model")
    if model is None:
        raise table.error("model", 'is missing; write it as "provider:name", as in model = "openai:gpt-5-mini"')
    provider, colon, name = model.partition(":")
    if not (provider and colon and name) or model != model.strip():
        raise table.error("model", f'must be "provider:name", as in "openai:gpt-5-mini", not {model!r}')
    default = ModelSettings(model)
    return ModelSettings(
        model=model,
        base_url=_base_url(table),
        api_key_env=_api_key_env(table),
        timeout_s=table.number("timeout_s", default.timeout_s) or default.timeout_s,
        max_concurrency=table.whole("max_concurrency", None),
        context_window=table.whole("context_window", None),
        requests_per_minute=table.number("requests_per_minute"),
        tokens_per_minute=table.number("tokens_per_minute"),
        retries=table.whole("retries", default.retries, zero=True) or 0,
        price=_price(table.table("price")) if "price" in table.values else None,
        settings=_sampling(table.table("settings")),
    )


def _base_url(table: TomlTable) -> str | None:
    value = table.text("base_url")
    if value is None:
        return None
    try:
        url: SplitResult = urlsplit(value)
        usable = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError:
        usable = False
    else:
        usable = usable and not (url.username or url.query or url.fragment) and not re.search(r"\s", value)
    if not usable:
        raise table.error("base_url", 'must be a plain address, as in base_url = "http://127.0.0.1:8000/v1"')
    return value.rstrip("/")


def _api_key_env(table: TomlTable) -> str | None:
    value = table.text("api_key_env")
    if value is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise table.error("api_key_env", 'must be the name of an environment variable, as in api_key_env = "MY_KEY"')
    return value


def _price(table: TomlTable) -> PriceSettings:
    table.allow(tuple(PriceSettings.__dataclass_fields__))
    given = {name: table.number(name, zero=True) for name in PriceSettings.__dataclass_fields__}
    for name in ("input", "output"):
        if given[name] is None:
            raise table.error(name, "is missing; a price needs input and output, in US dollars per million tokens")
    return PriceSettings(**cast("dict[str, float]", given))


def _sampling(table: TomlTable) -> dict[str, Any]:
    for name in table.values:
        if name in _OWN_SETTINGS:
            raise table.error(name, "is set by Treadle for each call; take the line out")
    table.number("temperature", zero=True)
    table.number("top_p")
    table.whole("max_tokens")
    table.whole("max_completion_tokens")
    return table.json_values()


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
