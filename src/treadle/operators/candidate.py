"""An answer on its way through a structure, with what belongs to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treadle.parsing.thinking import without_thinking


@dataclass(frozen=True, slots=True)
class Candidate:
    """One answer; operators find it by its id, never by its place.

    Attributes:
        id: What it is called among its fellows, such as its draw number.
        text: The whole reply.
        critique: What a critic said of this very text.
        parents: Ids of the candidates that it was made of.
        made_by: Who wrote it: a role, and the model where one is named.
        checks: Whether this very text passed each check statement, in their order.
    """

    id: str
    text: str
    critique: str | None = None
    parents: tuple[str, ...] = ()
    made_by: str = ""
    checks: tuple[bool, ...] = ()

    @property
    def shown(self) -> str:
        """The text that other models may see: without its thinking."""
        return without_thinking(self.text).strip()

    def revised(self, text: str) -> Candidate:
        """The candidate with another text; critique and checks of the old one are gone."""
        return Candidate(f"{self.id}'", text, parents=(self.id,))


def answered(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates that say something; all of them when none does."""
    return tuple(candidate for candidate in candidates if candidate.shown) or tuple(candidates)
