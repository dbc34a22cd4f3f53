"""What a measurement shows of a structure against its strong model alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treadle.evaluation.statistics.paired import Comparison, Verdict
from treadle.evaluation.statistics.ratio import Ratio


@dataclass(frozen=True, slots=True)
class StrongTokens:
    """What a row took of the strong model, in whatever role it was asked.

    Attributes:
        models: The strong model, by the name that people call it; several where that row asked several.
        per_sample: Tokens, input and output, per question that both rows answered.
        against: The same of the row compared with.
        share: The one as a share of the other.
    """

    models: tuple[str, ...]
    per_sample: float | None
    against: float | None
    share: Ratio


@dataclass(frozen=True, slots=True)
class Claim:
    """A row held against that of the strong model alone, on the same questions.

    Attributes:
        workflow: The row.
        against: The row of the strong model alone.
        comparison: The paired difference in points; p by Holm over all such rows, and intervals that hold together.
        margin: Points that do not matter.
        verdict: The verdict; ``None`` where none can be given: failures of the provider, or hidden tests in a prompt.
        needed: Where the verdict is ``inconclusive``, how many questions would show ``not worse`` in 4 of 5 cases, both
            being in truth equally good; ``None`` where that cannot be told.
        strong_tokens: Tokens of the strong model.
    """

    workflow: str
    against: str
    comparison: Comparison
    margin: float
    verdict: Verdict | None
    needed: int | None
    strong_tokens: StrongTokens

    def document(self) -> dict[str, Any]:
        """The claim as JSON values."""
        found, tokens = self.comparison, self.strong_tokens
        ci95 = tokens.share.ci95
        return {
            "workflow": self.workflow,
            "against": self.against,
            "n": found.n,
            "difference": found.difference,
            "ci95": list(found.ci95),
            "p_value": found.p_value,
            "margin": self.margin,
            "verdict": self.verdict,
            "needed": self.needed,
            "strong_tokens": {
                "models": list(tokens.models),
                "per_sample": tokens.per_sample,
                "against": tokens.against,
                "share": tokens.share.value,
                "ci95": None if ci95 is None else list(ci95),
            },
        }
