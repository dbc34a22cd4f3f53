"""What a simulated model says where a prompt asks for no answer but for a verdict, in the form that it asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from treadle.models.base import Message
from treadle.models.simulated_schema import Belief, answers_shown

_CANDIDATE = re.compile(r"<candidate_(?P<number>\d+)>(?P<text>.*?)</candidate_(?P=number)>", re.DOTALL)
_CHECKS = re.compile(r"<checks>(?P<text>.*?)</checks>", re.DOTALL)
_CHECK = re.compile(r"^(?P<number>\d+)\. ", re.MULTILINE)
_GOOD, _BAD = (8, 9, 10), (1, 2, 3)
_STATEMENTS = """\
1. The reply answers the question that was asked.
2. The answer that the reply gives is right.
3. The reply gives one answer and not several.
4. What the reply says is free of contradictions.
5. The answer is in the form that the question asks for."""

Write = Callable[[Sequence[Message], Belief], str]


def verdict_form(messages: Sequence[Message]) -> Write | None:
    """What writes the lines that a prompt asks for, given the prompt and what the model takes for right.

    Known forms are ``Best: n``, ``Ranking: a > b > c``, ``Verdict: correct``, blocks of ``Strengths: ...`` and
    ``Weaknesses: ...``, a ``numbered list of check statements``, ``1: pass``, ``Rating: [[n]]``,
    ``[[A]]``/``[[B]]``/``[[C]]``, and ``NO CHANGES``.

    Args:
        messages: The prompt; what its system turns and its last user turn ask for counts.

    Returns:
        ``None`` when the prompt asks for an answer.
    """
    asked = [message.content for message in messages if message.role == "system"]
    asked += [message.content for message in messages if message.role == "user"][-1:]
    return next((write for form, write in _FORMS.items() if any(form in text for text in asked)), None)


def _shown(messages: Sequence[Message], belief: Belief) -> dict[str, bool]:
    """The numbers of the candidates shown, and whether each gives the answer that the model takes for right."""
    return {
        found["number"]: belief.answer in answers_shown([Message("assistant", found["text"])])[-1:]
        for message in messages
        for found in _CANDIDATE.finditer(message.content)
    }


def _best(messages: Sequence[Message], belief: Belief) -> str:
    shown = _shown(messages, belief)
    agreeing = [number for number, agrees in shown.items() if agrees]
    return f"Best: {belief.pick(agreeing[:1] or list(shown) or ['1'], 'best')}"


def _ranking(messages: Sequence[Message], belief: Belief) -> str:
    shown = _shown(messages, belief)
    return f"Ranking: {' > '.join(sorted(shown, key=lambda number: not shown[number])) or '1'}"


def _correctness(messages: Sequence[Message], belief: Belief) -> str:
    return "Verdict: correct" if any(_shown(messages, belief).values()) else "Verdict: incorrect"


def _critiques(messages: Sequence[Message], belief: Belief) -> str:
    strong = "Strengths: what it comes to seems right.\nWeaknesses: none"
    weak = f"Strengths: none\nWeaknesses: what it comes to seems wrong; {belief.answer} seems right."
    return "\n".join(
        f"<critique_{number}>\n{strong if agrees else weak}\n</critique_{number}>"
        for number, agrees in _shown(messages, belief).items()
    )


def _statements(messages: Sequence[Message], belief: Belief) -> str:
    return _STATEMENTS


def _checks(messages: Sequence[Message], belief: Belief) -> str:
    result = "pass" if any(_shown(messages, belief).values()) else "fail"
    checks = [found["text"] for message in messages for found in _CHECKS.finditer(message.content)]
    return "\n".join(f"{found['number']}: {result}" for text in checks[-1:] for found in _CHECK.finditer(text))


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
    '"Ranking: a > b > c"': _ranking,
    '"Verdict: correct"': _correctness,
    '"Strengths: ..."': _critiques,
    "numbered list of check statements": _statements,
    '"1: pass"': _checks,
    '"Rating: [[n]]"': _rating,
    '"[[A]]"': _pair,
    "NO CHANGES": _critique,
}
