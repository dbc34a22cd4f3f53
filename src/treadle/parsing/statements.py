"""Reading check statements, and which of them a reply is said to pass."""

from __future__ import annotations

import re
from typing import Any

from treadle.parsing.json_reply import fields_of, first_field, items_of, json_reply
from treadle.parsing.thinking import without_thinking

_NUMBERED = re.compile(r"(?P<indent>[ \t]*)[*_`>#]*(?:\((?:[0-9]{1,3})\)|[0-9]{1,3}[.):])[*_`]*[ \t]+(?P<text>[^\s].*)")
_DASHED = re.compile(r"(?P<indent>[ \t]*)[-*•–+](?:[ \t]+\[[ xX]?\])?[ \t]+(?P<text>[^\s].*)")
_LINE = re.compile(
    r"^[ \t>*_`#•+\-\[(|]*+(?:(?:check|statement|test|item|no\.)[ _#]*+)?(?P<number>[0-9]{1,3})[\])*_`]*+[ \t]*+"
    r"[.:)=|–—>-]+(?P<rest>.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_WORD = (
    r"(?P<deny>(?:[a-z]{1,5}n['’]t|(?:(?:does|did|do|is)[ ])?(?:not|never))[ ])?"
    r"(?:(?P<good>pass(?:es|ed)?)|fail(?:s|ed|ure)?)(?![\w’'-])"
)
_FIRST = re.compile(rf"[\s*_`\[(\"'|>-]*+{_WORD}(?P<more>.*)", re.IGNORECASE)
_LAST = re.compile(rf"(?:[:–—→=|(\[>]|[ ]-)[\s*_`\[(\"']*+{_WORD}\Z", re.IGNORECASE)
_OFFERED = re.compile(r"[*_`\"']*\s*(?:/|\||,?\s*or\b)[\s*_`\"']*(?:pass|fail)", re.IGNORECASE)
_TAIL = 60
_TEXT_KEYS = ("statement", "check", "test", "text", "description")
_RESULT_KEYS = ("result", "verdict", "outcome", "status", "pass", "passed")
_NUMBER_KEYS = ("number", "id", "check", "statement", "index")


def listed(reply: str) -> tuple[str, ...]:
    """Read the statements of a list.

    Thoughts are taken out first. A reply that is JSON (a list of texts, or of objects with a ``statement``); numbered
    lines where there are any; else lines with a dash. What is indented below an item is no item of its own; equal ones
    count once.

    Args:
        reply: What a writer of check statements said.

    Returns:
        Each on one line without bold marks, in their order.
    """
    text = without_thinking(reply).strip()
    unique: dict[str, str] = {}
    for item in _listed_json(text) or _items(text, _NUMBERED) or _items(text, _DASHED):
        words = " ".join(item.replace("**", "").replace("__", "").split())
        if re.search(r"[^\W_]", words):
            unique.setdefault(words.casefold(), words)
    return tuple(unique.values())


def outcomes(reply: str, count: int) -> dict[int, bool]:
    """Read which statements a reply is said to pass.

    Thoughts are taken out first. Lines that begin with a number, followed by ``pass`` or ``fail`` at once or, behind a
    colon or dash, at their end; ``not pass`` is a failure, words that only begin like these are none of them, and a
    line that offers both says nothing. Of two lines with one number the last counts. A reply that is JSON: by number,
    or a list of exactly ``count``.

    Args:
        reply: A checker's reply.
        count: How many statements there are, numbered from 1.

    Returns:
        Whether each statement is passed; statements of which nothing can be read are not there.
    """
    text = without_thinking(reply).strip()
    said = _outcomes_json(text, count) or [(line["number"], line["rest"]) for line in _LINE.finditer(text)]
    read = {int(number): passed for number, words in said if (passed := _passed(words)) is not None}
    return {number: passed for number, passed in read.items() if 1 <= number <= count}


def _passed(words: Any) -> bool | None:
    if not isinstance(words, str):
        return words if isinstance(words, bool) else None
    said = _FIRST.fullmatch(words)
    if said is not None and _OFFERED.match(said["more"]):
        return None
    said = said or _LAST.search(words.rstrip(" \t\r*_`])\"'.!|")[-_TAIL:])
    return None if said is None else (said["good"] is None) == (said["deny"] is not None)


def _items(text: str, pattern: re.Pattern[str]) -> list[str]:
    found = [match for line in text.split("\n") if (match := pattern.fullmatch(line.rstrip()))]
    indents = [len(match["indent"].expandtabs(4)) for match in found]
    # The first line of a reply may have lost its indentation.
    outer = min(indents[1:] or indents, default=0)
    return [match["text"] for match, indent in zip(found, indents, strict=True) if indent < outer + 2]


def _listed_json(text: str) -> list[str]:
    value = json_reply(text)
    inner = [part for part in map(items_of, fields_of(value).values()) if part]
    items = inner[0] if len(inner) == 1 else items_of(value)
    return [words for item in items if isinstance(words := first_field(item, _TEXT_KEYS), str)]


def _outcomes_json(text: str, count: int) -> list[tuple[str, Any]]:
    value = json_reply(text)
    inner = list(fields_of(value).values())
    if len(inner) == 1 and (items_of(inner[0]) or fields_of(inner[0])):
        value = inner[0]
    items = items_of(value)
    numbered = [str(first_field(item, _NUMBER_KEYS)) if fields_of(item) else "" for item in items]
    if "" in numbered and len(items) == count:
        numbered = [str(place) for place in range(1, count + 1)]
    pairs = list(fields_of(value).items()) or list(zip(numbered, items, strict=True))
    found = [(re.fullmatch(r"\D{0,12}([0-9]{1,3})", key), first_field(part, _RESULT_KEYS)) for key, part in pairs]
    return [(number[1], result) for number, result in found if number is not None]
