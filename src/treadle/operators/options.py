"""Lettered options in a question: reading them, putting them in another order, and reading answers back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_OPTION = re.compile(r"(?P<open>\s*\(?)(?P<letter>[A-Z])(?P<close>[).:]\s+)(?P<text>\S.*)")
_REFERS = re.compile(
    r"\b(above|below|both|neither|either|(all|none|any|some|two) of|\(?[A-Z]\)? (and|or|&) \(?[A-Z]\b)", re.IGNORECASE
)
_ANSWER_CUE = re.compile(r"\s*(your )?(final )?answer\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a question.

    Attributes:
        before: The lines before them.
        lines: What stands around each letter and the option's text: (before the letter, letter, after it, text).
        after: The lines after them.
    """

    before: tuple[str, ...]
    lines: tuple[tuple[str, str, str, str], ...]
    after: tuple[str, ...]

    @property
    def letters(self) -> tuple[str, ...]:
        """A, B, C and so on."""
        return tuple(letter for _, letter, _, _ in self.lines)

    def in_order(self, order: Sequence[int]) -> str:
        """The question with its options' texts in another order under the same letters.

        Args:
            order: For each letter, the place of the text that it gets.
        """
        lines = [
            f"{opening}{letter}{closing}{self.lines[order[place]][3]}"
            for place, (opening, letter, closing, _) in enumerate(self.lines)
        ]
        return "\n".join((*self.before, *lines, *self.after))


def read_options(question: str) -> Options | None:
    """The last list of lettered options in a question, if their order can be changed without harm.

    Returns:
        ``None`` when there is no list of at least two lines that begin with A, B, … in turn, when an option goes on
        over several lines, and when an option speaks of others ("none of the above", "both A and B").
    """
    lines = question.split("\n")
    found = [_OPTION.fullmatch(line) for line in lines]
    starts = [place for place, match in enumerate(found) if match and match["letter"] == "A"]
    if not starts:
        return None
    start = end = starts[-1]
    parts: list[tuple[str, str, str, str]] = []
    while end < len(lines) and (match := found[end]) and match["letter"] == chr(ord("A") + end - start):
        parts.append((match["open"], match["letter"], match["close"], match["text"]))
        end += 1
    goes_on = end < len(lines) and lines[end].strip() and not _ANSWER_CUE.match(lines[end])
    if len(parts) < 2 or goes_on or any(found[end:]) or any(_REFERS.search(text) for *_, text in parts):
        return None
    return Options(tuple(lines[:start]), tuple(parts), tuple(lines[end:]))
