"""Reading the order in which a ranker puts what it was shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from treadle.parsing.json_reply import fields_of, items_of, json_reply
from treadle.parsing.thinking import without_thinking

_LABEL = re.compile(
    r"^[ \t>#*_`~•+\-]*+(?:(?:final|overall|my|the|best)[ ]){0,3}+rank(?:ings?|ed[ ](?:list|order))(?:[ ]is(?![a-z]))?"
    r"[*_` \t]*+[:=]?(?P<rest>.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_WHO = r"(?:(?:candidate|reply|answer|response|number|no\.)[ _#]*+)"
_ITEM = re.compile(
    rf"[ \t\[(#*_`\"']*+{_WHO}?(?P<number>[0-9]{{1,6}})(?![0-9A-Za-z%]|[.:/][0-9])[\])*_`\"']*+", re.IGNORECASE
)
_NEXT = re.compile(r"[ \t]*+(?:>+=?|[-=]+>|≻|→|≥|=|,|;)")
_NOTHING_MORE = re.compile(r"[\s.*_`\])}\"']*")
_PLACED = re.compile(
    rf"[ \t>*_`#-]*+(?P<place>[0-9]{{1,4}})(?:st|nd|rd|th)?[.):]+[ \t]+[*_`\"#]*+"
    rf"(?:{_WHO}(?P<named>[0-9]{{1,6}})|[\[(](?P<bracketed>[0-9]{{1,6}})[\])]"
    r"|(?P<bare>[0-9]{1,6})(?=[ \t*_`\"]*(?:$|[:(–—-])))(?![0-9A-Za-z%]|[.,][0-9])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Ranking:
    """An order that a reply gives.

    Attributes:
        order: Numbers from 1, the best first; each is of something that was shown, and stands once.
        rejected: Numbers of nothing that was shown and repeated ones, as they came.
    """

    order: tuple[int, ...]
    rejected: tuple[int, ...] = ()


def ranking(reply: str, count: int) -> Ranking | None:
    """Read the ranking of a reply.

    Thoughts are taken out first. ``Ranking: 3 > 1 > 2`` at the start of a line (marks, brackets, ``Candidate 3``, and
    commas in place of ``>`` are forgiven; so is a list of places below the word); the last such line that can be read
    counts. Where there is none: a reply that is JSON (a list, or an object with a ``ranking``), else the last line that
    is nothing but numbers with ``>`` between them, else a reply that is nothing but numbers. Of a repeated number the
    first mention counts.

    Args:
        reply: A ranker's reply.
        count: How many were shown, numbered from 1.

    Returns:
        ``None`` when no known number stands in a ranking, or it counts from 0.
    """
    text = without_thinking(reply).replace("&gt;", ">")
    for label in reversed(list(_LABEL.finditer(text))):
        read = _known(_sequence(label["rest"]) or _below(text, label), count)
        if read is not None:
            return read
    return _known(_unlabelled(text), count)


def _known(numbers: list[int], count: int) -> Ranking | None:
    if 0 in numbers:
        # It counts from another start, so that every number may mean its neighbour.
        return None
    order: list[int] = []
    rejected: list[int] = []
    seen: set[int] = set()
    for number in numbers:
        (rejected if number > count or number in seen else order).append(number)
        seen.add(number)
    return Ranking(tuple(order), tuple(rejected)) if order else None


def _sequence(line: str, *, whole: bool = False) -> list[int]:
    numbers: list[int] = []
    position = end = 0
    while (item := _ITEM.match(line, position)) is not None:
        numbers.append(int(item["number"]))
        end = item.end()
        separator = _NEXT.match(line, end)
        if separator is None:
            break
        position = separator.end()
    # One number that words follow is a count or a remark, no ranking.
    if (whole or len(numbers) == 1) and not _NOTHING_MORE.fullmatch(line, end):
        return []
    return numbers


def _below(text: str, label: re.Match[str]) -> list[int]:
    if not _NOTHING_MORE.fullmatch(label["rest"].strip()):
        return []
    numbers: list[int] = []
    for line in _lines(text, label.end()):
        placed = _PLACED.match(line)
        if placed is not None and int(placed["place"]) == len(numbers) + 1:
            numbers.append(int(placed["named"] or placed["bracketed"] or placed["bare"]))
        elif not numbers:
            return _sequence(line)
    return numbers


def _lines(text: str, begin: int) -> Iterator[str]:
    """The lines with words from a position up to the next label."""
    while 0 <= begin < len(text):
        end = text.find("\n", begin)
        end = end if end >= 0 else len(text)
        line = text[begin:end]
        if _LABEL.match(line):
            return
        if line.strip():
            yield line
        begin = end + 1


def _unlabelled(text: str) -> list[int]:
    value = json_reply(text)
    items = items_of(fields_of(value).get("ranking", value))
    if items:
        return [item for item in items if type(item) is int]
    for line in reversed(text.split("\n")):
        if ">" in line and len(numbers := _sequence(line, whole=True)) > 1:
            return numbers
    return _sequence(text.strip(), whole=True)
