"""The worker that comes with Treadle: a model is asked for a step, the step is made in the copy, and so on."""

from __future__ import annotations

from dataclasses import dataclass, field

from treadle.agents import prompts
from treadle.agents.actions import Action, Wanted, wanted
from treadle.agents.base import Assignment, EndedBy, WorkReport
from treadle.agents.conversation import Conversation
from treadle.agents.meter import Meter
from treadle.agents.repetition import STUCK_AT, WARNED_AT, Repetition
from treadle.agents.tools.all import tools_for
from treadle.agents.tools.base import Observation
from treadle.agents.tools.submit import SUBMIT
from treadle.errors import ContextLengthError, ProviderError, SandboxError
from treadle.ledger.run import Run
from treadle.models.base import Message
from treadle.workspaces.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ToolWorker:
    """Works by tool calls where the model makes them, and by one fenced command a reply everywhere."""

    @property
    def name(self) -> str:
        """What reports call it."""
        return "tool-worker"

    async def work(self, assignment: Assignment, workspace: Workspace, run: Run) -> WorkReport:
        """Ask, act, observe, until the model ends it or a limit does; every step is saved before the next is asked for.

        Args:
            assignment: What to do.
            workspace: Where; it cannot be written where the assignment does not edit.
            run: The only way to models and commands.

        Raises:
            SampleFailure: The model, the sandbox or the question's own cap failed it; the files stay as they are.
            SandboxError: The sandbox runs no commands in a folder.
            UserError: Dollars are limited, and the model has no price.
            RunLimitError: The run's budget is spent.
        """
        await _refuse_no_commands(run)
        workspace = workspace if assignment.edits else workspace.read_only
        report = await _Work(assignment, workspace, run).to_its_end()
        run.note("end", by=report.ended_by, steps=report.steps, reason=report.reason)
        return report


@dataclass(slots=True)
class _Work:
    """An assignment while it is worked on."""

    assignment: Assignment
    workspace: Workspace
    run: Run
    meter: Meter = field(init=False)
    talk: Conversation = field(init=False)
    past: Repetition = field(default_factory=Repetition)
    said: str = ""

    def __post_init__(self) -> None:
        asked, run = self.assignment, self.run
        with_tools = run.calls_tools(asked.role, asked.model)
        start, at = prompts.EDITING if asked.edits else prompts.LOOKING, self.workspace
        system = start.format(place=at.place, network=prompts.NETWORK[at.network])
        system += prompts.WITH_TOOLS if with_tools else prompts.FENCED
        tools = tuple(tool.declaration for tool in tools_for(edits=asked.edits).values()) if with_tools else ()
        self.meter = Meter(asked.limits)
        self.talk = Conversation(
            [Message("system", system), Message("user", asked.task)], run.room(asked.role, asked.model, {}), tools
        )

    async def to_its_end(self) -> WorkReport:
        """The loop."""
        while True:
            reached = self.meter.reached()
            if reached is not None:
                return self._ended(*reached)
            try:
                reply = await self._ask()
            except ContextLengthError as error:
                return self._ended("context", str(error))
            if not reply.actions:
                return self._ended("done")
            report = await self._act(reply)
            if report is not None:
                return report

    async def _ask(self) -> Wanted:
        """The next reply, as it is understood."""
        if shortened := self.talk.fit():
            self.run.note("left out", observations=shortened, reason="the model's context window", room=self.talk.room)
        asked = self.assignment
        completion = await self.run.ask(
            self.talk.turns, role=asked.role, model=asked.model, tools=self.talk.tools, keep_truncated=True
        )
        self.meter.reply(completion)
        calls = self.talk.own_ids(completion.tool_calls)
        reply = wanted(completion, tools_for(edits=asked.edits), calls)
        self.talk.reply(reply.text, calls)
        self.said = reply.text or self.said
        return reply

    async def _act(self, reply: Wanted) -> WorkReport | None:
        """Do what a reply wants, in order, each answered and saved; the report where that ends the work."""
        unusable = all(action.tool is None for action in reply.actions)
        self.meter.format_errors = self.meter.format_errors + 1 if unusable else 0
        for place, action in enumerate(reply.actions):
            # The first was paid for in time, and a report takes none.
            late = bool(place) and action.tool is not SUBMIT and self.meter.late() is not None
            seen = Observation(prompts.NO_TIME, "skipped") if late else await self._observed(action)
            rounds = 0 if late or action.tool is None else self.past.add(action.words, seen.text)
            text = seen.text + (prompts.REPEATED if WARNED_AT <= rounds < STUCK_AT else "")
            await self.run.keep(
                "step", step=self.meter.steps, action=action.words, observation=text, status=seen.status
            )
            self.talk.observe(text, action.call)
            if seen.status == "refused":
                await self._refuse_no_start()
            if action.tool is SUBMIT:
                self.said = seen.text
                return self._ended("done")
            if rounds >= STUCK_AT:
                return self._ended("stuck", f"the same again and again: {action.words[:200]}")
        return None

    async def _observed(self, action: Action) -> Observation:
        if action.tool is None:
            return Observation(action.fault, "format")
        seen = await action.tool.act(action.arguments, self.workspace, self.run)
        self.meter.seconds += seen.seconds
        return seen

    async def _refuse_no_start(self) -> None:
        """Raise where it was not for the command that it was refused: no other would be run either."""
        tried = await self.workspace.shell("true", self.run)
        if tried.status == "refused":
            name = self.run.sandbox.name
            raise ProviderError(
                f"the sandbox {name} runs no command here: {tried.reason}; `treadle doctor` says what isolates here"
            )

    def _ended(self, by: EndedBy, reason: str = "") -> WorkReport:
        return WorkReport(self.said, by, self.meter.steps, reason)


async def _refuse_no_commands(run: Run) -> None:
    await run.sandbox.open()
    traits = run.sandbox.traits
    if not (traits.commands and traits.folders and traits.inputs):
        raise SandboxError(
            f"the sandbox {run.sandbox.name} runs no commands in a folder, so nobody can work there; --sandbox auto "
            "finds one that does (`treadle doctor` lists them)"
        )
