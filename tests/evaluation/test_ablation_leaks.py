"""An ablation does not call a part dead whose absence leaked, nor one whose presence did."""

from __future__ import annotations

import pytest

from treadle.errors import Caution
from treadle.evaluation.ablation import ablate
from treadle.sandbox.code_tests import CodeTests
from treadle.tasks.base import Sample
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.task import Task
from treadle.testing.sessions import scripted_session
from treadle.workflows.archon.components.generator import Generator
from treadle.workflows.archon.components.ranker import Ranker
from treadle.workflows.archon.components.verifier import Verifier
from treadle.workflows.archon.structure import Archon
from treadle.workflows.archon.workflow import archon_workflow

HIDDEN = CodeTests(("assert shout('hello') == 'HELLO!'",), ("shout",))
TASK = Task("t", tuple(Sample(f"q{n}", f"say w{n}", "yes", hidden={"tests": HIDDEN}) for n in range(8)), ExactScorer())


@pytest.mark.parametrize("told", [None, "Remember: shout('hello') == 'HELLO!'"])
async def test_an_ablation_with_a_leak_says_nothing(told: str | None) -> None:
    whole = Archon(((Generator(samples=4),), (Verifier(),), (Ranker(top_k=1, prompt=told),)))
    async with scripted_session({"m": lambda request: "yes"}) as session:
        if told is None:
            report = await ablate(session, archon_workflow(whole), TASK, margin=100.0)
            assert report.document()["leaks"] == []
            assert report.usable
            return
        with pytest.warns(Caution, match="hidden tests"):
            report = await ablate(session, archon_workflow(whole), TASK, margin=100.0)
    document = report.document()
    assert len({leak["sample"] for leak in document["leaks"]}) == 8
    assert [part["without"] for part in document["parts"]] == [None] * len(document["parts"])
    assert document["lean"] is None
    assert not report.usable
    assert "hidden tests" in document["message"]
