from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.exploration_tasks import exploration_tasks

WHAT = st.from_regex(r"[A-Za-z][A-Za-z0-9 ,./()]{0,40}[a-z]", fullmatch=True)


@given(
    st.lists(WHAT, min_size=1, max_size=5, unique=True),
    st.sampled_from(
        [
            "",
            "- ",
            "* ",
            "1. ",
            "2) ",
            "(3) ",
            "> ",
            "## ",
            "**",
            "- **",
            "1. **",
            "  ",
            "• ",
            "- [ ] ",
            "1. [x] ",
            "[ ] 2. ",
        ]
    ),
    st.sampled_from(["TASK:", "TASK 2:", "TASK #2:", "**TASK:**", "**TASK**:", "TASK :", "Task:", "`TASK:`", "TASK："]),
    st.sampled_from(["\n", "\n\n", "\nbecause of that\n"]),
)
def test_tasks_are_found_however_they_are_listed(whats: list[str], mark: str, word: str, between: str) -> None:
    reply = between.join(f"{mark}{word} {what}" for what in whats)
    assert exploration_tasks(f"Here they are.\n{reply}\nThat is all.") == tuple(whats)


@pytest.mark.parametrize(
    ("reply", "tasks"),
    [
        ("```\nTASK: read a.py\nTASK: read b.py\n```", ("read a.py", "read b.py")),
        ("TASK: **read `a.py`**", ("read `a.py`",)),
        ("- `TASK: read a.py`", ("read a.py",)),
        ("`TASK:` read `a.py`", ("read `a.py`",)),
        ("TASK:\nread a.py\nread b.py", ("read a.py",)),
        ("TASK:\n\n- TASK: read a.py", ("read a.py",)),
        ("TASK: read a.py\nTASK: read a.py", ("read a.py",)),
        ("<think>TASK: not this</think>TASK: read a.py", ("read a.py",)),
        ("TASK: läs filen för «größe» 文件", ("läs filen för «größe» 文件",)),
    ],
)
def test_forms_that_were_met(reply: str, tasks: tuple[str, ...]) -> None:
    assert exploration_tasks(reply) == tasks


@pytest.mark.parametrize("reply", ["", "TASK", "TASK:", "TASKS: none", "The TASK: read", "task: read", "MULTITASK: x"])
def test_what_only_looks_like_a_task(reply: str) -> None:
    assert exploration_tasks(reply) == ()


@pytest.mark.parametrize(
    "line", ["*" * 200_000, "TASK" + " " * 200_000, "TASK:" + "*" * 200_000 + "x", "1. " * 60_000, "[ ] " * 50_000]
)
def test_marks_without_end_take_no_time(line: str) -> None:
    begun = time.perf_counter()
    exploration_tasks(line)
    assert time.perf_counter() - begun < 0.5
