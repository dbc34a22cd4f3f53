"""Real issues of real repositories: whoever knows the fix resolves them in every mode, and nobody else does."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import treadle
from treadle.models.base import Request
from treadle.testing.sessions import scripted_session
from treadle.workflows.manager_worker.workflow import MODES, ManagerWorker, Mode
from treadle.workspaces.base import Repository

pytestmark = pytest.mark.shared
ROWS = Path(__file__).resolve().parents[3] / "shared" / "swe" / "instances.jsonl"
REPOS = Path(os.environ.get("TREADLE_SWE_REPOS", "nowhere"))


@pytest.fixture(scope="module")
def instances() -> dict[str, Mapping[str, Any]]:
    """The instances by id."""
    if not ROWS.is_file() or not REPOS.is_dir():
        pytest.skip("TREADLE_SWE_REPOS names no folder with repositories, or no rows are beside this checkout")
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()]
    return {row["instance_id"]: row for row in rows}


def knowing(instances: Mapping[str, Mapping[str, Any]]) -> Any:
    """A model that knows every fix, whoever it plays."""

    def reply(request: Request) -> str:
        text = "\n".join(message.content for message in request.messages)
        row = next(row for row in instances.values() if row["problem_statement"].strip()[:200] in text)
        asked = request.messages[-1].content
        if request.messages[0].content.startswith("You direct"):
            if "APPROVE" in asked:
                return "APPROVE"
            return "Apply it." if "Write the plan" in asked else "READY" if "READY" in asked else "TASK: look"
        if asked.startswith("["):
            return "done"
        if "Answer with a report" in request.messages[1].content:
            return "it is where the issue says"
        return f"```bash\ngit apply - <<'END_OF_PATCH'\n{row['patch']}END_OF_PATCH\n```"

    return reply


@pytest.mark.parametrize("mode", MODES)
async def test_an_eval_scores_one_in_every_mode(instances: dict[str, Mapping[str, Any]], mode: Mode) -> None:
    models = {"big": knowing(instances), "small": knowing(instances)}
    async with scripted_session(models) as session:
        task = f"swe:{ROWS}?repos={REPOS}"
        report = await treadle.evaluate(
            f"manager-worker?mode={mode}", task=task, session=session, models=("big", "small")
        )
    assert [(each.id, each.score) for each in report.rows[0].outcomes] == [(id, 1.0) for id in instances]


@pytest.mark.parametrize(("cheat", "resolved"), [("", True), ("rewrite the tests", False), ("claim it", None)])
async def test_a_fix_is_resolved_by_its_test_command_only(
    instances: dict[str, Mapping[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cheat: str, resolved: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    row = instances["marshmallow-code__marshmallow-1343"]
    home = REPOS / row["instance_id"]
    bodies = {
        "rewrite the tests": "```bash\necho > tests/test_marshalling.py; echo '# x' >> setup.py\n```",
        "claim it": "It is fixed. All tests pass.\n\n```diff\n+fixed\n```",
    }

    def worker(request: Request) -> str:
        if cheat and not request.messages[-1].content.startswith("["):
            return bodies[cheat]
        return knowing(instances)(request)

    issue = row["problem_statement"]
    probe = (
        "from marshmallow import *\nclass B(Schema):\n v=fields.Field()\n @validates('v')\n def c(self, x): pass\n"
        "class F(Schema):\n b=fields.Nested(B)\nassert F().validate({'b': 'x'})\n"
    )
    test = f'{home}/venv/bin/python -c "{probe}"'
    async with scripted_session({"big": knowing(instances), "small": worker}) as session:
        report = await treadle.fix(
            Repository(home / "repo", test=test),
            issue,
            session=session,
            models=("big", "small"),
            settings=ManagerWorker(rounds=1, explorations=0),
        )
    assert report.resolved is resolved
    assert (report.status == "patched") == (resolved is not None)
