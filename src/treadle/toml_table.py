"""Typed reading of one table of treadle.toml, with errors that name file, key and remedy."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, cast

from treadle.errors import ConfigError


@dataclass(frozen=True, slots=True)
class TomlTable:
    """One table: the file it is in, its dotted key (empty at the top), and its values."""

    file: str
    key: str
    values: dict[str, Any]

    def path(self, name: str) -> str:
        """The dotted key of a value."""
        return f"{self.key}.{name}" if self.key else name

    def error(self, name: str, problem: str) -> ConfigError:
        """The error about one value."""
        return ConfigError(f"{self.file}: {self.path(name)} {problem}")

    def allow(self, known: Collection[str]) -> None:
        """Refuse every key but the known ones, with a hint at what was meant."""
        for name in self.values:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=2, cutoff=0.6)
                hint = f"did you mean {' or '.join(near)}?" if near else f"known here: {', '.join(known)}"
                raise self.error(name, f"is not a known key; {hint}")

    def table(self, name: str) -> TomlTable:
        """A table inside this one; empty when it is not there."""
        value = self.values.get(name, {})
        if not isinstance(value, dict):
            raise self.error(name, f"must be a table, not {_kind(value)}; write [{self.path(name)}]")
        return TomlTable(self.file, self.path(name), cast("dict[str, Any]", value))

    def text(self, name: str, default: str | None = None) -> str | None:
        """A text that is not empty."""
        value = self.values.get(name, default)
        if value is None or (isinstance(value, str) and value.strip()):
            return value
        if isinstance(value, str):
            raise self.error(name, "is empty; give it a value or take the line out")
        raise self.error(name, f'must be a text in quotes, as in {name} = "…", not {_kind(value)}')

    def number(self, name: str, default: float | None = None, *, zero: bool = False) -> float | None:
        """A finite number above 0, or from 0 on."""
        value = self.values.get(name)
        if value is None:
            return default
        wanted = f"must be a finite number {_bound(zero)}, not"
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.error(name, f"{wanted} {_kind(value)}; {_plainly(name, value)}")
        if not _is_double(value) or value < 0 or (value == 0 and not zero):
            raise self.error(name, f"{wanted} {_shown(value)}")
        return float(value)

    def whole(self, name: str, default: int | None = None, *, zero: bool = False) -> int | None:
        """A whole number above 0, or from 0 on."""
        value = self.values.get(name)
        if value is None:
            return default
        wanted = f"must be a whole number {_bound(zero)}, not"
        if isinstance(value, float):
            raise self.error(name, f"{wanted} {_shown(value)}; write it without point and exponent")
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(name, f"{wanted} {_kind(value)}; {_plainly(name, value)}")
        if value < 0 or (value == 0 and not zero) or value >= 2**63:
            raise self.error(name, f"{wanted} {_shown(value)}")
        return value

    def switch(self, name: str) -> bool | None:
        """``true`` or ``false``, or ``None`` where nothing is said."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.error(name, f"must be true or false, not {value!r:.60}")
        return value

    def json_values(self) -> dict[str, Any]:
        """All values, if JSON can hold them; they are passed on as they are."""
        for name, value in self.values.items():
            if not _fits_json(value):
                raise self.error(name, "must be a text, a finite number, true, false, or a list or table of such")
        return self.values


def _bound(zero: bool) -> str:
    return "from 0 on" if zero else "above 0"


def _shown(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) or abs(value) < 2**63 else "one of that size"


def _is_double(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _fits_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_fits_json, cast("dict[str, Any]", value).values()))
    if isinstance(value, list):
        return all(map(_fits_json, cast("list[Any]", value)))
    return isinstance(value, str) or (isinstance(value, (int, float)) and _is_double(value))


def _plainly(name: str, value: Any) -> str:
    return "write it without quotes" if isinstance(value, str) else f"as in {name} = 5"


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    for kind, words in ((str, "a text"), (int, "a number"), (float, "a number"), (list, "a list"), (dict, "a table")):
        if isinstance(value, kind):
            return words
    return "a date or time"
