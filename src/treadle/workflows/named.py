"""What the workflows that Treadle brings have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.workflows.base import Calls, Workflow
from treadle.workflows.settings import canonical, check_settings


@dataclass(frozen=True, slots=True)
class NamedWorkflow(ABC):
    """A workflow with a name and typed settings; its fields are the settings.

    Raises:
        UserError: When a setting has a value that it does not take.
    """

    name: ClassVar[str]
    by_vote: ClassVar[bool] = False
    """Whether answers are compared with the task's equality."""

    def __post_init__(self) -> None:
        check_settings(self.name, self)

    needs_workspace: ClassVar[bool] = False
    """Whether it works on files that come with a question."""

    @property
    @abstractmethod
    def calls(self) -> Calls:
        """Calls of one question."""

    @abstractmethod
    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""

    @property
    def calls_by_role(self) -> tuple[tuple[str, Calls], ...]:
        """Calls of one question of each role that is asked; nothing where whoever is given is asked."""
        return ()

    @property
    def runs_code(self) -> bool:
        """Whether it runs code that a model wrote."""
        return False

    def in_folder(self, folder: Path) -> Workflow:
        """The workflow, with whatever of the user's own it names found.

        Args:
            folder: Where that is looked for first.
        """
        del folder
        return self.workflow

    @property
    def workflow(self) -> Workflow:
        """The workflow under its canonical name."""
        name = canonical(self.name, self)
        return Workflow(
            name,
            self,
            self.calls,
            self.by_vote,
            runs_code=self.runs_code,
            needs_workspace=self.needs_workspace,
            by_role=self.calls_by_role,
        )
