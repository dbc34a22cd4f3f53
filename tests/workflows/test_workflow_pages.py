"""Every workflow has a page, and the page says what the code does."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

import pytest

from treadle.ledger.problem import Problem
from treadle.testing.stage import stage
from treadle.workflows.named import NamedWorkflow
from treadle.workflows.registry import WORKFLOWS, open_workflow

PAGES = Path(__file__).parents[2] / "docs" / "workflows"


@pytest.mark.parametrize(("name", "kind"), WORKFLOWS.items(), ids=list(WORKFLOWS))
def test_a_page_names_source_calls_settings_and_rules(name: str, kind: type[NamedWorkflow]) -> None:
    page = (PAGES / f"{name}.md").read_text()
    for heading in ("Helps", "Hurts", "Calls per question", "Settings", "Ties and fallbacks"):
        assert f"- **{heading}**:" in page
    for each in fields(kind):
        default = str(each.default).lower()
        assert f"`{each.name}` (default {default})" in page
    index = (PAGES / "index.md").read_text()
    assert f"[`{open_workflow(name, folder=Path()).name}`]({name}.md)" in index


async def test_the_example_of_the_page_on_your_own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (PAGES / "own.md").read_text()
    source = page.partition("```python\n")[2].partition("```")[0]
    (tmp_path / "page_flows.py").write_text(source)
    monkeypatch.setattr(sys, "path", [*sys.path])
    flow = open_workflow("page_flows:second_look?drafts=3", folder=tmp_path)
    monkeypatch.delitem(sys.modules, "page_flows")
    async with stage(lambda request: f"Answer: {request.draw}") as here:
        assert await flow(Problem("?"), here.run) == "Answer: 3"
        assert here.calls == 4
