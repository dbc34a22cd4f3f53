"""How a worker's work ends that does not end it itself: limits, going round, a full window, a sandbox that refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from treadle.agents import prompts
from treadle.agents.actions import MOST_CALLS
from treadle.agents.base import Assignment, WorkLimits, WorkReport
from treadle.agents.repetition import Repetition
from treadle.agents.tool_worker import ToolWorker
from treadle.config_models import ModelSettings, PriceSettings
from treadle.errors import ContextLengthError, ProviderError, RejectedError, SampleBudgetError, UserError
from treadle.ledger.budget import Budget
from treadle.models.base import Completion, Request, ToolCall
from treadle.models.scripted import Scripted
from treadle.sandbox.base import Limits
from treadle.testing.sessions import recording_run
from treadle.workspaces.workspace import Workspace

Reply = Callable[[Request], Scripted]


class Bench:
    """A folder with a model that works there, and what the model was sent."""

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace(folder, folder, Limits(seconds=20))
        self.requests: list[Request] = []
        self.paid = 0
        self.usd = 0.0

    async def work(self, model: Reply | Sequence[Scripted], limits: WorkLimits | None = None, **run: Any) -> WorkReport:
        """What comes of it; a sequence is said one after another."""
        left = [] if callable(model) else list(model)

        def answer(request: Request) -> Scripted:
            self.requests.append(request)
            return model(request) if callable(model) else left.pop(0)

        async with recording_run(answer, **run) as (opened, recording):
            try:
                return await ToolWorker().work(Assignment("x", limits=limits or WorkLimits()), self.workspace, opened)
            finally:
                self.paid, self.usd = recording.tally.paid, recording.tally.usd

    @property
    def last(self) -> str:
        """What the model was told last."""
        return self.requests[-1].messages[-1].content


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A bench in an empty folder."""
    return Bench(tmp_path)


def bash(command: str) -> str:
    """A reply with one fenced command."""
    return f"Let me see.\n\n```bash\n{command}\n```"


def calls(*commands: str, seconds: float = 0.0, report: str = "") -> Completion:
    """A reply of several calls of the shell, and one of submit where there is a report."""
    made = [ToolCall(str(place), "shell", json.dumps({"command": each})) for place, each in enumerate(commands)]
    submit = [ToolCall("submit", "submit", json.dumps({"report": report}))] if report else []
    return Completion("", tool_calls=(*made, *submit), seconds=seconds)


async def test_format_errors_in_a_row_end_it_and_are_counted(bench: Bench) -> None:
    two = bash("true") + "\n" + bash("true")
    report = await bench.work([two, "", bash("true"), two, two, two])
    assert (report.ended_by, report.steps, bench.paid) == ("format", 6, 6)


async def test_steps_end_it(bench: Bench) -> None:
    report = await bench.work(lambda request: bash(f"echo {len(request.messages)}"), WorkLimits(steps=3))
    assert (report.ended_by, report.steps) == ("steps", 3)


async def test_a_dollar_limit_is_not_passed_by_replies_that_cannot_be_used(bench: Bench) -> None:
    unusable = {"text": "", "usage": {"input": 0, "output": 1_000_000}}
    settings = {"m": ModelSettings("scripted:m", price=PriceSettings(1.0, 1.0))}
    report = await bench.work(lambda request: unusable, WorkLimits(usd=2.5, format_errors=9), settings=settings)
    assert (report.ended_by, report.steps, bench.usd) == ("usd", 2, 2.0)


async def test_a_dollar_limit_needs_a_price(bench: Bench) -> None:
    with pytest.raises(UserError, match="price"):
        await bench.work(["x"], WorkLimits(usd=1.0))


async def test_time_that_is_over_ends_a_reply_of_many_calls_after_the_first(bench: Bench) -> None:
    reply = calls("echo 1 >> f", "echo 2 >> f", "echo 3 >> f", seconds=60)
    report = await bench.work([reply], WorkLimits(seconds=50))
    assert (report.ended_by, report.steps) == ("seconds", 1)
    assert (bench.workspace.folder / "f").read_text() == "1\n"


async def test_a_report_counts_however_late_it_is(bench: Bench) -> None:
    report = await bench.work([calls("echo 1 >> f", "echo 2 >> f", report="done", seconds=60)], WorkLimits(seconds=50))
    assert (report.ended_by, report.text) == ("done", "done")
    assert (bench.workspace.folder / "f").read_text() == "1\n"


async def test_no_reply_does_more_than_so_many_things(bench: Bench) -> None:
    report = await bench.work([calls(*(f"echo {number} >> f" for number in range(MOST_CALLS + 5))), "done"])
    assert report.ended_by == "done"
    assert len((bench.workspace.folder / "f").read_text().split()) == MOST_CALLS
    answers = [turn.content for turn in bench.requests[-1].messages if turn.role == "tool"]
    assert len(answers) == MOST_CALLS + 5
    assert set(answers[MOST_CALLS:]) == {prompts.TOO_MANY.format(most=MOST_CALLS)}


async def test_a_worker_that_does_the_same_again_is_told_and_then_ended(bench: Bench) -> None:
    report = await bench.work(lambda request: bash("cat missing.txt"))
    assert (report.ended_by, report.steps) == ("stuck", 5)
    assert "do something else" in bench.last


async def test_going_round_between_two_commands_is_noticed(bench: Bench) -> None:
    report = await bench.work(lambda request: bash(f"echo {len(request.messages) // 2 % 2}"))
    assert (report.ended_by, report.steps) == ("stuck", 10)


@pytest.mark.parametrize(
    "outcome",
    [
        "Ran 1 test in 0.{n}13s",
        "== 3 failed in 1{n} s ==",
        "1{n}ms",
        "process 1234{n} was ended",
        "<object at 0x7fab{n}0>",
        "2026-01-0{n} 10:00:0{n}",
    ],
)
def test_times_and_addresses_make_no_new_outcome(outcome: str) -> None:
    past = Repetition()
    assert [past.add("make test", outcome.format(n=number)) for number in range(5)] == [1, 2, 3, 4, 5]


def test_other_outcomes_of_one_action_are_some_way_on_but_no_way_without_end() -> None:
    past = Repetition()
    rounds = [past.add("./mend_one", f"{10 - number} failures left") for number in range(10)]
    assert rounds == [1, 1, 1, 2, 2, 3, 3, 4, 4, 5]
    assert past.add("./other", "4 failures left") == 1


async def test_a_command_with_ever_new_output_is_noticed(bench: Bench) -> None:
    report = await bench.work(lambda request: bash("mktemp -u"))
    assert (report.ended_by, report.steps) == ("stuck", 10)


async def test_a_full_window_ends_it_as_such(bench: Bench) -> None:
    def refuse(request: Request) -> Scripted:
        raise ContextLengthError("9000 tokens are too many", status=400)

    report = await bench.work(refuse)
    assert (report.ended_by, report.reason) == ("context", "9000 tokens are too many")


@pytest.mark.parametrize("error", [ProviderError("no"), RejectedError("no such setting: context", status=400)])
async def test_a_provider_that_fails_is_no_end_of_the_worker(bench: Bench, error: ProviderError) -> None:
    def fail(request: Request) -> Scripted:
        raise error

    with pytest.raises(ProviderError, match="no"):
        await bench.work(fail)


async def test_the_questions_own_cap_is_no_end_of_the_worker_either(bench: Bench) -> None:
    with pytest.raises(SampleBudgetError):
        await bench.work(lambda request: bash("touch f"), caps=Budget(calls=1))
    assert (bench.workspace.folder / "f").exists()


@pytest.mark.parametrize("reply", [bash("ls"), {"tool_calls": [{"name": "read", "arguments": {"path": "f"}}]}])
async def test_a_sandbox_that_refuses_everything_ends_it_at_once(bench: Bench, reply: Scripted) -> None:
    missing = bench.workspace.folder / "missing"
    bench.workspace = replace(bench.workspace, readable=(missing,))
    with pytest.raises(ProviderError, match=f"runs no command here.*{missing} is to be readable"):
        await bench.work(lambda request: reply)
    assert bench.paid == 1


async def test_a_command_that_alone_is_refused_is_told(bench: Bench) -> None:
    report = await bench.work([calls("echo " + "x" * 300_000), calls("echo a\0b"), "done"])
    told = [turn.content for turn in bench.requests[-1].messages if turn.role == "tool"]
    assert report.ended_by == "done"
    assert all("not run" in each for each in told)
