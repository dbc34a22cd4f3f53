"""Names with options: ``kind:place?option=value&option=value``, read strictly."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from treadle.errors import UnknownNameError, UserError
from treadle.workflows.settings import split_options


@dataclass(frozen=True, slots=True)
class Spec:
    """A name taken apart.

    ``text`` is the name as it was written; ``kind`` stands before the first colon, ``place`` between it and the
    question mark; ``options`` are percent-decoded (a plus sign stays one).
    """

    text: str
    kind: str
    place: str
    options: Mapping[str, str]


def read_spec(text: str) -> Spec:
    """Take a name with options apart.

    Args:
        text: Such as ``jsonl:rows.jsonl?scorer=numeric&tolerance=0.01``.

    Raises:
        UserError: An option has no value, or is given twice.
    """
    head, options = split_options(text)
    kind, _, place = head.partition(":")
    return Spec(text, kind.strip(), place.strip(), options)


@dataclass(slots=True)
class Options:
    """The options of one name; each reader takes what it knows, and what is left at the end is a mistake."""

    text: str
    values: Mapping[str, str]
    known: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, spec: Spec) -> Options:
        """The options of a name."""
        return cls(spec.text, spec.options)

    def take(self, name: str, default: str = "") -> str:
        """An option's text."""
        self.known.add(name)
        return self.values.get(name, default)

    def whole(self, name: str, default: int, *, least: int = 0) -> int:
        """An option that is a whole number, not below ``least``."""
        value = self.take(name)
        if not value:
            return default
        if not re.fullmatch(r"-?[0-9]{1,18}", value) or int(value) < least:
            self.refuse(name, f"must be a whole number from {least} up, not {value[:40]!r}")
        return int(value)

    def number(self, name: str, default: float) -> float:
        """An option that is a finite number, not below 0."""
        value = self.take(name)
        if not value:
            return default
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (math.isfinite(number) and number >= 0):
            self.refuse(name, f"must be a number from 0 up, not {value!r}")
        return number

    def one_of(self, name: str, choices: tuple[str, ...]) -> str:
        """An option that is one of some words; the first is the default."""
        value = self.take(name, choices[0])
        if value not in choices:
            self.refuse(name, f"must be one of {', '.join(choices)}, not {value!r}")
        return value

    def rest(self) -> dict[str, str]:
        """What nobody took yet; all of it counts as taken."""
        rest = {name: value for name, value in self.values.items() if name not in self.known}
        self.known.update(rest)
        return rest

    def refuse(self, name: str, why: str) -> NoReturn:
        """Refuse an option's value."""
        raise UserError(f"{self.text!r}: the option {name} {why}")

    def finish(self) -> None:
        """Refuse what nobody took.

        Raises:
            UnknownNameError: An option that does not exist here, with near matches.
        """
        for name in self.values:
            if name not in self.known:
                raise UnknownNameError(f"option of {self.text!r}:", name, self.known)
