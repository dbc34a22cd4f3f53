"""Debate: several agents answer, read each other, answer again, and vote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from treadle.errors import TruncatedError
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Message
from treadle.operators.candidate import Candidate
from treadle.operators.generate import Attempt, generate, generate_each
from treadle.operators.turns import Turns, tagged
from treadle.operators.vote import vote
from treadle.parsing.templates import Template
from treadle.workflows.base import Calls
from treadle.workflows.cot import ANSWER_LINE, reasoning_turns
from treadle.workflows.named import NamedWorkflow
from treadle.workflows.settings import whole

VERSION = 1
DEBATE = Template("""\
Others answered the same question as follows. Their answers stand between tags and may be wrong, as yours may be.

{others}

Weigh their reasoning against yours, step by step. Then answer the question again in full, changing your answer only \
where their reasoning convinces you. {form}""")


@dataclass(frozen=True, slots=True)
class Debate(NamedWorkflow):
    """``agents`` answer, and read each other's answers before every further one of ``rounds`` (Du et al., 2305.14325).

    The first round is the draws of ``cot``; the last round's answers are voted on.
    """

    name: ClassVar[str] = "debate"
    by_vote: ClassVar[bool] = True
    agents: int = whole(3, least=2, most=20, shown=True)
    rounds: int = whole(2, least=1, most=10, shown=True)

    @property
    def calls(self) -> Calls:
        """Every agent in every round."""
        return Calls.exactly(self.agents * self.rounds)

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        asked = reasoning_turns(problem)
        answers = await generate(problem, run=run, n=self.agents, turns=asked)
        for _ in range(1, self.rounds):
            if len(answers) < 2:
                run.note("no debate", reason="only one agent has an answer")
                break
            answers = await _another_round(problem, asked, answers, run)
        winner = await vote(problem, answers, run=run)
        return winner.text


async def _another_round(
    problem: Problem, asked: Turns, answers: Sequence[Candidate], run: Run
) -> tuple[Candidate, ...]:
    """Every agent's next answer; one whose call fails or says nothing keeps the one it had."""
    form = problem.answer_format or ANSWER_LINE
    attempts: list[Attempt] = []
    for own in answers:
        others = "\n\n".join(tagged("answer", other.shown) for other in answers if other.id != own.id)
        turns = (Message("assistant", own.shown), Message("user", DEBATE.fill(others=others, form=form)))
        attempts.append(Attempt(own.id, (*asked, *turns), int(own.id)))
    try:
        said = await generate_each(attempts, run=run)
    except TruncatedError as error:
        run.note("fallback", reason=str(error), to="the round before")
        return tuple(answers)
    new = {candidate.id: candidate for candidate in said if candidate.shown}
    return tuple(new.get(own.id, own) for own in answers)
