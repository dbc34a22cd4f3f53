"""MedPrompt: the nearest solved examples, several draws with shuffled choices, and a vote."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from treadle.errors import TruncatedError
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Message
from treadle.operators.candidate import Candidate
from treadle.operators.generate import Attempt, generate_each
from treadle.operators.nearest import Example, nearest
from treadle.operators.options import Options, read_options
from treadle.operators.turns import Turns, question_text, task_text, with_last_turn
from treadle.operators.vote import vote
from treadle.parsing.choices import choice
from treadle.workflows.base import Calls
from treadle.workflows.cot import reasoning_text, reasoning_turns
from treadle.workflows.named import NamedWorkflow
from treadle.workflows.settings import switch, whole

_LETTER = re.compile(r"\(?[A-Z]\)?")
_ANSWER_MARK = "Answer:"


@dataclass(frozen=True, slots=True)
class MedPrompt(NamedWorkflow):
    """Show the nearest ``examples``, ask ``votes`` times with shuffled choices, and vote (Nori et al., 2311.16452).

    Examples come from the task and are chosen by likeness of words; the nearest stands last. With ``reasoning`` the
    model first solves each example itself, step by step; those that it gets wrong are left out, and the question asks
    for steps as well. Choices are shuffled from the second draw on, where the question lists lettered options and the
    task's answers are letters; answers are mapped back before the vote.
    """

    name: ClassVar[str] = "medprompt"
    by_vote: ClassVar[bool] = True
    examples: int = whole(5, least=0, most=50)
    reasoning: bool = switch(False)
    votes: int = whole(5, least=1, most=100)

    @property
    def calls(self) -> Calls:
        """One a vote, and with ``reasoning`` one an example, as far as the task has them."""
        return Calls(self.votes, self.votes + (self.examples if self.reasoning else 0))

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        shown = await nearest(problem, problem.examples, run=run, k=self.examples) if self.examples else ()
        if self.examples and not shown:
            run.note("no examples", reason="the task has no solved examples to show")
        solved = await _reasoned(problem, shown, run) if self.reasoning else [_plain(problem, each) for each in shown]
        options = _options(problem, shown) if self.votes > 1 else None
        orders = _orders(options, self.votes, run)
        attempts = [
            Attempt(str(draw), _asked(problem, solved, options, order, self.reasoning), draw)
            for draw, order in enumerate(orders)
        ]
        drafts = await generate_each(attempts, run=run)
        if options is not None:
            drafts = tuple(_mapped_back(draft, options, orders[int(draft.id)], shown) for draft in drafts)
        winner = await vote(problem, drafts, run=run)
        return winner.text


def _asked(
    problem: Problem, solved: Sequence[Turns], options: Options | None, order: Sequence[int], reasoning: bool
) -> Turns:
    question = question_text(problem) if options is None else options.in_order(order)
    text = reasoning_text(problem, question) if reasoning else task_text(problem, question=question)
    turns = with_last_turn(problem, text)
    head = next((place for place, turn in enumerate(turns) if turn.role != "system"), len(turns))
    shots = tuple(turn for pair in reversed(solved) for turn in pair)
    return (*turns[:head], *shots, *turns[head:])


def _plain(problem: Problem, example: Example) -> Turns:
    question, answer = example
    asked = task_text(_like(problem, question))
    marked = f"{_ANSWER_MARK} {answer}" if _ANSWER_MARK in problem.answer_format else answer
    return (Message("user", asked), Message("assistant", marked))


async def _reasoned(problem: Problem, examples: Sequence[Example], run: Run) -> list[Turns]:
    """The examples that the model solves, with its own steps; wrong ones are left out."""
    if not examples:
        return []
    asked = [_like(problem, question) for question, _ in examples]
    attempts = [Attempt(str(place), reasoning_turns(each)) for place, each in enumerate(asked)]
    try:
        replies = await generate_each(attempts, run=run)
    except TruncatedError as error:
        run.note("no examples", reason=str(error))
        return []
    solved = {int(reply.id): reply.shown for reply in replies}
    right = [place for place, text in solved.items() if problem.same(text, examples[place][1])]
    run.note("solved examples", right=len(right), of=len(examples))
    return [(*attempts[place].turns, Message("assistant", solved[place])) for place in right]


def _like(problem: Problem, question: str) -> Problem:
    return Problem(question, answer_format=problem.answer_format, same=problem.same)


def _options(problem: Problem, examples: Sequence[Example]) -> Options | None:
    """The question's options, where letters are what the task wants for an answer."""
    if not all(_LETTER.fullmatch(answer.strip()) for _, answer in examples):
        return None
    return read_options(question_text(problem))


def _orders(options: Options | None, count: int, run: Run) -> list[tuple[int, ...]]:
    """One order of the options for each draw, the first as they stand."""
    if options is None:
        return [()] * count
    plain = range(len(options.lines))
    rng = run.child("shuffle").rng
    return [tuple(plain), *(tuple(rng.sample(plain, len(plain))) for _ in range(count - 1))]


def _mapped_back(draft: Candidate, options: Options, order: Sequence[int], examples: Sequence[Example]) -> Candidate:
    """The draft with the letter that its choice has in the question as it stands; nothing where it chooses none."""
    if list(order) == sorted(order):
        return draft
    letter = choice(draft.text, "".join(options.letters))
    if letter is None:
        return draft.revised("")
    chosen = options.letters[order[options.letters.index(letter)]]
    bare = bool(examples) and not examples[0][1].strip().startswith("(")
    return draft.revised(f"{_ANSWER_MARK} {chosen if bare else f'({chosen})'}")
