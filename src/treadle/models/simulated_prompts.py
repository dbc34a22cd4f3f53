"""What a prompt shows and asks for, as the models of the simulated surface ``archon`` see it: by its words alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from treadle.models.base import Message
from treadle.models.simulated_marks import Mark, estimates, marks, statements
from treadle.models.simulated_surface import STATEMENTS

Form = Literal[
    "reply", "ranking", "verdict", "statements", "checks", "critiques", "best", "rating", "pair", "review", "reasoning"
]
_REPLY: Form = "reply"
FORMS: dict[str, Form] = {
    '"Ranking: a > b > c"': "ranking",
    '"Verdict: correct"': "verdict",
    "numbered list of check statements": "statements",
    '"1: pass"': "checks",
    '"Strengths: ..."': "critiques",
    '"Best: n"': "best",
    '"Rating: [[n]]"': "rating",
    '"[[A]]"': "pair",
    "NO CHANGES": "review",
    "a verdict is asked for afterwards": "reasoning",
}
"""The words by which a form is known."""
SILENT = -3.0
"""The quality that a shown text has which bears no mark of the question."""
_CANDIDATE = re.compile(
    r"<candidate_(?P<number>\d+)>(?P<text>.*?)</candidate_(?P=number)>"
    r"(?:\n<critique_(?P=number)>(?P<critique>.*?)</critique_(?P=number)>)?",
    re.DOTALL,
)
_COUNT = re.compile(r"check statements(?: that are not yet there)?, (?P<least>\d+)(?: to (?P<most>\d+))? of them")
_WANTED = re.compile(r"Name only the best (?:(?P<count>\d+)|one)\b")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a prompt holds.

    Attributes:
        form: What it asks for.
        replies: The marks of the replies that it shows, in their order.
        estimates: A critic's estimate of each of them; ``None`` where there is none at all.
        checks: The qualities from which the check statements that it lists pass.
        wanted: How many statements or places of a ranking it asks for.
    """

    form: Form
    replies: tuple[Mark, ...]
    estimates: tuple[float, ...] | None
    checks: tuple[float, ...]
    wanted: int


def shown(messages: Sequence[Message], key: str) -> Shown:
    """Read a prompt.

    Candidates stand between ``<candidate_1>`` tags, each followed by its critique where it has one; where there are
    none, every marked reply to the question that the chat holds counts as one.

    Args:
        messages: The prompt.
        key: The question's id.
    """
    text = "\n".join(message.content for message in messages)
    told = _CANDIDATE.sub("", "\n".join(_asked(messages)))
    forms: list[Form] = [form for words, form in FORMS.items() if words in told]
    form = forms[0] if forms else _REPLY
    blocks = list(_CANDIDATE.finditer(text))
    if blocks:
        found = tuple(_mark(block["text"], key) for block in blocks)
        critiques = [estimates(block["critique"] or "")[-1:] for block in blocks]
        known = tuple(own[0] if own else mark.looks for own, mark in zip(critiques, found, strict=True))
        heard = known if any(critiques) else None
    else:
        found = tuple(marks(text, key))
        loose = tuple(estimates(text))
        heard = loose if loose and len(loose) == len(found) else None
    return Shown(form, found, heard, tuple(statements(told)), _wanted(told, form, len(found)))


def _asked(messages: Sequence[Message]) -> list[str]:
    """What system turns and the last turn of the user say."""
    asked = [message.content for message in messages if message.role == "system"]
    return asked + [message.content for message in messages if message.role == "user"][-1:]


def _mark(text: str, key: str) -> Mark:
    found = marks(text, key)
    return found[-1] if found else Mark(key, SILENT, SILENT)


def _wanted(told: str, form: Form, candidates: int) -> int:
    if form == "statements":
        count = _COUNT.search(told)
        if count is None:
            return STATEMENTS
        least = int(count["least"])
        return max(least, min(STATEMENTS, int(count["most"] or least)))
    wanted = _WANTED.search(told) if form == "ranking" else None
    return candidates if wanted is None else min(candidates, int(wanted["count"] or 1))
