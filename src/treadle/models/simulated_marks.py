"""What the replies of the simulated surface ``archon`` carry openly: their quality, a critic's estimate, a statement.

A quality bears the question that it belongs to, and a seal, so that a text that was not written by a simulated model of
this very question has none.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from hashlib import blake2b

_QUALITY = re.compile(
    r"\[quality (?P<value>-?\d\.\d{4}), looks (?P<looks>-?\d\.\d{4}), of question (?P<key>[^\s,\]]+), "
    r"seal (?P<seal>[0-9a-f]{8})\]"
)
_ESTIMATE = re.compile(r"\[estimate (?P<value>-?\d\.\d{4})\]")
_STATEMENT = re.compile(r"\[passes (?:from (?P<value>-?\d\.\d{4})|anything)\]")
_MOST = 9.9999


@dataclass(frozen=True, slots=True)
class Mark:
    """What a reply carries.

    Attributes:
        key: The question's id.
        quality: In latent units; kept to four decimals within ±10.
        looks: What the quality looks like to everybody who reads the reply.
    """

    key: str
    quality: float
    looks: float

    def __str__(self) -> str:
        values = f"quality {_written(self.quality)}, looks {_written(self.looks)}"
        return f"[{values}, of question {self.key}, seal {_seal(values, self.key)}]"


def marks(text: str, key: str | None = None) -> list[Mark]:
    """The sealed marks of a text, in order.

    Args:
        text: A reply, or a prompt that shows some.
        key: Only those of this question.
    """
    found = [
        (each, Mark(each["key"], float(each["value"]), float(each["looks"])))
        for each in _QUALITY.finditer(text)
        if key is None or each["key"] == key
    ]
    return [mark for each, mark in found if each[0] == str(mark)]


def estimate_mark(estimate: float) -> str:
    """The mark of what a critic takes a candidate's quality for."""
    return f"[estimate {_written(estimate)}]"


def estimates(text: str) -> list[float]:
    """The estimates in a text, in order."""
    return [float(found["value"]) for found in _ESTIMATE.finditer(text)]


def statement_mark(least: float) -> str:
    """The mark of the quality from which a check statement passes; minus infinity for one that passes anything."""
    return "[passes anything]" if least == -math.inf else f"[passes from {_written(least)}]"


def statements(text: str) -> list[float]:
    """The qualities from which the statements in a text pass, in order."""
    return [float(found["value"] or "-inf") for found in _STATEMENT.finditer(text)]


def _written(value: float) -> str:
    text = f"{min(max(value, -_MOST), _MOST):.4f}"
    return "0.0000" if text == "-0.0000" else text


def _seal(values: str, key: str) -> str:
    return blake2b(f"{values}\x1f{key}".encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
