"""Tasks by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from treadle.errors import NotYetError, UnknownNameError
from treadle.lookup import find_module, find_object, looks_like_path
from treadle.tasks.arena_hard import open_arena_hard
from treadle.tasks.bbh import open_bbh
from treadle.tasks.decorator import UserTask, open_user_task
from treadle.tasks.gsm8k import open_gsm8k
from treadle.tasks.hub import open_hub
from treadle.tasks.humaneval import open_humaneval
from treadle.tasks.jsonl import open_jsonl
from treadle.tasks.math import open_math
from treadle.tasks.mbpp import open_mbpp
from treadle.tasks.mt_bench import open_mt_bench
from treadle.tasks.opening import Opening
from treadle.tasks.program import open_program
from treadle.tasks.qa import open_drop, open_hotpotqa
from treadle.tasks.quixbugs import open_quixbugs
from treadle.tasks.reasoning_gym import open_reasoning_gym
from treadle.tasks.simulated import open_simulated
from treadle.tasks.spec import Options, Spec, read_spec
from treadle.tasks.swe import open_swe
from treadle.tasks.task import Task

_KINDS: dict[str, Callable[[Opening], Task]] = {
    "gsm8k": open_gsm8k,
    "math": open_math,
    "bbh": open_bbh,
    "drop": open_drop,
    "hotpotqa": open_hotpotqa,
    "humaneval": open_humaneval,
    "mbpp": open_mbpp,
    "quixbugs": open_quixbugs,
    "program": open_program,
    "swe": open_swe,
    "mt-bench": open_mt_bench,
    "arena-hard": open_arena_hard,
    "jsonl": open_jsonl,
    "reasoning-gym": open_reasoning_gym,
    "hf": open_hub,
    "simulated": open_simulated,
}
_LATER = ("miniworld", "appworld")

TASK_NAMES = tuple(_KINDS)


def open_task(spec: str, *, folder: Path, limit: int | None = None, drop_bad_gold: bool = False) -> Task:
    """Open a task by its name, such as ``gsm8k:test.jsonl``, or a user's own by ``module:function``.

    Args:
        spec: The name, with its options.
        folder: What paths are relative to, and where a user's module is looked for first.
        limit: Only so many samples, the first ones.
        drop_bad_gold: Whether samples whose own reference is graded wrong are counted out (see `treadle.tasks.gold`).

    Raises:
        UnknownNameError: No such task or option, with near matches.
        NotYetError: A name that is kept for a later version.
        DatasetError: The data cannot be used; names file and line.
        UserError: Anything else that is wrong with the name.
    """
    read = read_spec(spec)
    opening = Opening(read, Options.of(read), folder)
    if read.kind in _KINDS:
        task = _KINDS[read.kind](opening)
    elif read.kind in _LATER:
        raise NotYetError(f"the task {read.kind}")
    else:
        task = _open_own(opening)
    return _finished(task, limit, drop_bad_gold)


def as_task(given: object, *, folder: Path, limit: int | None = None, drop_bad_gold: bool = False) -> Task:
    """A task from whatever may stand for one: a task, a name, a user's function, or rows.

    Args:
        given: Such as what ``@treadle.task`` made.
        folder: What paths are relative to.
        limit: Only so many samples, the first ones.
        drop_bad_gold: Whether samples whose own reference is graded wrong are counted out.

    Raises:
        UserError: It stands for none.
    """
    if isinstance(given, str):
        return open_task(given, folder=folder, limit=limit, drop_bad_gold=drop_bad_gold)
    if isinstance(given, Task):
        return _finished(given, limit, drop_bad_gold)
    made = given.function if isinstance(given, UserTask) else given
    name = str(getattr(made, "__name__", "task"))
    spec = Spec(name, name, "", {})
    return _finished(open_user_task(given, Opening(spec, Options.of(spec), folder)), limit, drop_bad_gold)


def _finished(task: Task, limit: int | None, drop_bad_gold: bool) -> Task:
    if limit is not None:
        task = task.limit(limit)
    return replace(task, drop_bad_gold=True) if drop_bad_gold else task


def _open_own(opening: Opening) -> Task:
    spec = opening.spec
    path = f"{spec.kind}:{spec.place}"
    if not looks_like_path(path) or find_module(spec.kind, opening.folder) is None:
        raise UnknownNameError("task", spec.kind, (*TASK_NAMES, *_LATER))
    return open_user_task(find_object(path, opening.folder), opening)
