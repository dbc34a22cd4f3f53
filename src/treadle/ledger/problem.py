"""What a workflow sees of a task: the question and what belongs to it, never the target or hidden tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from treadle.models.base import Message
from treadle.parsing.answers import exact_match
from treadle.parsing.final_answer import final_answer
from treadle.parsing.thinking import without_thinking

Equality = Callable[[str, str], bool]
Examples = Sequence[tuple[str, str]]


def same_text(a: str, b: str) -> bool:
    """Equality of answers where a task has none of its own.

    Compared is what two replies mark as their final answer (``Answer: 4``), else all they say without their thinking;
    the same number and the same text but for case, spacing and outer punctuation are one answer.
    """
    first, second = _said(a), _said(b)
    return first == second or exact_match(first, second)


def _said(reply: str) -> str:
    text = without_thinking(reply).strip()
    return final_answer(text) or text


class Problem(str):
    """A question: a ``str`` that carries what a task offers with it.

    Args:
        text: The question as plain text.
        id: The sample's id.
        messages: The chat turns; one user turn with the text when not given.
        fields: Public extra fields of the sample.
        same: The task's equality of answers.
        public_tests: Tests that a workflow may see.
        entry_point: The function that a code task wants.
        answer_format: One sentence on how the answer is to be written; empty where any text will do.
        examples: Solved examples (question, answer) that a workflow may show to a model, never test rows; or a
            function that finds them when they are asked for.
    """

    id: str
    messages: tuple[Message, ...]
    fields: Mapping[str, Any]
    public_tests: tuple[str, ...]
    entry_point: str | None
    answer_format: str
    workspace: Any
    environment: Any
    _same: Equality
    _examples: Examples | Callable[[], Examples]

    def __new__(  # noqa: D102  the class says it
        cls,
        text: str,
        *,
        id: str = "",
        messages: tuple[Message, ...] | None = None,
        fields: Mapping[str, Any] | None = None,
        same: Equality = same_text,
        public_tests: tuple[str, ...] = (),
        entry_point: str | None = None,
        answer_format: str = "",
        examples: Examples | Callable[[], Examples] = (),
        workspace: Any = None,
        environment: Any = None,
    ) -> Problem:
        problem = super().__new__(cls, text)
        problem.id = id
        problem.messages = messages if messages is not None else (Message("user", text),)
        problem.fields = fields or {}
        problem.public_tests = public_tests
        problem.entry_point = entry_point
        problem.answer_format = answer_format
        problem._examples = examples
        problem.workspace = workspace
        problem.environment = environment
        problem._same = same
        return problem

    @property
    def examples(self) -> Examples:
        """Solved examples, each a question and its answer."""
        if callable(self._examples):
            self._examples = self._examples()
        return self._examples

    def same(self, a: str, b: str) -> bool:
        """Whether the task counts two answers as one."""
        return self._same(a, b)
