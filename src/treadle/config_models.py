"""The ``[models.<alias>]`` tables of treadle.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

from treadle.toml_table import TomlTable


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
    tools: bool | None = None
    """Whether it calls the tools it is given; where nothing is said, all but local ones do."""


_MODEL_KEYS = tuple(ModelSettings.__dataclass_fields__)
_OWN_SETTINGS = ("model", "messages", "n", "tools", "schema", "draw")
_COMMON_SETTINGS = ("temperature", "max_tokens", "top_p", "top_k", "seed", "stop", "reasoning_effort")


def read_model(aliases: TomlTable, alias: str) -> ModelSettings:
    """Read and check one table.

    Args:
        aliases: The ``[models]`` table.
        alias: The name of the table in it.

    Raises:
        ConfigError: A key is unknown, or a value does not fit.
    """
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
        tools=table.switch("tools"),
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
