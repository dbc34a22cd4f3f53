"""The chat turns that operators send: those of the problem, with instructions around the last turn of the user."""

from __future__ import annotations

from treadle.ledger.problem import Problem
from treadle.models.base import Message

Turns = tuple[Message, ...]


def last_user_turn(turns: Turns) -> int | None:
    """The place of the last turn of the user, or ``None`` where there is none."""
    return next((place for place in reversed(range(len(turns))) if turns[place].role == "user"), None)


def question_text(problem: Problem) -> str:
    """What the user asked last, exactly as it stands."""
    place = last_user_turn(problem.messages)
    return str(problem) if place is None else problem.messages[place].content


def task_text(problem: Problem, otherwise: str = "", question: str | None = None) -> str:
    """What the user asked last, followed by how the answer is to be written.

    Args:
        problem: The question.
        otherwise: The sentence to use where the task has none of its own.
        question: Another wording of what the user asked last.
    """
    wanted = problem.answer_format or otherwise
    asked = question_text(problem) if question is None else question
    return f"{asked}\n\n{wanted}" if wanted else asked


def with_last_turn(problem: Problem, text: str) -> Turns:
    """The problem's chat with another text as the last turn of the user; all other turns as they are."""
    turns = problem.messages
    place = last_user_turn(turns)
    asked = Message("user", text)
    return (*turns, asked) if place is None else (*turns[:place], asked, *turns[place + 1 :])


def plain_turns(problem: Problem) -> Turns:
    """The problem as it is, and how its answer is to be written where the task says so."""
    return with_last_turn(problem, task_text(problem)) if problem.answer_format else problem.messages


def tagged(name: str, text: str) -> str:
    """A text between tags that it cannot close itself."""
    closing = f"</{name}"
    inside = text.replace(closing, f"< /{name}")
    return f"<{name}>\n{inside}\n{closing}>"


def again(turns: Turns, reply: str, words: str) -> Turns:
    """The turns with a reply that could not be used and a second ask; an empty reply is left out."""
    return (*turns, Message("assistant", reply), Message("user", words)) if reply.strip() else turns
