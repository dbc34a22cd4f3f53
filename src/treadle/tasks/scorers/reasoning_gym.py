"""The verifiers of reasoning-gym, run in a child process behind a guard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from treadle.errors import ProviderError
from treadle.ledger.run import Run
from treadle.parsing.thinking import without_thinking
from treadle.tasks.base import Sample, Score
from treadle.tasks.scorers.answer import NO_ANSWER, marked_answer, same_text
from treadle.tasks.scorers.worker import worker_pool


@dataclass(frozen=True)
class ReasoningGymScorer:
    """The verifier's own score, held between 0 and 1.

    The answer is what stands between the last ``<answer>`` tags, else the marked answer, else the whole reply. Some
    verifiers evaluate the answer as Python: there, what is more than literals and arithmetic is a wrong answer.

    Args:
        dataset: The set's name.
        config: Its settings, as JSON.
    """

    dataset: str
    config: str
    answer_format: str = "Give the final answer, and nothing else, between <answer> and </answer>."

    @property
    def judged(self) -> bool:
        """Grading asks no model."""
        return False

    @property
    def name(self) -> str:
        """``reasoning-gym``."""
        return "reasoning-gym"

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        """Grade one answer."""
        found = _read(answer)
        if not found:
            return Score(0.0, "", NO_ANSWER, "format")
        job = {
            "verb": "score",
            "name": self.dataset,
            "config": msgspec.json.decode(self.config),
            "index": sample.hidden["index"],
            "question": sample.input,
            "answer": found,
        }
        reply = await worker_pool("reasoning-gym").ask_async(job)
        if reply.value is False:
            raise ProviderError(f"reasoning-gym makes another question {sample.id} than before; it cannot be graded")
        if reply.failure:
            return Score(0.0, found, f"the verifier {reply.reason}")
        return Score(min(1.0, max(0.0, reply.value)), found)

    def same(self, a: str, b: str) -> bool:
        """The same answer as a text; a reply without one is not even the same as itself."""
        return same_text(_read(a), _read(b))

    def show(self, target: Any) -> str:
        """A target between tags."""
        return f"<answer>{target}</answer>"


def _read(reply: str) -> str:
    text = without_thinking(reply)
    end = text.rfind("</answer>")
    start = text.rfind("<answer>", 0, max(end, 0))
    return text[start + len("<answer>") : end].strip() if start >= 0 else marked_answer(text)
