"""What an ablation says: each part by its absence, and the lean workflow that is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treadle.evaluation.leak_lists import Leaks
from treadle.evaluation.report import Row
from treadle.evaluation.statistics.paired import Comparison
from treadle.workflows.archon.json_form import structure_document
from treadle.workflows.archon.structure import Archon
from treadle.workflows.base import Workflow
from treadle.workflows.weakening import Part, structure_of

GONE_WELL = ("better", "no difference", "not worse")
"""Verdicts on what is left, against the whole, by which a part brings nothing that matters."""
Costs = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class PartFound:
    """One part, measured by its absence.

    Attributes:
        part: The part, and what is left without it.
        row: What is left, measured.
        comparison: What is left against the whole, corrected for all parts; ``None`` while one is not measured.
        judged: Whether a verdict may be given: no provider failed on more than 5 % of either side, and nothing leaked.
        saves: What a question costs less without it, run fresh.
    """

    part: Part
    row: Row
    comparison: Comparison | None
    judged: bool
    saves: Costs

    @property
    def without(self) -> str | None:
        """The verdict on what is left, against the whole; ``None`` where none is given."""
        return self.comparison.verdict if self.comparison is not None and self.judged else None

    @property
    def dead(self) -> bool:
        """Whether it is shown to bring nothing that matters; what is inconclusive is not."""
        return self.without in GONE_WELL

    def document(self) -> dict[str, Any]:
        """The part as JSON values, as the contract says; the difference is what it brings."""
        found = self.comparison
        return {
            "part": self.part.name,
            "workflow": self.part.left.name,
            "score": self.row.score,
            "difference": None if found is None else 0.0 - found.difference,
            "ci95": None if found is None else [0.0 - found.ci95[1], 0.0 - found.ci95[0]],
            "p_value": None if found is None else found.p_value,
            "without": self.without,
            "dead": self.dead,
            "per_sample": self.row.per_sample,
            "saves": dict(self.saves),
        }


@dataclass(frozen=True, slots=True)
class Lean:
    """The workflow without its dead parts, measured on the same samples.

    Attributes:
        left: What is left.
        parts: What was taken out, in words.
        row: What is left, measured.
        comparison: What is left against the whole, at the level of the parts.
        saves: What a question costs less, run fresh.
    """

    left: Workflow
    parts: tuple[str, ...]
    row: Row
    comparison: Comparison
    saves: Costs

    @property
    def structure(self) -> Archon | None:
        """The structure, where it is one."""
        return structure_of(self.left)

    @property
    def reopens(self) -> bool:
        """Whether its name says everything; own prompts stand in no name."""
        structure = self.structure
        return structure is None or all(component.prompt is None for component in structure.components)

    def document(self) -> dict[str, Any]:
        """The lean workflow as JSON values; ``structure`` is what a file holds."""
        ci95, structure = self.row.ci95, self.structure
        return {
            "workflow": self.row.workflow,
            "score": self.row.score,
            "ci95": None if ci95 is None else list(ci95),
            "per_sample": self.row.per_sample,
            "without": list(self.parts),
            "against_whole": {
                "difference": self.comparison.difference,
                "ci95": list(self.comparison.ci95),
                "p_value": self.comparison.p_value,
                "verdict": self.comparison.verdict,
            },
            "saves": dict(self.saves),
            "structure": None if structure is None else structure_document(structure),
        }


@dataclass(frozen=True, slots=True)
class AblationReport:
    """The document of `treadle.api.ablate`.

    Attributes:
        run: Id of the run in the store.
        task: The task's name.
        ended_by: ``done``, ``infra``, ``budget`` or ``interrupt``.
        message: Why it ended early, in words.
        margin: Points that do not matter.
        least_margin: Above how many points the margin must be for a part to be called dead on these samples, even if
            nothing changed without it; ``None`` while the whole is not measured.
        whole: The whole workflow, measured.
        parts: Each part, in the order of the workflow.
        lean: The workflow without its dead parts; ``None`` where none is dead, or nothing leaner is as good.
        spent: What this run paid: usd, calls_logical, calls_paid, tokens, seconds.
        leaks: Hidden tests that stood in prompts; ``None`` where no question has hidden tests.
    """

    run: str
    task: str
    ended_by: str
    message: str
    margin: float
    least_margin: float | None
    whole: Row
    parts: Sequence[PartFound]
    lean: Lean | None
    spent: dict[str, Any]
    leaks: Leaks | None = None

    @property
    def usable(self) -> bool:
        """Whether the whole has a score, and no hidden test stood in a prompt."""
        return self.whole.score is not None and not self.leaks

    def document(self) -> dict[str, Any]:
        """The report as JSON values, as the contract says; ``leaks`` only where questions have hidden tests."""
        ci95 = self.whole.ci95
        return {
            "run": self.run,
            "task": self.task,
            "workflow": self.whole.workflow,
            "ended_by": self.ended_by,
            "message": self.message,
            "n": len(self.whole.ids),
            "margin": self.margin,
            "least_margin": self.least_margin,
            "whole": {
                "workflow": self.whole.workflow,
                "scored": len(self.whole.question_scores()),
                "score": self.whole.score,
                "ci95": None if ci95 is None else list(ci95),
                "per_sample": self.whole.per_sample,
            },
            "parts": [found.document() for found in self.parts],
            "lean": None if self.lean is None else self.lean.document(),
            "spent": self.spent,
        } | ({} if self.leaks is None else {"leaks": self.leaks})
