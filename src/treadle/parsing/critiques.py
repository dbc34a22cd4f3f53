"""Reading what a critic says of each of several candidates."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from typing import Any

from treadle.parsing.json_reply import fields_of, items_of, json_reply
from treadle.parsing.thinking import without_thinking

_MARKS = " \t\r>*_`#-"
_TAG = re.compile(r"<(?P<close>/?)critique[_ -]?(?P<number>[0-9]{1,6})[ \t]*>", re.IGNORECASE)
_ENDS = re.compile(r"[ \t*_`.]*+(?:\n|\Z|</?critique)", re.IGNORECASE)
_SIDES = r"(?:strengths?|weakness(?:es)?)[*_`]*+[ \t]*+(?:[:–—-]|$)"
_BOLD = r"[ \t>*_`#•+-]*+"
_SIDE = re.compile(_SIDES, re.IGNORECASE | re.MULTILINE)
_SIDE_LINE = re.compile(rf"^{_BOLD}{_SIDES}", re.IGNORECASE | re.MULTILINE)
_EITHER = re.compile(rf"{_BOLD}{_SIDES}", re.IGNORECASE | re.MULTILINE)
_STRENGTHS = re.compile(rf"{_BOLD}(?=strength){_SIDES}", re.IGNORECASE | re.MULTILINE)
_HEADING = re.compile(
    r"^[ \t>*_`#-]*+(?:"
    r"(?P<word>(?:critique(?:[ ](?:of|for|on))?[ ])?(?:candidate|reply|answer|response|critique))[ _#]*+"
    r"(?P<named>[0-9]{1,6})|\[(?P<bracketed>[0-9]{1,6})\]|(?P<bare>[0-9]{1,6})(?=[.):*_\s]))"
    r"[*_`.):]*+[ \t]*+(?:[–—-][ \t]+)?",
    re.IGNORECASE | re.MULTILINE,
)
_BLANK = re.compile(r"\s*")
_RULE = re.compile(r"\n[ \t]*[-*_=]{3,}[ \t]*\Z")
_NUMBER_KEYS = ("candidate", "number", "id", "index")
_NUMBER = re.compile(r"\D{0,20}(?P<number>[0-9]{1,6})\D{0,3}")


def critiques(reply: str, count: int) -> dict[int, str]:
    """Read the critiques of a reply, by the numbers of the candidates that they are of.

    Thoughts are taken out first. The first kind that is there: blocks between ``<critique_1>`` and ``</critique_1>``,
    where an opening tag counts only at the start of a line or right behind another block, all up to the closing tag
    belongs to the block, and a block that is never closed ends where the next one begins; a reply that is JSON, by
    number or a list of exactly ``count``; headings (``Candidate 1:``, ``### 1``, ``[1]``) that "Strengths" follows. Of
    two critiques of one candidate the last counts. With one candidate, a reply in which a line begins with "Strengths"
    or "Weaknesses" is its critique.

    Args:
        reply: A critic's reply.
        count: How many candidates were shown, numbered from 1.

    Returns:
        The critiques that say something; candidates without one are not there.
    """
    text = without_thinking(reply).strip()
    found = _tagged(text) or _from_json(text, count) or _headed(text)
    if not found and count == 1 and _SIDE_LINE.search(text):
        found = {1: text}
    cleaned = {number: _RULE.sub("", body.strip()).strip() for number, body in found.items() if 1 <= number <= count}
    return {number: body for number, body in cleaned.items() if _says_something(body)}


def _says_something(body: str) -> bool:
    return re.search(r"[^\W_]", _SIDE.sub("", body)) is not None


def _tagged(text: str) -> dict[int, str]:
    tags = list(_TAG.finditer(text))
    closing: dict[int, list[int]] = defaultdict(list)
    for tag in tags:
        if tag["close"] and _ENDS.match(text, tag.end()):
            closing[int(tag["number"])].append(tag.start())
    found: dict[int, str] = {}
    opened: re.Match[str] | None = None
    closed_at = previous = 0
    for tag in tags:
        begin, previous = previous, tag.end()
        before = text[begin : tag.start()].rpartition("\n")[2]
        if tag["close"] or tag.start() < closed_at or before.strip(_MARKS):
            continue
        if opened is not None:
            found[int(opened["number"])] = text[opened.end() : tag.start()]
        opened = tag
        ends = closing[int(tag["number"])]
        place = bisect_left(ends, tag.end())
        if place < len(ends):
            found[int(tag["number"])] = text[tag.end() : ends[place]]
            opened, closed_at = None, ends[place]
    if opened is not None:
        found[int(opened["number"])] = text[opened.end() :]
    return found


def _headed(text: str) -> dict[int, str]:
    headings: list[tuple[int, int, int]] = []
    for found in _HEADING.finditer(text):
        blank = _BLANK.match(text, found.end())
        begin = blank.end() if blank else found.end()
        # A bare number may be a citation or an item of a list; what stands below it tells.
        if (_EITHER if found["word"] else _STRENGTHS).match(text, begin):
            headings.append((found.start(), begin, int(found["named"] or found["bracketed"] or found["bare"])))
    ends = [start for start, _, _ in headings[1:]] + [len(text)]
    return {number: text[begin:end] for (_, begin, number), end in zip(headings, ends, strict=False)}


def _from_json(text: str, count: int) -> dict[int, str]:
    value = json_reply(text)
    value = fields_of(value).get("critiques", value)
    fields, items = fields_of(value), items_of(value)
    numbers = [_NUMBER.fullmatch(key) for key in fields] or [_number_of(item) for item in items]
    found = {
        int(number["number"]): _words(part)
        for number, part in zip(numbers, fields.values() or items, strict=True)
        if number is not None
    }
    if not found and len(items) == count:
        found = {place: _words(item) for place, item in enumerate(items, 1)}
    return {number: words for number, words in found.items() if words}


def _number_of(item: Any) -> re.Match[str] | None:
    fields = fields_of(item)
    return next((_NUMBER.fullmatch(str(fields[key])) for key in _NUMBER_KEYS if key in fields), None)


def _words(value: Any) -> str:
    if isinstance(value, str):
        return value
    if items := items_of(value):
        return "; ".join(map(_words, items))
    kept = [(name, _words(part)) for name, part in fields_of(value).items() if name.casefold() not in _NUMBER_KEYS]
    return "\n".join(f"{name.capitalize()}: {words}" for name, words in kept if words)
