r"""LaTeX answers in a plain form, and the comparisons that need no algebra.

Format counts for nothing: delimiters, spacing, ``\dfrac``, ``\text``, units after a number (a percent sign is one:
50 % is 50, not 0.5), thousands separators (also spaces), ``x \in``, the suffix of a base that the other answer leaves
out. Brackets count: ``(12,500)`` is a pair, ``[-1,4]`` is not ``(-1,4)``. Bare lists and sets are compared without
order, pairs and intervals in order. A decimal equals a fraction when it rounds it to six places or more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

LONGEST = 2_000
"""Longer answers are equal only as texts."""

_TOLERANCE = Fraction(1, 10**6)

_REPLACED = (
    ("\u2212", "-"),
    ("\u00d7", r"\times "),
    ("\u03c0", r"\pi "),
    ("\u221e", r"\infty "),
    ("\u00b0", r"^\circ"),
    (r"\dfrac", r"\frac"),
    (r"\tfrac", r"\frac"),
    (r"\cfrac", r"\frac"),
    (r"\left", ""),
    (r"\right", ""),
    (r"\$", ""),
    ("$", ""),
    ("{,}", ","),
    ("**", "^"),
    ("~", " "),
)
_SPACES = re.compile(r"(?<!\\)\\[!,;:> ]|\\q?quad\b|\\displaystyle\b")
_DELIMITERS = re.compile(r"(?<!\\)\\[\[\]()]")
_THOUSANDS = re.compile(r"(?<![\d.,])(?<!\d )(?<!frac )[1-9]\d{0,2}(?: \d{3})+(?! ?\d)")
_BETWEEN = re.compile(r"(?<!\d) | (?!\d)")
_ASSIGNED = re.compile(r"[a-zA-Z]\s*=\s*([^=]+)")
_TEXT = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox|operatorname)\s*\{([^{}]*)\}")
_NUMBER = r"-?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?"
_UNIT = re.compile(
    rf"({_NUMBER}|-?\\frac(?:\{{-?\d+\}}|\d)(?:\{{\d+\}}|\d))(?<=[\d}}])"
    r"\s*(?:\\text\s*\{[^{}]*\}|\\mathrm\s*\{[^{}]*\}|(?<=.)\s[a-z]{2,}(?:\s[a-z]{2,})*\.?|\^\\circ|\^\{\\circ\}|\\degree)"
    r"(?:\^\{?\d\}?)?"
)
_NOT_UNITS = re.compile(r"\b(?:pi|sqrt|sin|cos|tan|sec|csc|cot|log|ln|exp|and|or|times|cdot)\b")
_PLAIN = re.compile(rf"(?=.*\d){_NUMBER}(?:[eE][+-]?\d{{1,3}})?")
_FRACTION = re.compile(r"(-?)\\frac(?:\{(-?\d+)\}|(\d))(?:\{(-?\d+)\}|(\d))|(-?\d+)/(\d+)")
_BASE = re.compile(r"([0-9A-Z]+)_(?:\{(\d+)\}|(\d+))")
_MEMBER = re.compile(r"[a-zA-Z]\s*\\in\s*(?=[\[({\\])")
_WORDS = re.compile(r"[A-Za-z'\u2019-]+(?: [A-Za-z'\u2019-]+)*")
_PAIRED = {"(": ")", "[": "]", r"\{": r"\}"}


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts between brackets; ``opened`` and ``closed`` are empty for a bare list."""

    opened: str
    closed: str
    parts: tuple[str, ...]

    @property
    def unordered(self) -> bool:
        """Whether the order of the parts is no matter."""
        return self.opened in {"", r"\{"}


def plain_latex(text: str) -> str:
    """An answer without what is only format.

    Args:
        text: LaTeX or plain text.
    """
    if len(text) > LONGEST:
        return text.strip()
    text = re.sub(r",\\!\s*", ",", text.strip())
    for old, new in _REPLACED:
        text = text.replace(old, new)
    text = _DELIMITERS.sub("", _SPACES.sub(" ", text))
    text = re.sub(r"\s*\\?%", "", text)
    text = _MEMBER.sub("", text.strip().rstrip(".").strip())
    unit = _UNIT.fullmatch(text)
    if unit and not _NOT_UNITS.search(text, unit.end(1)):
        text = unit.group(1)
    text = re.sub(r"\s+(?:and|or)\s+|\\text\s*\{\s*(?:and|or)\s*\}", ", ", text)
    text = _TEXT.sub(r"\1", text).strip()
    letter = re.fullmatch(r"\(([A-Za-z])\)", text)
    return _THOUSANDS.sub(lambda found: found[0].replace(" ", ""), " ".join((letter[1] if letter else text).split()))


def rational(text: str) -> Fraction | None:
    """The number that a plain form writes in digits: whole, decimal, scientific, or a fraction of whole numbers."""
    compact = text if ", " in text else _BETWEEN.sub("", text)
    if _PLAIN.fullmatch(compact):
        return Fraction(compact.replace(",", ""))
    match = _FRACTION.fullmatch(compact)
    if match is None:
        return None
    sign, a, b, c, d, top, bottom = match.groups()
    upper, lower = int(top or a or b), int(bottom or c or d)
    return Fraction(-upper if sign else upper, lower) if lower else None


def same_rational(first: str, second: str) -> bool | None:
    """Whether two plain forms are the same number; ``None`` when not both are numbers."""
    a, b = rational(first), rational(second)
    if a is None or b is None:
        return None
    if a == b or _is_decimal(first) == _is_decimal(second):
        return a == b
    difference = abs(a - b)
    return difference <= _TOLERANCE and difference <= _TOLERANCE * max(abs(a), abs(b))


def sequence(text: str) -> Sequence | None:
    """A pair, interval, set or bare list taken apart; ``None`` for anything else."""
    for opened in _PAIRED:
        closed = next((end for end in _PAIRED.values() if text.endswith(end) and text != end), "")
        if text.startswith(opened) and closed and (closed == r"\}") == (opened == r"\{"):
            parts = _split(text[len(opened) : -len(closed)])
            if parts is not None and (len(parts) > 1 or opened == r"\{"):
                return Sequence(opened, closed, parts)
    parts = None if rational(text) is not None else _split(text)
    return Sequence("", "", parts) if parts is not None and len(parts) > 1 else None


def compare(a: str, b: str, ask: Callable[[str, str], bool]) -> bool:
    """Whether two answers are equal.

    Args:
        a: An answer in its plain form.
        b: Another one.
        ask: Compares two forms that need algebra.
    """
    if _spelling(a) == _spelling(b):
        return True
    if max(len(a), len(b)) > LONGEST or not a or not b:
        return False
    if ("=" in a) != ("=" in b):
        assigned, other = (a, b) if "=" in a else (b, a)
        match = _ASSIGNED.fullmatch(assigned)
        return compare(match.group(1), other, ask) if match else ask(a, b)
    decided = _without_algebra(a, b)
    if decided is not None:
        return decided
    first, second = sequence(a), sequence(b)
    if (first and rational(b) is not None) or (second and rational(a) is not None):
        return False
    if first is None or second is None or r"\pm" in a + b:
        return ask(a, b)
    if len(first.parts) != len(second.parts) or not _same_brackets(first, second):
        return False
    if first.unordered and second.unordered:
        return _match(first.parts, second.parts, ask)
    return all(compare(x, y, ask) for x, y in zip(first.parts, second.parts, strict=True))


def _spelling(text: str) -> str:
    tight = _BETWEEN.sub("", text)
    # Case tells commands apart, such as capital and small Greek letters.
    return tight if "\\" in tight else tight.casefold()


def _without_algebra(a: str, b: str) -> bool | None:
    bases = _BASE.fullmatch(a), _BASE.fullmatch(b)
    if all(bases):
        return _digits(a) == _digits(b)
    if any(bases):
        return a.partition("_")[0] == b.partition("_")[0]
    if _are_words(a, b):
        return False
    return same_rational(a, b)


def _digits(text: str) -> str:
    return text.replace("{", "").replace("}", "")


def _are_words(a: str, b: str) -> bool:
    """Whether one is a word longer than a product of variables would be, and the other words or a number."""
    plain = [rational(text) is not None or _WORDS.fullmatch(text) is not None for text in (a, b)]
    return all(plain) and any(len(word) > 3 and word.isalpha() for word in f"{a} {b}".split())


def _is_decimal(text: str) -> bool:
    return "." in text or "e" in text.lower()


def _same_brackets(a: Sequence, b: Sequence) -> bool:
    if not a.opened or not b.opened:
        # A bare list may stand for a set or for a pair, never for an interval with an end of its own.
        bracketed = a if a.opened else b
        return _PAIRED.get(bracketed.opened, "") == bracketed.closed != "]"
    return (a.opened, a.closed) == (b.opened, b.closed)


def _match(left: tuple[str, ...], right: tuple[str, ...], ask: Callable[[str, str], bool]) -> bool:
    if not left:
        return True
    return any(
        compare(left[0], other, ask) and _match(left[1:], right[:place] + right[place + 1 :], ask)
        for place, other in enumerate(right)
    )


def _split(text: str) -> tuple[str, ...] | None:
    """The parts between top-level commas; ``None`` when the brackets do not pair."""
    depth, start = 0, 0
    parts: list[str] = []
    for place, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth < 0:
                return None
        elif character == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    parts.append(text[start:].strip())
    return tuple(parts) if depth == 0 and all(parts) else None
