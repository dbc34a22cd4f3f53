"""The answers to a question of several turns, as one answer."""

from __future__ import annotations

from collections.abc import Sequence


class Dialogue(str):
    """The answers to the turns of a question, in order: a ``str`` whose text shows all of them.

    Args:
        turns: The answers; at least one.
    """

    turns: tuple[str, ...]

    def __new__(cls, turns: Sequence[str]) -> Dialogue:  # noqa: D102  the class says it
        shown = "\n\n".join(f"[turn {number}]\n{answer}" for number, answer in enumerate(turns, 1))
        dialogue = super().__new__(cls, shown)
        dialogue.turns = tuple(turns)
        return dialogue


def answers_of(answer: str) -> tuple[str, ...]:
    """The answers to a question's turns; a plain text is the answer to its only one."""
    return answer.turns if isinstance(answer, Dialogue) else (answer,)
