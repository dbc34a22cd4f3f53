"""What models do that a worker must stand: odd ids, two kinds of action at once, repositories that shadow modules."""

from __future__ import annotations

import shutil
import subprocess
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from treadle.agents.actions import wanted
from treadle.agents.base import Assignment, WorkReport
from treadle.agents.conversation import Conversation, tokens
from treadle.agents.tool_worker import ToolWorker
from treadle.agents.tools.all import tools_for
from treadle.agents.tools.guest import files
from treadle.errors import SandboxError
from treadle.models.base import Completion, Message, Request, ToolCall
from treadle.models.scripted import Scripted
from treadle.sandbox.base import Limits
from treadle.testing.sessions import recording_run
from treadle.workspaces.workspace import Workspace

TOOLS = tools_for(edits=True)


async def work(folder: Path, *replies: Scripted, **settings: Any) -> tuple[WorkReport, list[Request]]:
    """What comes of a worker whose model says one thing after another, and what the model was sent."""
    left, requests = list(replies), list[Request]()

    def answer(request: Request) -> Scripted:
        requests.append(request)
        return left.pop(0)

    async with recording_run(answer, **settings) as (run, _):
        workspace = Workspace(folder, folder, Limits(seconds=20))
        return await ToolWorker().work(Assignment("do it"), workspace, run), requests


def names(folder: Path) -> list[str]:
    """What is in a folder."""
    return sorted(path.name for path in folder.iterdir())


def calling(id: str, command: str) -> dict[str, Any]:
    """A call of the shell under an id."""
    return {"id": id, "name": "shell", "arguments": {"command": command}}


async def test_every_call_is_answered_under_an_id_of_its_own(tmp_path: Path) -> None:
    twice = {"tool_calls": [calling("", "echo 1"), calling("", "echo 2")]}
    _, requests = await work(tmp_path, twice, {"tool_calls": [calling("call-1", "echo 3")]}, "done")
    turns = requests[-1].messages
    made = [call.id for turn in turns for call in turn.tool_calls]
    assert len(made) == len(set(made)) == 3
    assert all(made)
    assert [turn.tool_call_id for turn in turns if turn.role == "tool"] == made


async def test_tool_calls_win_over_a_fenced_command(tmp_path: Path) -> None:
    both = {"text": "```bash\ntouch fenced\n```", "tool_calls": [calling("1", "touch called")]}
    await work(tmp_path, both, "done")
    assert names(tmp_path) == ["called"]


async def test_what_comes_after_submit_is_not_done(tmp_path: Path) -> None:
    submit = {"id": "1", "name": "submit", "arguments": {"report": "all done"}}
    report, _ = await work(tmp_path, {"tool_calls": [submit, calling("2", "touch late")]})
    assert (report.text, report.ended_by) == ("all done", "done")
    assert names(tmp_path) == []


@pytest.mark.parametrize("sandbox", ["auto", "none"])
@pytest.mark.filterwarnings("ignore:programs run unprotected")
async def test_a_repository_with_modules_of_the_library_can_be_read(tmp_path: Path, sandbox: str) -> None:
    for name in ("fnmatch", "shutil", "subprocess", "json", "re"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not this one')\n")
    async with recording_run(lambda request: "", sandbox=sandbox) as (run, _):
        workspace = Workspace(tmp_path, tmp_path, Limits(seconds=20))
        seen = await TOOLS["search"].act({"pattern": "not this"}, workspace, run)
    assert (seen.status, seen.text.count("not this one")) == ("ok", 5)


async def test_a_sandbox_without_commands_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="runs no commands"):
        await work(tmp_path, "done", sandbox="monty")


async def test_much_output_is_bounded_and_counted(tmp_path: Path) -> None:
    _, requests = await work(tmp_path, "```sh\nhead -c 50000000 < <(yes)\n```", "done")
    seen = requests[-1].messages[-1].content
    assert "49,990,000 bytes left out" in seen
    assert len(seen) < 10_200


@pytest.mark.parametrize(
    "text",
    [
        "Ich habe nichts geändert.",
        "已经完成。",
        "See:\n```python\nx = 1\n```",
        "Run `ls` to see.",
        "```diff\n-a\n+b\n```",
    ],
)
def test_a_reply_without_a_command_ends_the_work(text: str) -> None:
    assert wanted(Completion(text), TOOLS, ()).actions == ()


@pytest.mark.parametrize("text", ["", "  \n", "<think>let me run it", "<think>```bash\nls\n```</think>"])
def test_a_reply_of_nothing_but_thoughts_is_a_format_error(text: str) -> None:
    (action,) = wanted(Completion(text), TOOLS, ()).actions
    assert action.tool is None
    assert "empty" in action.fault


def test_a_thought_of_command_is_not_the_one_that_is_run() -> None:
    reply = Completion("<think>```bash\nrm -r .\n```</think>\n```shell\nls\n```")
    assert [action.words for action in wanted(reply, TOOLS, ()).actions] == ["ls"]


def test_a_call_that_was_cut_is_told_as_such() -> None:
    call = ToolCall("1", "write", '{"path": "a.py", "content": "x = ')
    (action,) = wanted(Completion("", finish_reason="length"), TOOLS, (call,)).actions
    assert "cut by its token limit" in action.fault


def talk_of(outputs: int, room: int) -> Conversation:
    """A conversation with so many outputs of 3,000 characters."""
    talk = Conversation([Message("system", "s" * 300), Message("user", "t" * 3_000)], room)
    for number in range(outputs):
        talk.reply("next", ())
        talk.observe(f"{number}" * 3_000, None)
    return talk


@pytest.mark.parametrize(("room", "kept"), [(100_000, "01234"), (4_500, "234"), (100, "4")])
def test_the_oldest_outputs_make_room_and_nothing_else(room: int, kept: str) -> None:
    talk = talk_of(5, room)
    before = list(talk.turns)
    talk.fit()
    assert "".join(turn.content[0] for turn in talk.turns[3::2] if "left out" not in turn.content) == kept
    assert talk.turns[:2] == before[:2]
    assert talk.turns[2::2] == before[2::2]
    assert talk.fit() == 0
    assert room == 100 or tokens(talk.turns) <= room


@pytest.mark.parametrize("ripgrep", [True, False])
def test_searching_finds_the_same_with_and_without_ripgrep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ripgrep: bool
) -> None:
    if not ripgrep:
        monkeypatch.setattr(files.shutil, "which", lambda name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a b.py").write_text("one\ndef two\n")
    (tmp_path / "c.bin").write_bytes(b"\0def two")
    monkeypatch.chdir(tmp_path)
    found = files.search("def \\w+", glob="*.py").replace("./", "")
    assert found == "sub/a b.py:2:def two"


@pytest.mark.parametrize("ripgrep", [True, False])
@pytest.mark.parametrize("glob", ["", "*.py"])
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".", {"a.py", "sub/b.py"}),
        ("sub", {"sub/b.py"}),
        (".hidden", {".hidden/x.py"}),
        ("made", {"made/x.py"}),
        ("made/x.py", {"made/x.py"}),
    ],
)
def test_hidden_and_ignored_files_are_found_only_where_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ripgrep: bool, glob: str, path: str, expected: set[str]
) -> None:
    if not ripgrep:
        monkeypatch.setattr(files.shutil, "which", lambda name: None if name == "rg" else name)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    elif not shutil.which("rg"):
        pytest.skip("no ripgrep is here")
    for name in ("a.py", "sub/b.py", ".hidden/x.py", "sub/.x.py", "made/x.py", "sub/made/x.py", "x_gen.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a needle\n")
    (tmp_path / ".gitignore").write_text("made/\n*_gen.py\n")
    (tmp_path / "link.py").symlink_to("a.py")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    monkeypatch.chdir(tmp_path)
    found = files.search("needle", path, glob).splitlines()
    assert {line.removeprefix("./").partition(":")[0] for line in found} == expected


@pytest.mark.skipif(not shutil.which("rg"), reason="no ripgrep is here")
def test_much_that_matches_is_never_held_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        (tmp_path / f"{number}.txt").write_text(("x" * 2_000 + "\n") * 500)
    monkeypatch.chdir(tmp_path)
    tracemalloc.start()
    try:
        found = files.search("x")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.endswith("[more than 100 matches; the rest is left out]")
    assert most < 2_000_000


@pytest.mark.parametrize(
    ("content", "old", "new", "after"),
    [
        (b"a\r\nb\r\n", "a\nb", "c\nd", b"c\r\nd\r\n"),
        (b"a\r\nb\nc\n", "b\nc", "x\ny", b"a\r\nx\ny\n"),
        (b"a\nb", "b", "c", b"a\nc"),
        (b"\xff a \xfe", "a", "\N{GREEK SMALL LETTER BETA}", b"\xff \xce\xb2 \xfe"),
        (b"\0a\0", "a", "b", b"\0b\0"),
    ],
)
def test_an_edit_leaves_every_other_byte(tmp_path: Path, content: bytes, old: str, new: str, after: bytes) -> None:
    file = tmp_path / "f"
    file.write_bytes(content)
    files.edit(str(file), old, new)
    assert file.read_bytes() == after


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: files.edit("missing.py", "a", "b"), "does not exist"),
        (lambda: files.edit("f", "", "b"), "old is empty"),
        (lambda: files.edit(".", "a", "b"), "is a folder"),
        (lambda: files.read("huge"), "larger than 4 MB"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[], str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f").write_text("a")
    with Path("huge").open("wb") as huge:
        huge.truncate(5_000_000)
    with pytest.raises(files.Refused, match=words):
        act()
