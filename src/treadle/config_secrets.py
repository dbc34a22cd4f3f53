"""No key stands in treadle.toml: wherever one is written, the file is refused without repeating it."""

from __future__ import annotations

import re
from typing import Any, cast
from urllib.parse import urlsplit

from treadle.errors import ConfigError
from treadle.redaction import holds_a_key, names_a_secret
from treadle.toml_table import TomlTable

_PASSWORD_REMEDY = "take the password out and let PGPASSWORD or ~/.pgpass hold it"
_KEY_REMEDY = 'put it in an environment variable and name that: api_key_env = "MY_KEY"'


def refuse_secrets(top: TomlTable) -> None:
    """Refuse a file with a secret anywhere, by the name of its key or by its shape.

    Raises:
        ConfigError: There is one; the text names its key and not its value.
    """
    try:
        _refuse_in_table(top)
    except RecursionError:
        raise ConfigError(f"{top.file}: nests too deeply; no setting needs that") from None


def _refuse_in_table(table: TomlTable) -> None:
    for name, value in table.values.items():
        if holds_a_key(name):
            raise table.error("…", f"is a name that looks like a secret; {_KEY_REMEDY}")
        if names_a_secret(name) and not isinstance(value, dict):
            raise table.error(name, f"looks like a secret, which this file must not hold; {_KEY_REMEDY}")
        _refuse_value(table, name, value)


def _refuse_value(table: TomlTable, name: str, value: Any) -> None:
    if isinstance(value, dict):
        _refuse_in_table(TomlTable(table.file, table.path(name), cast("dict[str, Any]", value)))
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            _refuse_value(table, name, item)
    elif isinstance(value, str) and _holds_a_secret(name, value):
        remedy = _PASSWORD_REMEDY if table.path(name) == "store.url" else _KEY_REMEDY
        raise table.error(name, f"holds what looks like a secret, which this file must not; {remedy}")


def _holds_a_secret(name: str, value: str) -> bool:
    if "://" not in value:
        return holds_a_key(value) or (name == "api_key_env" and _is_no_variable_name(value))
    try:
        url = urlsplit(value)
    except ValueError:
        return holds_a_key(value)
    if url.password or (url.username and name == "base_url"):
        return True
    queried = any(names_a_secret(part.partition("=")[0]) for part in re.split("[&;]", url.query))
    return queried or holds_a_key(f"{url.username} {url.path} {url.query} {url.fragment}")


def _is_no_variable_name(value: str) -> bool:
    """A variable's name, unlike most keys, is not long, mixed with digits and in small letters."""
    return len(value) >= 20 and any(c.isdigit() for c in value) and any(c.islower() for c in value)
