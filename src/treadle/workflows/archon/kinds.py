"""All kinds of component, by their names in files and their letters in the one-line form."""

from __future__ import annotations

from treadle.workflows.archon.components.base import Component
from treadle.workflows.archon.components.critic import Critic
from treadle.workflows.archon.components.fuser import Fuser
from treadle.workflows.archon.components.generator import Generator
from treadle.workflows.archon.components.ranker import PairRanker, Ranker
from treadle.workflows.archon.components.unit_tests import TestChecker, TestWriter
from treadle.workflows.archon.components.verifier import Verifier

KINDS: tuple[type[Component], ...] = (
    Generator,
    Fuser,
    Critic,
    Ranker,
    PairRanker,
    Verifier,
    TestWriter,
    TestChecker,
)
BY_LETTER = {kind.letter: kind for kind in KINDS}
BY_NAME = {kind.kind: kind for kind in KINDS}
