"""The last line of a simulated judge or critic, in the form that the prompt asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from treadle.models.base import Message
from treadle.models.simulated_schema import Belief, answers_shown

_CANDIDATE = re.compile(r"<candidate_(?P<number>\d+)>(?P<text>.*?)</candidate_(?P=number)>", re.DOTALL)
_GOOD, _BAD = (8, 9, 10), (1, 2, 3)


Write = Callable[[Sequence[Message], Belief], str]


def verdict_form(messages: Sequence[Message]) -> Write | None:
    """What writes the line that a prompt asks for, given the prompt and what the model takes for right.

    Known forms are ``Best: n``, ``Rating: [[n]]``, ``[[A]]``/``[[B]]``/``[[C]]``, and ``NO CHANGES``.

    Args:
        messages: The prompt; what its system turns and its last user turn ask for counts.

    Returns:
        ``None`` when the prompt asks for an answer.
    """
    asked = [message.content for message in messages if message.role == "system"]
    asked += [message.content for message in messages if message.role == "user"][-1:]
    return next((write for form, write in _FORMS.items() if any(form in text for text in asked)), None)


def _best(messages: Sequence[Message], belief: Belief) -> str:
    candidates = [found for message in messages for found in _CANDIDATE.finditer(message.content)]
    agreeing = [
        candidate["number"]
        for candidate in candidates
        if belief.answer in answers_shown([Message("assistant", candidate["text"])])[-1:]
    ]
    numbers = agreeing[:1] or [candidate["number"] for candidate in candidates] or ["1"]
    return f"Best: {belief.pick(numbers, 'best')}"


def _rating(messages: Sequence[Message], belief: Belief) -> str:
    return f"Rating: [[{belief.pick(_GOOD if belief.answer in belief.shown[-1:] else _BAD, 'rating')}]]"


def _pair(messages: Sequence[Message], belief: Belief) -> str:
    first, second = (belief.answer == answer for answer in ("", "", *belief.shown)[-2:])
    return "[[C]]" if first == second else "[[A]]" if first else "[[B]]"


def _critique(messages: Sequence[Message], belief: Belief) -> str:
    if belief.answer in belief.shown[-1:]:
        return "NO CHANGES"
    return f"The answer given seems wrong; {belief.answer} seems right."


_FORMS: dict[str, Write] = {
    '"Best: n"': _best,
    '"Rating: [[n]]"': _rating,
    '"[[A]]"': _pair,
    "NO CHANGES": _critique,
}
