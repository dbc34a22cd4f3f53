"""How scorers ask the model in the role ``judge``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from treadle.errors import FormatError, TruncatedError
from treadle.ledger.run import Run
from treadle.models.base import Message
from treadle.operators.turns import tagged
from treadle.parsing.thinking import without_thinking
from treadle.tasks.base import Sample

V = TypeVar("V")


async def ask_judge(
    run: Run, turns: tuple[Message, ...], again: str, read: Callable[[str], V | None]
) -> tuple[V | None, str]:
    """Ask the judge, and once more when its reply holds no verdict.

    Args:
        run: The scorer's part of the run.
        turns: The question to the judge.
        again: What the second ask says.
        read: Reads the verdict from a reply.

    Returns:
        The verdict, or ``None``, and the words it was read from.

    Raises:
        ProviderError: The judge could not be reached.
    """
    words = ""
    for _ in range(2):
        try:
            completion = await run.ask(turns, role="judge", draw=0)
        except (FormatError, TruncatedError) as error:
            return None, str(error)
        words = without_thinking(completion.text).strip()
        verdict = read(words)
        if verdict is not None:
            return verdict, words
        run.note("repair", reason="the judge's reply holds no verdict")
        turns = (*turns, Message("assistant", completion.text), Message("user", again))
    return None, words


def question_text(sample: Sample) -> str:
    """The question as material for a judge: the text, or the chat where there is more than one turn."""
    if sample.messages is None or len(sample.messages) < 2:
        return tagged("question", sample.input)
    return tagged("question", "\n\n".join(f"{turn.role}: {turn.content}" for turn in sample.messages))
