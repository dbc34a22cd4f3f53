"""Typed settings of named workflows, read strictly from the query of a name and written back in one form."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import Any, NoReturn, Protocol, TypeVar, cast
from urllib.parse import quote, unquote

from treadle.errors import UserError

_KEY = "setting"
T = TypeVar("T")


class Kind(Protocol):
    """What values a setting takes."""

    def read(self, text: str) -> Any:
        """A value from its text, or ``None`` when the text is no such value."""
        ...

    def allows(self, value: Any) -> bool:
        """Whether a value may be set."""
        ...

    def __str__(self) -> str:
        """The values in words."""
        ...


@dataclass(frozen=True, slots=True)
class Whole:
    """Whole numbers from ``least`` to ``most``."""

    least: int
    most: int

    def read(self, text: str) -> int | None:
        """A number from its digits."""
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None

    def allows(self, value: Any) -> bool:
        """Whether a number is in range."""
        return type(value) is int and self.least <= value <= self.most

    def __str__(self) -> str:
        return f"a whole number from {self.least} to {self.most}"


@dataclass(frozen=True, slots=True)
class Switch:
    """On or off."""

    def read(self, text: str) -> bool | None:
        """``true`` or ``false``."""
        return {"true": True, "false": False}.get(text)

    def allows(self, value: Any) -> bool:
        """Whether a value is one of the two."""
        return isinstance(value, bool)

    def __str__(self) -> str:
        return "true or false"


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some words."""

    words: tuple[str, ...]

    def read(self, text: str) -> str | None:
        """A word as it stands."""
        return text

    def allows(self, value: Any) -> bool:
        """Whether a word is one of them."""
        return value in self.words

    def __str__(self) -> str:
        return " or ".join(self.words)


@dataclass(frozen=True, slots=True)
class Text:
    """Any text."""

    def read(self, text: str) -> str | None:
        """The text as it stands."""
        return text

    def allows(self, value: Any) -> bool:
        """Whether a value is a text."""
        return isinstance(value, str)

    def __str__(self) -> str:
        return "a text"


@dataclass(frozen=True, slots=True)
class Setting:
    """How a field is read; ``shown`` settings stand in the canonical name even at their default."""

    kind: Kind
    shown: bool


def whole(default: int, *, least: int, most: int, shown: bool = False) -> int:
    """A field that holds a whole number."""
    return field(default=default, metadata={_KEY: Setting(Whole(least, most), shown)})


def switch(default: bool) -> bool:
    """A field that is on or off."""
    return field(default=default, metadata={_KEY: Setting(Switch(), False)})


def one_of(default: T, words: Sequence[T], *, shown: bool = False) -> T:
    """A field that holds one of some words."""
    return field(default=default, metadata={_KEY: Setting(OneOf(cast("tuple[str, ...]", tuple(words))), shown)})


def text(default: str = "") -> str:
    """A field that holds a text, such as a ``module:function``."""
    return field(default=default, metadata={_KEY: Setting(Text(), False)})


def setting_kinds(settings: Any) -> dict[str, Kind]:
    """What values each setting of a workflow takes."""
    return {each.name: _setting(each).kind for each in fields(settings)}


def check_settings(name: str, settings: Any) -> None:
    """Refuse values that a workflow's settings do not take.

    Raises:
        UserError: Names the workflow, the setting, the value and what would do.
    """
    for each in fields(settings):
        kind = _setting(each).kind
        value = getattr(settings, each.name)
        if not kind.allows(value):
            raise UserError(f"{name}: {each.name} must be {kind}, not {_shown(value)}")


def read_settings(kind: type[T], name: str, options: Mapping[str, str]) -> T:
    """A workflow's settings from the options of its name.

    Args:
        kind: A dataclass whose fields were made by this module.
        name: The workflow's name, for messages.
        options: Setting to text.

    Raises:
        UserError: An unknown setting, or a value that it does not take.
    """
    known = {each.name: _setting(each) for each in fields(cast("Any", kind))}
    values: dict[str, Any] = {}
    for option, text in options.items():
        if option not in known:
            refuse_setting(name, option, [f"{each} ({setting.kind})" for each, setting in known.items()], known)
        value = known[option].kind.read(text)
        if value is None:
            raise UserError(f"{name}: {option} must be {known[option].kind}, not {text!r}")
        values[option] = value
    return kind(**values)


def refuse_setting(name: str, option: str, described: Sequence[str], known: Mapping[str, Any]) -> NoReturn:
    """Refuse a setting that a workflow does not have.

    Raises:
        UserError: With a near match where there is one, and the settings that exist.
    """
    near = difflib.get_close_matches(option, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ";"
    listed = f"its settings: {', '.join(described)}" if described else "it has none"
    raise UserError(f"{name} has no setting {option!r}{hint} {listed}")


def canonical(name: str, settings: Any) -> str:
    """A workflow's name in one form: settings sorted, those at their default left out unless always shown."""
    values = {
        each.name: getattr(settings, each.name)
        for each in fields(settings)
        if _setting(each).shown or getattr(settings, each.name) != each.default
    }
    return with_options(name, values)


def with_options(name: str, values: Mapping[str, Any]) -> str:
    """A name with its settings, sorted and percent-encoded."""
    query = "&".join(f"{quote(key)}={quote(_text(values[key]), safe='/:,@')}" for key in sorted(values))
    return f"{name}?{query}" if query else name


def split_options(spec: str) -> tuple[str, dict[str, str]]:
    """A name and its options.

    Args:
        spec: Such as ``"debate?agents=3&rounds=2"``; values are percent-decoded (a plus sign stays one).

    Raises:
        UserError: An option has no value, or is given twice.
    """
    name, _, query = spec.partition("?")
    options: dict[str, str] = {}
    for part in query.split("&") if query else ():
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise UserError(f"{spec!r}: the setting {part!r} must be written name=value")
        if unquote(key) in options:
            raise UserError(f"{spec!r}: the setting {unquote(key)!r} is given twice")
        options[unquote(key)] = unquote(value)
    return name.strip(), options


def split_specs(text: str, what: str = "") -> tuple[str, ...]:
    """The names in a comma list; commas inside brackets do not split.

    Args:
        text: Such as ``"cot,self-consistency?n=5,mine:flow?levels=[1,2]"``.
        what: Where it was given, such as ``"--models"``, for messages.

    Raises:
        UserError: A bracket does not close or never opened, or a name is missing between two commas.
    """
    said = f"{what} {text!r}".strip()
    parts: list[str] = [""]
    open_brackets: list[str] = []
    for character in text:
        if character in _PAIRS:
            open_brackets.append(_PAIRS[character])
        elif open_brackets and character == open_brackets[-1]:
            open_brackets.pop()
        elif character in _PAIRS.values():
            raise UserError(f"{said}: a {character!r} closes nothing")
        if character == "," and not open_brackets:
            parts.append("")
        else:
            parts[-1] += character
    if open_brackets:
        raise UserError(f"{said}: a {open_brackets[-1]!r} is missing")
    names = tuple(part.strip() for part in parts)
    if not all(names):
        raise UserError(f"{said}: a name is missing between its commas")
    return names


_PAIRS = {"[": "]", "(": ")", "{": "}"}


def _setting(each: Field[Any]) -> Setting:
    return each.metadata[_KEY]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(value: Any) -> str:
    return _text(value) if isinstance(value, int) else repr(value)
