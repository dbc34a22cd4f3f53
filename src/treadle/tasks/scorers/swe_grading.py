"""Whether a patch resolves an instance of SWE-bench: its tests are run on a clean copy with the patch."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from treadle.errors import ProviderError
from treadle.ledger.run import Run
from treadle.parsing.excerpts import excerpt
from treadle.parsing.patches import added_paths, patched_paths
from treadle.parsing.test_logs import TestLog, read_test_log
from treadle.sandbox.base import Command, ExecResult
from treadle.tasks.swe_repositories import Layout
from treadle.tasks.swe_rows import Instance, django_directives
from treadle.workspaces.steering import steering_files

if TYPE_CHECKING:
    from treadle.workspaces.checkout import Checkout
    from treadle.workspaces.trial import Trial

_LOG_BYTES = 32 * 2**20
_SHOWN = 3
_TAIL = 400
_NO_PATCH_PROGRAM = 127
_FUZZY = (
    "command -v patch >/dev/null || exit 127; exec patch --batch --fuzz=5 -p1 --no-backup-if-mismatch --reject-file=-"
)


@dataclass(frozen=True, slots=True)
class Grade:
    """What the tests say of a patch.

    Attributes:
        resolved: Whether all tests pass that have to.
        reason: Why it is not resolved, in words; empty where it is.
        log: What each test came to.
    """

    resolved: bool
    reason: str = ""
    log: TestLog = TestLog()


async def grade_patch(checkout: Checkout, instance: Instance, layout: Layout, patch: str, run: Run) -> Grade:
    """Grade a patch in the steps of SWE-bench's harness (``swebench.harness.run_evaluation``).

    The patch is applied, by ``git apply`` or else by ``patch --fuzz=5``; the files of the test patch, and those that
    steer a test run (`steering_files`) unless the known fix changes them, are set back; the test patch is applied; the
    test command runs on the test files. Resolved is what makes all tests of both lists pass, or fail as expected.

    Args:
        checkout: A checkout of the instance's repository.
        instance: What grades it.
        layout: How it is tested.
        patch: A unified diff; empty for none.
        run: Where it is traced.

    Raises:
        SandboxError: There is no sandbox.
        ProviderError: The sandbox failed, or the test patch does not apply to the repository as it is.
    """
    async with checkout.trial(b"") as trial:
        folder = trial.workspace.folder
        before = steering_files(folder)
        fault = await _applied(trial, patch, run) if patch else ""
        if fault:
            return Grade(False, f"the patch does not apply: {fault}")
        steering = (before | steering_files(folder)) - patched_paths(instance.patch)
        await trial.restore(sorted(patched_paths(instance.test_patch) | steering))
        await _cleared(trial, added_paths(instance.test_patch), run)
        fault = await trial.apply(instance.test_patch.encode())
        if fault:
            return Grade(False, f"the test patch does not apply{' on top of the patch' if patch else ''}: {fault}")
        result = await _tested(trial, instance, layout, run)
    return _judged(instance, layout, result)


async def _applied(trial: Trial, patch: str, run: Run) -> str:
    """Apply a patch as the harness does; why it does not apply, in words."""
    content = patch.encode(errors="replace")
    fault = await trial.apply(content)
    if not fault:
        return ""
    result = await trial.workspace.execute(Command(("/bin/sh", "-c", _FUZZY)), run, stdin=content)
    return "" if result.status == "ok" else fault


async def _cleared(trial: Trial, paths: Iterable[str], run: Run) -> None:
    """Remove what the test patch makes, left by somebody who applied it before; inside, where no link leads out."""
    there = _there(trial.workspace.folder, paths)
    if there:
        await trial.workspace.execute(Command(("/bin/rm", "-rf", "--", *there)), run)


def _there(folder: Path, paths: Iterable[str]) -> list[str]:
    return [f"./{each}" for each in sorted(paths) if os.path.lexists(folder / each)]


async def _tested(trial: Trial, instance: Instance, layout: Layout, run: Run) -> ExecResult:
    files = django_directives(instance.test_files) if layout.style == "django" else instance.test_files
    command = layout.command if "{files}" in layout.command else f"{layout.command} {{files}}"
    command = command.replace("{python}", shlex.quote(str(layout.python))).replace("{files}", shlex.join(files))
    workspace = replace(trial.workspace, limits=replace(trial.workspace.limits, output_bytes=_LOG_BYTES))
    result = await workspace.shell(command, run, seconds=layout.repository.test_seconds)
    if result.status == "refused":
        raise ProviderError(f"the sandbox did not run the tests: {result.reason}")
    return result


def _judged(instance: Instance, layout: Layout, result: ExecResult) -> Grade:
    log = read_test_log(result.stdout, layout.style)
    ended = {
        "timed_out": f"the tests timed out after {layout.repository.test_seconds:g} s",
        "out_of_memory": f"the tests ran out of memory: {result.reason}".rstrip(": "),
        "crashed": f"the tests were killed by signal {result.signal}",
    }.get(result.status, "")
    if result.truncated:
        ended = ended or f"the log of the tests is longer than {_LOG_BYTES // 2**20} MiB"
    if ended:
        return Grade(False, ended, log)
    lists = (("FAIL_TO_PASS", instance.fail_to_pass), ("PASS_TO_PASS", instance.pass_to_pass))
    faults = [words for name, tests in lists if (words := _failed(name, tests, log))]
    if log.fault:
        faults.append(f"{log.fault}; it ends: {excerpt(result.stdout.strip(), _TAIL, head=0)}")
    return Grade(not faults, "; ".join(faults), log)


def _failed(name: str, tests: Iterable[str], log: TestLog) -> str:
    tests = tuple(tests)
    bad = [each for each in tests if not log.passed(each)]
    if not bad:
        return ""
    shown = ", ".join(f"{each} ({log.outcomes.get(each, 'not run').lower()})" for each in bad[:_SHOWN])
    more = f" and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
    return f"{len(bad)} of {len(tests)} {name} tests do not pass: {shown}{more}"
