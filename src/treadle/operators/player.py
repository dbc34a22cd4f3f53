"""Who plays a part in an operator: a role, or a model named for it, with settings of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treadle.ledger.run import Prompt, Run
from treadle.models.base import Completion


@dataclass(frozen=True, slots=True)
class Player:
    """Who is asked.

    Attributes:
        role: The role, such as ``"critic"``; the command says which model that is.
        model: A model named instead: an alias or ``provider:model``.
        settings: Sampling settings that win over the model's own.
    """

    role: str
    model: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __str__(self) -> str:
        return f"{self.role} {self.model}" if self.model else self.role

    async def ask(self, run: Run, prompt: Prompt, *, draw: int = 0, keep_truncated: bool = False) -> Completion:
        """Ask once; see `treadle.ledger.run.Run.ask`.

        Args:
            run: Where the call is made.
            prompt: What is asked.
            draw: Which of the independent draws of this request.
            keep_truncated: Return a reply that was cut by its token limit instead of raising.
        """
        return await run.ask(
            prompt, role=self.role, model=self.model, draw=draw, keep_truncated=keep_truncated, **self.settings
        )
