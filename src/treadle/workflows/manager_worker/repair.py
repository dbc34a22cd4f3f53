"""The phases of a repair, with their limits: all control flow is here, none of it in the models."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from treadle.agents.base import Assignment, Worker, WorkLimits, WorkReport
from treadle.errors import SampleFailure, TreadleError
from treadle.ledger.run import Run
from treadle.operators.turns import tagged
from treadle.parsing.excerpts import excerpt
from treadle.sandbox.process import undisturbed
from treadle.workflows.manager_worker import prompts
from treadle.workflows.manager_worker.course import Course, PatchState, Phase, PhaseRow
from treadle.workflows.manager_worker.manager import REPORT_LIMIT, Explorations, Manager, Report
from treadle.workspaces.base import Patch, shown_path
from treadle.workspaces.checkout import Checkout

if TYPE_CHECKING:
    from treadle.workflows.manager_worker.workflow import ManagerWorker

Strategy = Literal["guided-strict", "strict", "guided"]
StrictFrom = Literal["previous", "clean"]
EARLIER_LIMIT = 6_000
"""Characters of its earlier change that a worker is shown."""


@dataclass(slots=True)
class Repair:
    """One issue of one repository.

    Attributes:
        settings: Strategy and limits.
        checkout: Where the worker works.
        worker: Who works.
        manager: Who directs; ``None`` where the worker is alone.
        role: The role that the worker plays.
        issue: The issue between tags.
        course: What happens is told to it.
        run: Where everybody is asked.
    """

    settings: ManagerWorker
    checkout: Checkout
    worker: Worker
    manager: Manager | None
    role: str
    issue: str
    course: Course
    run: Run

    async def explore(self) -> list[Report]:
        """Have explored what the manager asks for, at most ``explorations`` times; the files do not change."""
        assert self.manager is not None
        if not self.settings.explorations:
            return []
        async with self._phase("analysis", 1) as (run, _):
            found = await self.manager.analyse(run)
        reports: list[Report] = []
        for number in range(1, self.settings.explorations + 1):
            if found.ready or not found.tasks:
                break
            async with self._phase("exploration", number) as (run, _):
                reports += await self._reports(found.tasks, run)
                last = number == self.settings.explorations
                found = Explorations(ready=True) if last else await self.manager.explore_more(reports, run)
        return reports

    async def plan(self, reports: Sequence[Report]) -> str:
        """The plan, as whoever watches approves it."""
        assert self.manager is not None
        async with self._phase("plan", 1) as (run, row):
            plan = await self.manager.plan(reports, run)
            if not plan:
                row.remark = "no plan: the worker goes by the issue itself"
        self.course.plan = plan
        approved = await self.course.approve_plan(plan)
        if approved != plan:
            self.run.note("plan edited", plan=approved)
        self.course.plan = approved
        return approved

    async def implement(self, plan: str) -> None:
        """Have it implemented and reviewed, at most ``rounds`` times.

        A round that leaves no patch, or the same as before, is not reviewed: the next one goes by the same words.

        Args:
            plan: The plan; empty where the worker goes by the issue itself.
        """
        words, reviewed = plan, Patch()
        for number in range(1, self.settings.rounds + 1):
            mode = self._mode(number, words)
            patch = await self._implemented(number, mode, words)
            if self.manager is None:
                break
            if not patch or patch.content == reviewed.content:
                continue
            async with self._phase("review", number, mode) as (run, row):
                review = await self.manager.review(plan, patch, self.course.tested, run)
                row.verdict = review.verdict
                if review.verdict == "REVISE" and not review.corrections:
                    row.remark = "no corrections were named: the next round goes by the words of this one"
            if review.verdict == "APPROVE":
                self.course.reviewed = True
                break
            words, reviewed = review.corrections or words, patch

    async def salvage(self) -> None:
        """Take what the files hold, whatever ended the work; what keeps it from that is noted, not raised."""
        await undisturbed(self._salvaged())

    async def _salvaged(self) -> None:
        try:
            patch = await self.checkout.patch()
        except (TreadleError, OSError) as error:
            self.run.note("not salvaged", reason=str(error))
            return
        if patch and patch.content != self.course.patch.content:
            self.course.changed(patch)

    async def test_salvaged(self) -> None:
        """Run the test command on what is left of work that was ended; that it fails itself is noted, not raised."""
        try:
            await self.test(self.run)
        except SampleFailure as error:
            self.run.note("not tested", reason=str(error))

    async def test(self, run: Run) -> None:
        """Run the test command on the patch there is, where it was not yet and says something of it."""
        course, checkout = self.course, self.checkout
        if course.patch and course.tested is None and checkout.repository.test and not checkout.untestable:
            course.tested = await self.checkout.test(course.patch, run)
            if course.tested.steering:
                names = ", ".join(map(shown_path, course.tested.steering))
                course.remark(f"the patch changes files that steer tests: {names}")

    def _mode(self, number: int, words: str) -> str:
        if not words:
            return "direct"
        return (
            "guided"
            if self.settings.strategy == "guided" or (self.settings.strategy == "guided-strict" and number == 1)
            else "strict"
        )

    async def _implemented(self, number: int, mode: str, words: str) -> Patch:
        """The patch of a round; one more ask where there is none. Whatever ends it early, the files are read first."""
        async with self._phase("implementation", number, mode) as (run, row):
            clean = await self._brought_back(number, mode, run)
            try:
                before, patch = await self._edited(mode, words, run, clean=clean)
            except BaseException:
                await self.salvage()
                raise
            row.patch = _state(patch, before)
            if not patch and patch.left_out:
                row.remark = f"only what is left out was changed: {_names(patch)}"
            if patch and patch.content != self.course.patch.content:
                self.course.changed(patch)
            await self.test(run)
        return patch

    async def _brought_back(self, number: int, mode: str, run: Run) -> bool:
        """Whether a round begins with the files of the start, which are there now."""
        clean = number > 1 and mode == "strict" and self.settings.strict_from == "clean"
        if clean:
            await self.checkout.reset()
            run.note("reset", reason="strict_from=clean: the files are as they were at the start")
        return clean

    async def _edited(self, mode: str, words: str, run: Run, *, clean: bool) -> tuple[Patch, Patch]:
        """The patches before and after the worker's turns of a round."""
        before = await self.checkout.patch()
        task = self._instruction(mode, words) + self._earlier(before, clean=clean)
        assignment = Assignment(task, role=self.role, limits=WorkLimits(steps=self.settings.steps))
        await self.worker.work(assignment, self.checkout.workspace, run)
        patch = await self.checkout.patch()
        if not patch:
            run.note("repair", reason="no file of a patch was edited; asked once more")
            again = self._instruction(mode, words)
            now = prompts.LEFT_OUT.format(task=again, left_out=_names(patch)) if patch.left_out else ""
            again = now or prompts.EDIT_NOW.format(task=again)
            await self.worker.work(replace(assignment, task=again), self.checkout.workspace, run)
            patch = await self.checkout.patch()
        return before, patch

    def _earlier(self, before: Patch, *, clean: bool) -> str:
        """What the worker is told of its earlier change, by what the files hold."""
        earlier = self.course.patch if clean else before
        if not earlier:
            return ""
        change = tagged("change", excerpt(earlier.shown, EARLIER_LIMIT, 0.75))
        return (prompts.FROM_CLEAN if clean else prompts.BEFORE).format(patch=change)

    def _instruction(self, mode: str, words: str) -> str:
        template = {"direct": prompts.DIRECT, "guided": prompts.GUIDED, "strict": prompts.STRICT}[mode]
        return template.format(issue=self.issue, plan=tagged("plan", words) if words else "")

    async def _explored(self, assignment: Assignment, run: Run) -> WorkReport:
        async with self.checkout.look() as workspace:
            return await self.worker.work(assignment, workspace, run)

    async def _reports(self, tasks: Sequence[str], run: Run) -> list[Report]:
        """What the workers found out, all at once; nothing that one does to the files is seen by another."""
        assignments = [
            Assignment(
                prompts.EXPLORE.format(issue=self.issue, task=tagged("task", task), limit=REPORT_LIMIT),
                edits=False,
                role=self.role,
                limits=WorkLimits(steps=self.settings.explore_steps),
            )
            for task in tasks
        ]
        found = await run.settle(
            self._explored(assignment, run.child(f"exploration of task {place}"))
            for place, assignment in enumerate(assignments, 1)
        )
        failures = [each for each in found if isinstance(each, SampleFailure)]
        if failures and len(failures) == len(found):
            raise failures[0]
        return [Report(task, _said(each)) for task, each in zip(tasks, found, strict=True)]

    @asynccontextmanager
    async def _phase(self, phase: Phase, number: int, mode: str = "") -> AsyncGenerator[tuple[Run, _Row]]:
        """A phase of a round: its part of the trace, and the row that is filled in; a failed one has a row too."""
        run = self.run.child(f"{phase} {number}")
        row = _Row()
        self.course.begin(phase, number, mode)
        try:
            yield run, row
        except BaseException as error:
            row.remark = f"ended early: {error}" if str(error) else "ended early"
            raise
        finally:
            spent, paid = run.spent_by_role(), run.spent_by_role(paid=True)
            ended = PhaseRow(phase, number, mode, row.verdict, row.patch, spent, paid, row.remark)
            self.course.end(ended)
            run.note("phase", **ended.document())


@dataclass(slots=True)
class _Row:
    verdict: Literal["APPROVE", "REVISE"] | None = None
    patch: PatchState | None = None
    remark: str = ""


def _state(patch: Patch, before: Patch) -> PatchState:
    if not patch:
        return "empty"
    return "unchanged" if patch.content == before.content else "patched"


def _names(patch: Patch) -> str:
    """What is left out of a patch, and why, in words."""
    return "; ".join(f"{shown_path(each.path)} ({each.reason})" for each in patch.left_out[:5])


def _said(found: WorkReport | SampleFailure) -> str:
    if isinstance(found, SampleFailure):
        return f"There is no report: {found}"
    if found.text.strip():
        return found.text
    return f"There is no report: the exploration ended by its limit ({found.reason or found.ended_by})."
