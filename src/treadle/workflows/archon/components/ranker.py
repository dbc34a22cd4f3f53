"""Rankers: the best k candidates, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.rank import rank
from treadle.operators.rank_pairs import rank_pairs
from treadle.operators.ties import tie_order
from treadle.workflows.archon.components.base import Count, Imagined, Picker, Requests, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranker(Picker):
    """Keeps the best ``top_k`` candidates in the order that one look at all of them gives; one is not ranked."""

    kind: ClassVar[str] = "ranker"
    letter: ClassVar[str] = "r"
    role: ClassVar[str] = "ranker"
    top_k: int = 5

    def count(self, least: int, candidates: int, most: int) -> Count:
        """One where there is something to rank, and one second ask."""
        calls = (int(candidates > 1), self.kept(candidates), int(least > 1), 2 * int(most > 1))
        return Count(*calls, self.kept(least), self.kept(most))

    def imagine(self, state: Imagined, requests: Requests, first_draw: int) -> Imagined:
        """It sees candidates and critiques, and is taken to keep their order."""
        if len(state.candidates) > 1:
            requests.make(self.asked, self.kept(len(state.candidates)), state.candidates, state.critiques)
        return Imagined(state.candidates[: self.top_k], state.critiques[: self.top_k], state.statements)

    async def work(self, problem: Problem, state: State, run: Run, *, id: str, first_draw: int) -> State:
        """Rank them."""
        best = await rank(
            problem, state.candidates, run=run, top_k=self.top_k, player=self.player, instruction=self.prompt
        )
        return State(best, state.statements)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRanker(Picker):
    """Keeps the best ``top_k`` by comparing all pairs in both orders (LLM-Blender, arXiv 2306.02561)."""

    kind: ClassVar[str] = "pair_ranker"
    letter: ClassVar[str] = "p"
    role: ClassVar[str] = "ranker"
    top_k: int = 3

    def count(self, least: int, candidates: int, most: int) -> Count:
        """Two a pair, and one second ask each."""
        calls = (candidates * (candidates - 1), self.kept(candidates), least * (least - 1), 2 * most * (most - 1))
        return Count(*calls, self.kept(least), self.kept(most))

    def imagine(self, state: Imagined, requests: Requests, first_draw: int) -> Imagined:
        """Every comparison sees two candidates, and is taken to be a tie."""
        for first in state.candidates:
            for second in state.candidates:
                if first != second:
                    requests.make(self.asked, first, second)
        return state.in_order(tie_order(requests.question, len(state.candidates)), self.top_k)

    async def work(self, problem: Problem, state: State, run: Run, *, id: str, first_draw: int) -> State:
        """Compare them."""
        best = await rank_pairs(
            problem, state.candidates, run=run, top_k=self.top_k, player=self.player, instruction=self.prompt
        )
        return State(best, state.statements)
