"""Programs graded by hidden tests that are really run: what passes, what does not, and why."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from treadle.errors import DatasetError, ProviderError, SandboxError, UserError
from treadle.ledger.run import Run
from treadle.ledger.shared_sandbox import SharedSandbox
from treadle.sandbox.base import ExecResult, Limits, Sandbox, Traits
from treadle.sandbox.choose import open_sandbox
from treadle.sandbox.code_tests import CodeTests
from treadle.sandbox.unprotected import Unprotected
from treadle.tasks.base import Sample, Score
from treadle.tasks.gold import apply_gold, check_gold, gold_key
from treadle.tasks.open import open_task
from treadle.tasks.scorers.programs import ProgramScorer
from treadle.tasks.task import Task

ADD = "def add(a, b):\n    return a + b\n"
HEADER = '''\
from typing import List


def double(x):
    return 2 * x


def total(xs: List[int]) -> int:
    """Twice the sum."""
'''
SUM = CodeTests(("assert add(1, 2) == 3", "assert add('a', 'b') == 'ab'"), ("add",))


@pytest.fixture
async def sandbox() -> AsyncGenerator[Sandbox]:
    """The best that works here; what programs are graded does not depend on which."""
    try:
        opened = await open_sandbox("auto")
    except SandboxError:
        opened = Unprotected()
    shared = SharedSandbox(opened, Limits())
    await shared.open()
    yield cast(Sandbox, shared)
    await shared.aclose()
    await opened.aclose()


class Refusing:
    """A sandbox that runs nothing."""

    name = "refusing"
    identity = "refusing 1"
    traits = Traits()

    async def execute(self, *_: object, **__: object) -> ExecResult:
        return ExecResult("refused", reason="no room")


def sample(tests: CodeTests | None = SUM, **fields: Any) -> Sample:
    hidden = {} if tests is None else {"tests": tests}
    return Sample("s", "?", ADD, hidden=hidden, entry_point="add", fields=fields)


async def graded(sandbox: object, answer: str, sample: Sample, seconds: float | None = 5.0) -> Score:
    run = cast(Run, SimpleNamespace(sandbox=sandbox))
    return await ProgramScorer(seconds).score(sample, answer, run)


@pytest.mark.parametrize(
    "answer",
    [
        ADD,
        f"First this:\n```bash\npip install x\n```\nThen:\n```python\n{ADD}```\nIt prints:\n```\n3\n```",
        f"<think>```python\ndef add(a, b): return 0\n```</think>\n```py\n{ADD}```",
        f"````markdown\nInside\n````\n\n~~~python\nimport os\n{ADD}~~~",
    ],
)
async def test_a_right_program_is_right_wherever_it_stands(sandbox: Sandbox, answer: str) -> None:
    score = await graded(sandbox, answer, sample())
    assert (score.value, score.reason, score.failure) == (1.0, "", None)
    assert "return a + b" in score.answer


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return a - b", "test 1 of 2"),
        ("return a + b if a == 1 else 0", "test 2 of 2"),
        ("raise ValueError('nothing here')", "nothing here"),
        ("import os; os.kill(os.getpid(), 9)", "crashed"),
        ("raise SystemExit(0)", "crashed"),
        ("while True: pass", "timed out after 1 s"),
    ],
)
async def test_a_wrong_program_is_a_wrong_answer_with_its_cause(sandbox: Sandbox, body: str, reason: str) -> None:
    score = await graded(sandbox, f"def add(a, b):\n    {body}\n", sample(), 1.0)
    assert (score.value, score.failure) == (0.0, None)
    assert reason in score.reason


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        ("", "format"),
        ("I cannot do this.", "format"),
        ("```python\ndef add(a, b:\n```", None),
        ("```python\nx = 1\n```", None),
    ],
)
async def test_what_holds_no_program_fails_as_format(sandbox: Sandbox, answer: str, failure: str | None) -> None:
    score = await graded(sandbox, answer, sample())
    assert (score.value, score.failure) == (0.0, failure)
    assert score.reason


@pytest.mark.parametrize(
    "answer",
    [
        "    return double(sum(xs))\n",
        "```python\nreturn double(sum(xs))\n```",
        "```python\ndef total(xs: List[int]) -> int:\n    return double(sum(xs))\n```",
        f"```python\n{HEADER}    return double(sum(xs))\n```",
    ],
)
async def test_a_reply_that_goes_on_where_the_question_ends_is_completed(sandbox: Sandbox, answer: str) -> None:
    question = Sample(
        "h", "?", hidden={"tests": CodeTests(("def check(f):\n    assert f([1, 2]) == 6",), ("total",), check="check")}
    )
    question = Sample(question.id, "?", hidden=question.hidden, entry_point="total", fields={"header": HEADER})
    score = await graded(sandbox, answer, question)
    assert (score.value, score.reason) == (1.0, "")


async def test_what_the_sandbox_refuses_is_not_the_answers_fault() -> None:
    with pytest.raises(ProviderError, match="no room"):
        await graded(Refusing(), ADD, sample())
    with pytest.raises(UserError, match="no hidden tests"):
        await graded(Refusing(), ADD, sample(None))


async def test_the_limits_are_the_sandboxs_own_but_for_the_seconds_given() -> None:
    class Asked:
        name = "asked"
        traits = Traits()
        limits = Limits(seconds=7.0, memory=99)

        async def execute(self, *_: object, limits: Limits, **__: object) -> ExecResult:
            given.append(limits)
            return ExecResult("refused", reason="seen")

    given: list[Limits] = []
    for seconds in (None, 2.0):
        with pytest.raises(ProviderError):
            await graded(Asked(), ADD, sample(), seconds)
    assert [limits.memory for limits in given] == [99, 99]
    assert given[0].seconds > given[1].seconds


def test_votes_count_programs_and_not_their_layout() -> None:
    scorer = ProgramScorer()
    same = "Sure:\n```python\ndef add(a,b):\n    '''Adds.'''\n    return (a+b)  # done\n```"
    assert scorer.same(ADD, same)
    assert scorer.same(same, ADD)
    assert not scorer.same(ADD, ADD.replace("+", "-"))
    assert not scorer.same("Sorry", "Sorry")
    assert not scorer.same("```python\ndef (\n```", "```python\ndef (\n```")


def test_a_program_is_shown_as_a_reply_that_reads_back() -> None:
    scorer = ProgramScorer()
    fences = 'def add(a, b):\n    """```\n    >>> 1\n    ```"""\n    return a + b\n'
    assert scorer.same(scorer.show(fences), fences)
    assert "```python" in scorer.answer_format
    assert (scorer.name, ProgramScorer(2.5).name) == ("tests", "tests?seconds=2.5")


def task_of(*references: str | None) -> Task:
    samples = (
        Sample(str(n), "?", each, hidden={"tests": SUM}, entry_point="add", line=n + 1)
        for n, each in enumerate(references)
    )
    return Task("code", tuple(samples), ProgramScorer(5.0))


async def test_references_are_run_before_anything_is_spent(sandbox: Sandbox) -> None:
    task = task_of(ADD, ADD.replace("+", "-"), None, ADD)
    seen: list[tuple[int, int]] = []
    report = await check_gold(task, sandbox, watch=lambda done, of: seen.append((done, of)))
    assert report.checked == 3
    assert [(bad.id, bad.line) for bad in report.bad] == [("1", 2)]
    assert "test 1 of 2" in report.bad[0].reason
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert report.key == gold_key(task, sandbox) != gold_key(task)
    with pytest.raises(DatasetError, match="1 of 3 references"):
        apply_gold(task, report)


async def test_references_that_cannot_be_run_are_not_called_wrong() -> None:
    with pytest.raises(SandboxError, match="no room"):
        await check_gold(task_of(ADD, ADD), cast(Sandbox, Refusing()))
    with pytest.raises(SandboxError, match="takes a sandbox"):
        await check_gold(task_of(ADD))


@pytest.mark.shared
@pytest.mark.parametrize("kind", ["humaneval", "mbpp", "quixbugs"])
async def test_every_reference_of_the_public_sets_passes(shared_data: Path, sandbox: Sandbox, kind: str) -> None:
    task = open_task(f"{kind}:{kind}/{kind}.jsonl", folder=shared_data)
    report = await check_gold(task, sandbox)
    assert (report.checked, report.bad) == (len(task.samples), ())


@pytest.mark.shared
async def test_every_buggy_program_fails(shared_data: Path, sandbox: Sandbox) -> None:
    task = open_task("quixbugs:quixbugs/quixbugs.jsonl?seconds=2", folder=shared_data)
    run = cast(Run, SimpleNamespace(sandbox=sandbox))
    scores = await asyncio.gather(*(task.scorer.score(each, each.input, run) for each in task.samples))
    assert [score.value for score in scores] == [0.0] * 20
    assert all(score.reason and score.failure is None for score in scores)
