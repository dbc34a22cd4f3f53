"""Published structures under names of their own, with settings."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.workflows.archon.components.fuser import Fuser
from treadle.workflows.archon.components.generator import Generator
from treadle.workflows.archon.components.ranker import PairRanker
from treadle.workflows.archon.structure import Archon
from treadle.workflows.archon.workflow import ArchonWorkflow, structure_workflow
from treadle.workflows.base import Calls, Workflow
from treadle.workflows.named import NamedWorkflow
from treadle.workflows.settings import canonical, whole


@dataclass(frozen=True, slots=True)
class NamedStructure(NamedWorkflow):
    """A workflow whose settings say which structure it is."""

    @property
    @abstractmethod
    def structure(self) -> Archon:
        """The structure."""

    @property
    def calls(self) -> Calls:
        """Those of the structure."""
        return self.structure.calls()

    @property
    def workflow(self) -> Workflow:
        """The structure's workflow under the canonical name of this one."""
        return structure_workflow(self.structure, canonical(self.name, self))

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        return await ArchonWorkflow(self.structure)(problem, run)


@dataclass(frozen=True, slots=True)
class MixtureOfAgents(NamedStructure):
    """Layers of ``proposers`` over all models given, each but the first seeing the answers before it, then one fusion.

    ``layers`` counts the last, single fusion too (MoA, Wang et al., arXiv 2406.04692).
    """

    name: ClassVar[str] = "moa"
    layers: int = whole(2, least=2, most=10, shown=True)
    proposers: int = whole(6, least=1, most=100)

    @property
    def structure(self) -> Archon:
        """Generators, fusers in every layer between, one fuser."""
        between = ((Fuser(samples=self.proposers),) for _ in range(self.layers - 2))
        return Archon(((Generator(samples=self.proposers),), *between, (Fuser(),)), self.name)


@dataclass(frozen=True, slots=True)
class SelfMixtureOfAgents(NamedStructure):
    """The strong model's own ``n`` answers, fused by itself (Self-MoA, Li et al., arXiv 2502.00674)."""

    name: ClassVar[str] = "self-moa"
    n: int = whole(6, least=1, most=100, shown=True)

    @property
    def structure(self) -> Archon:
        """Generators and a fuser, all of them the first model given."""
        return Archon(((Generator(model="1", samples=self.n),), (Fuser(model="1"),)), self.name)


@dataclass(frozen=True, slots=True)
class Blender(NamedStructure):
    """``n`` answers, all pairs compared in both orders, the best ``keep`` fused (LLM-Blender, arXiv 2306.02561)."""

    name: ClassVar[str] = "blender"
    n: int = whole(5, least=1, most=30, shown=True)
    keep: int = whole(3, least=1, most=30)

    @property
    def structure(self) -> Archon:
        """Generators, a ranker by pairs, a fuser."""
        return Archon(((Generator(samples=self.n),), (PairRanker(top_k=self.keep),), (Fuser(),)), self.name)
