"""Patches: right when the instance's tests pass on a clean copy of its repository with the patch."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treadle.errors import SandboxError, UserError
from treadle.ledger.run import Run
from treadle.parsing.fences import fenced
from treadle.parsing.patches import normal_patch, patch_in
from treadle.tasks.base import Sample, Score
from treadle.tasks.scorers.swe_grading import grade_patch
from treadle.tasks.swe_predictions import write_predictions
from treadle.tasks.swe_repositories import Layout
from treadle.tasks.swe_rows import Instance

if TYPE_CHECKING:
    from treadle.workspaces.checkout import Checkout

INSTANCE = "instance"
"""The name of a sample's `Instance` in ``Sample.hidden``."""
EMPTY_PATCH = "empty patch"
"""Reason and label of an answer that changes nothing."""
NO_PATCH = "no patch was found in the reply"


@dataclass(frozen=True, slots=True)
class SweScorer:
    """Right when the patch in the reply resolves its instance.

    An empty reply, or an empty block for a patch, is an empty patch: 0, and counted apart. A reply with words and no
    patch fails as ``format``. Two patches are one answer when they change the same lines in the same way.

    Args:
        layouts: Where each instance's repository is and how it is tested, by instance id.
    """

    layouts: Mapping[str, Layout] = field(repr=False)
    judged: bool = False
    runs_code: bool = True
    name: str = "swe"
    answer_format: str = "Reply with the change as one unified diff (a/ and b/ prefixes) in one ```diff block."

    @property
    def grounds(self) -> str:
        """What besides the data decides on a grade: repositories, interpreters and test commands (16 hex digits)."""
        told = sorted((id, str(layout)) for id, layout in self.layouts.items())
        return blake2b(repr(told).encode(errors="replace"), digest_size=8).hexdigest()

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        """Grade one answer.

        Raises:
            SandboxError: There is no sandbox, or it would run the tests on the code without the patch.
            ProviderError: The sandbox did not run them: nobody knows whether it is right.
        """
        instance = _instance(sample)
        patch = "" if not answer.strip() else patch_in(answer)
        if patch is None:
            return Score(0.0, "", NO_PATCH, "format")
        if not patch.strip():
            return Score(0.0, "", EMPTY_PATCH, label=EMPTY_PATCH)
        layout = self.layouts[instance.id]
        async with _checkout(layout, run) as checkout:
            grade = await grade_patch(checkout, instance, layout, patch, run)
        return Score(float(grade.resolved), patch, grade.reason)

    async def reference_fault(self, sample: Sample, run: Run) -> str:
        """What is wrong with an instance: its fix does not resolve it, or tests pass without it that must not.

        Args:
            sample: The instance.
            run: Where it is traced.

        Returns:
            Nothing where it is valid.
        """
        instance = _instance(sample)
        layout = self.layouts[instance.id]
        async with _checkout(layout, run) as checkout:
            fixed = await grade_patch(checkout, instance, layout, instance.patch, run)
            if not fixed.resolved:
                return f"the known fix does not resolve it: {fixed.reason}"
            unfixed = await grade_patch(checkout, instance, layout, "", run)
        passed = [name for name in instance.fail_to_pass if unfixed.log.passed(name)]
        return f"without the fix {len(passed)} FAIL_TO_PASS tests pass: {', '.join(passed[:3])}" if passed else ""

    def same(self, a: str, b: str) -> bool:
        """Whether two replies hold the same change; one without a patch is not even the same as itself."""
        first = _form(a)
        return bool(first) and first == _form(b)

    def show(self, target: Any) -> str:
        """A patch as a reply."""
        return fenced(str(target), "diff")

    def write_predictions(self, folder: Path, workflow: str, answers: Mapping[str, str]) -> Path:
        """Write a workflow's answers as SWE-bench's own harness reads them; see `treadle.tasks.swe_predictions`."""
        return write_predictions(folder, workflow, answers)


def _instance(sample: Sample) -> Instance:
    instance = sample.hidden.get(INSTANCE)
    if not isinstance(instance, Instance):
        raise UserError(f"sample {sample.id!r} is no instance of SWE-bench, which the scorer swe grades")
    return instance


@asynccontextmanager
async def _checkout(layout: Layout, run: Run) -> AsyncGenerator[Checkout]:
    """A checkout of a repository in a folder of its own."""
    from treadle.workspaces.checkout import open_checkout
    from treadle.workspaces.originals import installed_from

    repository = await asyncio.to_thread(layout.ready)
    sandbox = run.sandbox
    await sandbox.open()
    place = repository.place or repository.path
    if not sandbox.traits.places and installed_from(layout.python, place):
        raise SandboxError(
            f"{layout.python} imports from {place}, and the sandbox {sandbox.name} cannot show a copy there: the tests "
            "would run the code without the patch. Name a sandbox that can, such as bubblewrap (`treadle doctor` says "
            "which work here)"
        )
    folder = run.folder / f"grading-{secrets.token_hex(4)}"
    made = [folder] if run.folder.exists() else [folder, run.folder]
    try:
        async with open_checkout(repository, folder, run) as checkout:
            yield checkout
    finally:
        for each in made:
            with contextlib.suppress(OSError):
                each.rmdir()


@lru_cache(maxsize=4096)
def _form(reply: str) -> str:
    """A vote compares every reply with every other: each is read once."""
    return normal_patch(patch_in(reply) or "")
