"""The worker that comes with Treadle: a model is asked for a step, the step is made in the copy, and so on."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from treadle.agents.base import Assignment, WorkLimits
from treadle.agents.tool_worker import ToolWorker
from treadle.agents.tools.base import OBSERVATION_LIMIT
from treadle.config_models import ModelSettings
from treadle.ledger.recording import Recording
from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.models.scripted import Scripted
from treadle.sandbox.base import Limits
from treadle.testing.sessions import recording_run
from treadle.workspaces.workspace import Workspace

Reply = Callable[[Request], Scripted]
LIMITS = Limits(seconds=20)


def call(tool: str, id: str = "c1", **arguments: Any) -> dict[str, Any]:
    """A reply that calls one tool."""
    return {"tool_calls": [{"id": id, "name": tool, "arguments": arguments}]}


def bash(command: str) -> str:
    """A reply with one fenced command."""
    return f"Let me see.\n\n```bash\n{command}\n```"


def script(*replies: Scripted) -> Reply:
    """A model that says one thing after another."""
    left = list(replies)
    return lambda request: left.pop(0)


@asynccontextmanager
async def bench(model: Reply, **settings: Any) -> AsyncGenerator[tuple[Run, Recording]]:
    """A run on which one model works."""
    async with recording_run(model, **settings) as opened:
        yield opened


def files(folder: Path) -> list[str]:
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def last(requests: Sequence[Request]) -> str:
    """What the model was told last."""
    return requests[-1].messages[-1].content


def watched(model: Reply) -> tuple[Reply, list[Request]]:
    """A model, and the requests that reach it."""
    requests: list[Request] = []

    def answer(request: Request) -> Scripted:
        requests.append(request)
        return model(request)

    return answer, requests


async def test_steps_by_tool_calls_change_the_files(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"def f():\r\n    return 1\r\n")
    model, requests = watched(
        script(
            call("read", path="a.py"),
            call("edit", path="a.py", old="return 1\n", new="return 2\n"),
            call("shell", command="python3 -c 'import a; print(a.f())'"),
            call("submit", report="f gives 2 now"),
        )
    )
    async with bench(model) as (run, _):
        report = await ToolWorker().work(Assignment("make f give 2"), Workspace(tmp_path, tmp_path, LIMITS), run)
    assert (report.text, report.ended_by, report.steps) == ("f gives 2 now", "done", 4)
    assert (tmp_path / "a.py").read_bytes() == b"def f():\r\n    return 2\r\n"
    assert "2\treturn 1" in requests[1].messages[-1].content.replace("    return", "return")
    assert last(requests) == "[exit code 0]\n2"
    assert [message.role for message in requests[-1].messages] == ["system", "user", *["assistant", "tool"] * 3]


async def test_one_fenced_command_does_where_a_model_calls_no_tools(tmp_path: Path) -> None:
    model, requests = watched(script(bash("echo hi > new.txt"), "I made new.txt."))
    settings = {"m": ModelSettings("scripted:m", tools=False)}
    async with bench(model, settings=settings) as (run, _):
        report = await ToolWorker().work(Assignment("make it"), Workspace(tmp_path, tmp_path, LIMITS), run)
    assert report.text == "I made new.txt."
    assert (tmp_path / "new.txt").read_text() == "hi\n"
    assert requests[0].tools == ()
    assert "```bash" in requests[0].messages[0].content
    assert len(requests[0].messages[0].content) < 1_400


@pytest.mark.parametrize(("network", "words"), [(False, "There is no network."), (True, "can reach the network.")])
@pytest.mark.parametrize("edits", [True, False])
async def test_a_worker_is_told_whether_there_is_a_network(
    tmp_path: Path, network: bool, words: str, edits: bool
) -> None:
    model, requests = watched(script("done"))
    async with bench(model) as (run, _):
        workspace = Workspace(tmp_path, tmp_path, LIMITS, network=network)
        await ToolWorker().work(Assignment("x", edits=edits), workspace, run)
    assert words in requests[0].messages[0].content
    assert requests[0].messages[0].content.count("network") == 1


async def test_a_fenced_command_does_for_a_model_with_tools_too(tmp_path: Path) -> None:
    model, requests = watched(script(bash("echo hi > new.txt"), "done"))
    async with bench(model) as (run, _):
        await ToolWorker().work(Assignment("make it"), Workspace(tmp_path, tmp_path, LIMITS), run)
    assert {tool.name for tool in requests[0].tools} == {"shell", "read", "search", "edit", "write", "submit"}
    assert (tmp_path / "new.txt").exists()


async def test_who_explores_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n")
    model, requests = watched(script(bash("echo 2 > a.txt; touch b.txt"), "nothing to see"))
    workspace = Workspace(tmp_path, tmp_path, LIMITS).read_only
    async with bench(model) as (run, _):
        report = await ToolWorker().work(Assignment("look", edits=False), workspace, run)
    assert report.text == "nothing to see"
    assert (tmp_path / "a.txt").read_text() == "1\n"
    assert not (tmp_path / "b.txt").exists()
    assert {tool.name for tool in requests[0].tools} == {"shell", "read", "search", "submit"}


async def test_two_commands_are_a_format_error_and_none_is_run(tmp_path: Path) -> None:
    two = bash("touch one") + "\n" + bash("touch two")
    model, requests = watched(script(two, "I give up."))
    async with bench(model) as (run, _):
        await ToolWorker().work(Assignment("x"), Workspace(tmp_path, tmp_path, LIMITS), run)
    assert "2 commands" in last(requests)
    assert files(tmp_path) == []


async def test_several_calls_are_done_in_their_order_and_each_is_answered(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = [
        {"id": "1", "name": "shell", "arguments": {"command": "echo a > f"}},
        {"id": "2", "name": "nothing", "arguments": {}},
        {"id": "3", "name": "shell", "arguments": {"command": "echo b >> f"}},
    ]
    model, requests = watched(script({"text": "", "tool_calls": calls}, "done"))
    async with bench(model) as (run, _):
        await ToolWorker().work(Assignment("x"), Workspace(tmp_path, tmp_path, LIMITS), run)
    assert (tmp_path / "f").read_text() == "a\nb\n"
    answered = {message.tool_call_id: message.content for message in requests[-1].messages if message.role == "tool"}
    assert set(answered) == {"1", "2", "3"}
    assert "there is no tool 'nothing'" in answered["2"]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [("{", "not JSON"), ("[]", "cannot be used"), ('{"cmd": "ls"}', "cannot be used"), ('{"command": 3}', "cannot be")],
)
async def test_arguments_that_cannot_be_used_are_told(tmp_path: Path, arguments: str, fault: str) -> None:
    bad = {"tool_calls": [{"id": "1", "name": "shell", "arguments": arguments}]}
    model, requests = watched(script(bad, "done"))
    async with bench(model) as (run, _):
        await ToolWorker().work(Assignment("x"), Workspace(tmp_path, tmp_path, LIMITS), run)
    assert fault in last(requests)


async def test_a_reply_cut_by_its_limit_does_nothing(tmp_path: Path) -> None:
    cut = {"text": bash("touch half"), "finish_reason": "length"}
    model, requests = watched(script(cut, "done"))
    async with bench(model) as (run, _):
        await ToolWorker().work(Assignment("x"), Workspace(tmp_path, tmp_path, LIMITS), run)
    assert "cut by its token limit" in last(requests)
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("command", "seen"),
    [
        ("kill -9 $$", "[ended by signal 9, no output]"),
        ("exit 3", "[exit code 3, no output]"),
        ("echo out; echo err >&2", "[exit code 0]\nout\nerr"),
        ("printf 'a\\0b\\377'", "a\0b"),
        ("(sleep 30; echo late) & echo now", "now"),
        ("touch /usr/here", "Read-only"),
        ("cat /root/.ssh/id_rsa /etc/shadow", "[exit code 1]"),
    ],
)
async def test_commands_end_whatever_they_do(tmp_path: Path, command: str, seen: str) -> None:
    model, requests = watched(script(bash(command), "done"))
    async with bench(model) as (run, _):
        await ToolWorker().work(Assignment("x"), Workspace(tmp_path, tmp_path, LIMITS), run)
    assert seen in last(requests)


async def test_a_command_that_hangs_is_ended_and_its_output_kept(tmp_path: Path) -> None:
    model, requests = watched(script(bash("echo begun; sleep 60"), "done"))
    async with bench(model) as (run, _):
        await ToolWorker().work(Assignment("x"), Workspace(tmp_path, tmp_path, Limits(seconds=0.5)), run)
    assert "timed out" in last(requests)
    assert "begun" in last(requests)


async def test_long_output_keeps_both_ends_and_counts_the_rest(tmp_path: Path) -> None:
    model, requests = watched(script(bash("seq 1 200000"), "done"))
    async with bench(model) as (run, _):
        await ToolWorker().work(Assignment("x"), Workspace(tmp_path, tmp_path, LIMITS), run)
    assert "\n1\n2\n" in last(requests)
    assert last(requests).endswith("200000")
    assert "left out" in last(requests)
    assert len(last(requests)) < OBSERVATION_LIMIT + 100


async def test_every_step_is_saved_before_the_next_is_asked_for(tmp_path: Path) -> None:
    saved: list[int] = []
    async with bench(script()) as (run, recording):
        store = recording.journal.store

        def answer(request: Request) -> Scripted:
            saved.append(len(store.events("step", None, recording.id)))
            return bash(f"echo {len(saved)}") if len(saved) < 4 else "done"

        recording.endpoint().model._reply = answer  # pyright: ignore[reportAttributeAccessIssue, reportPrivateUsage]
        await ToolWorker().work(Assignment("x"), Workspace(tmp_path, tmp_path, LIMITS), run)
        payload = json.loads(store.events("step", None, recording.id)[0].payload)
    assert saved == [0, 1, 2, 3]
    assert (payload["step"], payload["action"], payload["observation"]) == (1, "echo 1", "[exit code 0]\n1")


async def test_old_output_is_left_out_where_the_window_is_small(tmp_path: Path) -> None:
    model, requests = watched(lambda request: bash(f"echo {len(request.messages)}; seq 1 400"))
    settings = {"m": ModelSettings("scripted:m", context_window=3_000, settings={"max_tokens": 200})}
    async with bench(model, settings=settings) as (run, _):
        assignment = Assignment("the task", limits=WorkLimits(steps=8))
        report = await ToolWorker().work(assignment, Workspace(tmp_path, tmp_path, LIMITS), run)
    assert (report.ended_by, report.steps) == ("steps", 8)
    assert max(sum(len(message.content) for message in each.messages) for each in requests) < 3 * 2_800
    final = requests[-1].messages
    assert final[1].content == "the task"
    assert "output left out" in final[3].content
    assert "400" in final[-1].content
