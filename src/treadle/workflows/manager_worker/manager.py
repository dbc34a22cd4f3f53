"""The manager's part: text in, text out; it has no tools and sees no file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from treadle.ledger.run import Run
from treadle.models.base import Message
from treadle.operators.turns import again, tagged
from treadle.parsing.excerpts import excerpt
from treadle.parsing.exploration_tasks import exploration_tasks
from treadle.parsing.thinking import without_thinking
from treadle.parsing.verdicts import verdict
from treadle.workflows.manager_worker import prompts
from treadle.workflows.manager_worker.course import Verdict
from treadle.workspaces.base import Patch, Tested, shown_path

T = TypeVar("T")
ROLE = "manager"
MOST_TASKS = 3
REPORT_LIMIT = 4_000
"""Characters of a worker's report that the manager reads."""
PATCH_LIMIT = 20_000
"""Characters of a patch that it reads."""
OUTPUT_LIMIT = 4_000
"""Characters of the test command's output that it reads, from its end."""


@dataclass(frozen=True, slots=True)
class Explorations:
    """What shall be found out next; nothing where it is ready to plan."""

    tasks: tuple[str, ...] = ()
    ready: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker found out."""

    task: str
    text: str


@dataclass(frozen=True, slots=True)
class Review:
    """What the manager says of a patch, and the corrections it wants."""

    verdict: Verdict
    corrections: str = ""


@dataclass(frozen=True, slots=True)
class Manager:
    """Asks the manager.

    Attributes:
        issue: The issue between tags.
        model: The model that is asked instead of whoever plays the role.
    """

    issue: str
    model: str | None = None

    async def analyse(self, run: Run) -> Explorations:
        """Which explorations come first: at most three; one ask more where none is named, then one by default."""
        found = await self._understood(prompts.ANALYSIS, prompts.ANALYSIS_AGAIN, _explorations, run)
        if found is None:
            run.note("fallback", reason="the manager named no task", to="one exploration by default")
            return Explorations((prompts.DEFAULT_EXPLORATION,))
        return _at_most(found, run)

    async def explore_more(self, reports: Sequence[Report], run: Run) -> Explorations:
        """Whether the reports are enough, or what else shall be found out."""
        asked = f"{_reports(reports)}\n\n{prompts.MORE}"
        found = await self._understood(asked, prompts.MORE_AGAIN, _explorations, run)
        if found is None:
            run.note("fallback", reason="the manager said neither READY nor TASK:", to="the plan")
            return Explorations(ready=True)
        return _at_most(found, run)

    async def plan(self, reports: Sequence[Report], run: Run) -> str:
        """The plan of the change; empty where two asks give none."""
        turns = self._turns(f"{_reports(reports)}\n\n{prompts.PLAN}" if reports else prompts.PLAN)
        reply = await self._said(turns, run)
        if not (plan := without_thinking(reply).strip()):
            run.note("repair", reason="the plan is empty")
            plan = without_thinking(await self._said(again(turns, reply, prompts.PLAN_AGAIN), run)).strip()
        if not plan:
            run.note("fallback", reason="the plan is empty after a second ask", to="the issue itself")
        return plan

    async def review(self, plan: str, patch: Patch, tested: Tested | None, run: Run) -> Review:
        """The verdict on a patch; where none can be read twice, the last reply is a REVISE.

        It is asked once more at most, for what it lacks first: a verdict, or the corrections.
        """
        parts = [tagged("plan", plan)] if plan else []
        parts.append(tagged("patch", excerpt(patch.shown, PATCH_LIMIT, 0.75)))
        parts += [_left_out(patch), _outcome(tested), prompts.REVIEW]
        turns = self._turns("\n\n".join(part for part in parts if part))
        first = await self._said(turns, run)
        said, corrections = _verdict(first), _corrections(first)
        if said is None:
            run.note("repair", reason="the review has no verdict")
            second = await self._said(again(turns, first, prompts.REVIEW_AGAIN), run)
            said, corrections = _verdict(second), _corrections(second) or corrections
            if said is None:
                run.note("fallback", reason="the review has no verdict after a second ask", to="REVISE")
        elif said == "REVISE" and not corrections:
            run.note("repair", reason="the review wants changes and names none")
            second = await self._said(again(turns, first, prompts.CORRECTIONS_AGAIN), run)
            corrections = "" if _verdict(second) == "APPROVE" else _corrections(second)
        if said == "APPROVE":
            return Review("APPROVE")
        if not corrections:
            run.note("fallback", reason="the review names no corrections", to="the words of the round before")
        return Review("REVISE", corrections)

    async def _understood(self, asked: str, again_with: str, read: Callable[[str], T | None], run: Run) -> T | None:
        """What is read from a reply, or from that to a second ask."""
        turns = self._turns(asked)
        reply = await self._said(turns, run)
        found = read(reply)
        if found is None:
            run.note("repair", reason="the reply holds none of the words that count")
            found = read(await self._said(again(turns, reply, again_with), run))
        return found

    async def _said(self, turns: tuple[Message, ...], run: Run) -> str:
        completion = await run.ask(turns, role=ROLE, model=self.model, keep_truncated=True)
        if completion.finish_reason == "length":
            run.note("truncated", reason="the manager's reply was cut by its token limit; what there is counts")
        return completion.text

    def _turns(self, asked: str) -> tuple[Message, ...]:
        return (Message("system", prompts.MANAGER), Message("user", f"{self.issue}\n\n{asked}"))


def _explorations(reply: str) -> Explorations | None:
    if verdict(reply, ("READY",)):
        return Explorations(ready=True)
    tasks = exploration_tasks(reply)
    return Explorations(tasks) if tasks else None


def _at_most(found: Explorations, run: Run) -> Explorations:
    if len(found.tasks) > MOST_TASKS:
        run.note("cut", reason=f"the manager named {len(found.tasks)} tasks; the first {MOST_TASKS} are done")
    return Explorations(found.tasks[:MOST_TASKS], found.ready)


def _reports(reports: Sequence[Report]) -> str:
    return "\n\n".join(
        tagged("report", f"Task: {report.task}\n\n{excerpt(report.text, REPORT_LIMIT, 0.75)}") for report in reports
    )


def _left_out(patch: Patch) -> str:
    if not patch.left_out:
        return ""
    lines = [f"- {shown_path(each.path)}: {each.reason}" for each in patch.left_out[:20]]
    return "Changed besides, and no part of the patch:\n" + "\n".join(lines)


def _outcome(tested: Tested | None) -> str:
    if tested is None:
        return ""
    result = "The test command passed on a clean copy with this patch."
    if not tested.passed:
        result = f"The test command did not pass on a clean copy with this patch: {tested.reason}."
    if tested.steering:
        result += f" It changes files that steer tests: {', '.join(map(shown_path, tested.steering))}."
    return f"{result}\n{tagged('output', excerpt(tested.output, OUTPUT_LIMIT, 0.0))}" if tested.output else result


def _verdict(reply: str) -> Verdict | None:
    match verdict(reply, ("APPROVE", "REVISE")):
        case "APPROVE":
            return "APPROVE"
        case "REVISE":
            return "REVISE"
        case _:
            return None


def _corrections(reply: str) -> str:
    """What stands behind the verdict, or before it where nothing does; empty where the word is all."""
    said = without_thinking(reply).strip()
    lines = said.split("\n")
    for place, line in enumerate(lines):
        if verdict(line, ("REVISE",)):
            rest = line[line.upper().index("REVISE") + len("REVISE") :].lstrip("*_`:.,–—- \t")
            behind = "\n".join([rest, *lines[place + 1 :]]).strip()
            return (behind or "\n".join(lines[:place])).strip("`*_ \n")
    return said
