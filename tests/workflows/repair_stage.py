"""A manager and a worker that play as they are told, on a small repository with a defect."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from treadle.agents.tool_worker import ToolWorker
from treadle.config_models import ModelSettings
from treadle.ledger.budget import Budget
from treadle.ledger.cast import Cast
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.models.scripted import ReplyFunction, Scripted
from treadle.testing.sessions import new_scope, scripted_session
from treadle.testing.stage import Stage
from treadle.workflows.manager_worker.course import Course
from treadle.workflows.manager_worker.workflow import ManagerWorker, Repairer
from treadle.workspaces.base import Repository

Reply = Callable[[Request], Scripted]
ISSUE = "double(2) must give 4, but gives 3."
BROKEN = "def double(x):\n    return x + 1\n"
TEST = "python3 -c 'import calc; assert calc.double(2) == 4'"
FIX = "```bash\nsed -i 's/x + 1/2 * x/' calc.py\n```"
WRONG = "```bash\nsed -i 's/x + 1/x + 3/' calc.py\n```"


def git(folder: Path, *words: str) -> str:
    """Run git in a repository."""
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def made(folder: Path) -> Repository:
    """A repository with a defect and a test file."""
    path = folder / "repo"
    (path / "tests").mkdir(parents=True)
    (path / "calc.py").write_text(BROKEN)
    (path / "tests" / "test_calc.py").write_text(
        "from calc import double\n\n\ndef test_it():\n    assert double(1) == 2\n"
    )
    git(path, "init", "-q")
    git(path, "add", "-A")
    git(path, "commit", "-qm", "start")
    return Repository(path, test=TEST)


@dataclass
class Play:
    """What came of a play.

    Attributes:
        stage: The question, for its notes.
        course: What happened.
        answer: The workflow's answer.
    """

    stage: Stage
    course: Course
    answer: str = ""
    requests: dict[str, list[Request]] = field(default_factory=dict[str, "list[Request]"])

    def rows(self) -> list[tuple[str, int, str, str | None]]:
        """Phase, round, mode and outcome of each row."""
        return [(row.phase, row.round, row.mode, row.verdict or row.patch) for row in self.course.rows]

    def told(self, who: str, place: int = -1) -> str:
        """All that a model was sent in one of its calls."""
        return "\n".join(message.content for message in self.requests[who][place].messages)


def manager(*reviews: str, plan: str = "In calc.py double must return 2 * x.") -> Reply:
    """A manager that explores once, plans, and then reviews as it is told; the last review counts on."""
    left = list(reviews or ("APPROVE",))

    def reply(request: Request) -> str:
        asked = request.messages[-1].content
        if "APPROVE" in asked:
            return left.pop(0) if len(left) > 1 else left[0]
        if "Write the plan" in asked:
            return plan
        return "READY" if "READY" in asked else "TASK: where is double?\nTASK: who calls it?"

    return reply


def worker(*turns: Scripted) -> Reply:
    """A worker that reports in explorations, and in each implementation does the next of these, then says so."""
    left = list(turns or (FIX,))

    def reply(request: Request) -> Scripted:
        if "Answer with a report" in request.messages[1].content:
            return "calc.py line 2: return x + 1"
        if request.messages[-1].role == "tool" or request.messages[-1].content.startswith("["):
            return "I changed calc.py."
        return left.pop(0) if len(left) > 1 else left[0]

    return reply


@asynccontextmanager
async def play(
    repository: Repository,
    big: ReplyFunction,
    small: ReplyFunction,
    *,
    caps: Budget | None = None,
    settings: Mapping[str, ModelSettings] | None = None,
    sandbox: str | None = None,
    **options: Any,
) -> AsyncGenerator[tuple[Play, Callable[[], Any]]]:
    """A stage with a manager and a worker, and what makes them play."""
    requests: dict[str, list[Request]] = {"big": [], "small": []}

    def watched(name: str, function: ReplyFunction) -> ReplyFunction:
        def answer(request: Request) -> Scripted | Awaitable[Scripted]:
            requests[name].append(request)
            return function(request)

        return answer

    models = {"big": watched("big", big), "small": watched("small", small)}
    async with scripted_session(models, settings=settings, sandbox=sandbox) as session:
        session.settings = replace(session.settings, folder=repository.path.parent)
        recording = await session.record("stage", cast=Cast(("big", "small")))
        course = Course()
        on = Play(Stage(recording, new_scope(recording, caps)), course, requests=requests)
        repairer = Repairer(ManagerWorker(**options), ToolWorker(), course)

        async def act() -> None:
            on.answer = await repairer(Problem(ISSUE, workspace=repository), Run(on.stage.scope))

        yield on, act


async def played(repository: Repository, big: ReplyFunction, small: ReplyFunction, **options: Any) -> Play:
    """A whole play."""
    async with play(repository, big, small, **options) as (on, act):
        await act()
    return on


def applied(repository: Repository, patch: str) -> str:
    """What calc.py becomes when git applies the patch to the original."""
    subprocess.run(["git", "apply", "-"], cwd=repository.path, input=patch, text=True, check=True)
    text = (repository.path / "calc.py").read_text(errors="replace")
    git(repository.path, "checkout", "-q", ".")
    return text
