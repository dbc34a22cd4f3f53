"""``run:ID``: the structure that a search found, with the models that it was found with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from treadle.errors import UserError
from treadle.evaluation.preparing import TaskLike, WorkflowLike, prepare_cast, prepare_workflows
from treadle.ledger.cast import Cast
from treadle.ledger.session import Session, find_run
from treadle.store.text import decode
from treadle.workflows.archon.json_form import structure_from
from treadle.workflows.archon.workflow import structure_workflow
from treadle.workflows.base import Workflow

PREFIX = "run:"


@dataclass(frozen=True, slots=True)
class Found:
    """Workflows with every ``run:ID`` replaced by what that run found.

    Attributes:
        workflows: The workflows.
        models: The models of the runs named, where no others are given; places in a structure mean these.
        roles: Their roles.
    """

    workflows: tuple[WorkflowLike, ...]
    models: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict[str, str])


async def found_workflows(session: Session, given: Sequence[WorkflowLike]) -> Found:
    """Look up every ``run:ID`` among workflows.

    Args:
        session: Whose store the runs are in.
        given: Workflows; those that are no ``run:ID`` stay as they are.

    Raises:
        UnknownNameError: There is no such run.
        UserError: A run found nothing, or two runs were made with different models or roles.
    """
    workflows: list[WorkflowLike] = []
    runs: list[Found] = []
    for each in given:
        if isinstance(each, str) and each.startswith(PREFIX):
            runs.append(await _read(session, each))
            workflows += runs[-1].workflows
        else:
            workflows.append(each)
    if any((run.models, run.roles) != (runs[0].models, runs[0].roles) for run in runs):
        raise UserError(
            "these runs were made with different models or roles, and one measurement has but one cast: measure them "
            "one by one, and compare the runs"
        )
    return replace(runs[0], workflows=tuple(workflows)) if runs else Found(tuple(workflows))


async def prepare_measured(
    session: Session,
    workflows: Sequence[WorkflowLike],
    task: TaskLike,
    models: Sequence[str],
    roles: Mapping[str, str],
) -> tuple[list[Workflow], Cast]:
    """The workflows to be measured, and who plays which part.

    Args:
        session: Whose store runs are looked up in.
        workflows: What was asked for; ``run:ID`` stands for what that run found.
        task: What they will be measured on.
        models: The models that were given; where none are, those of the runs named.
        roles: The roles that were given; they win over those of the runs.

    Raises:
        UserError: A workflow cannot be opened, or ``auto`` is asked for and the task brings no models.
    """
    given = await found_workflows(session, workflows)
    cast = prepare_cast(session, task, models or given.models, {**given.roles, **roles})
    return prepare_workflows(given.workflows), cast


async def _read(session: Session, name: str) -> Found:
    id = name.removeprefix(PREFIX)
    record = await session.journal.read(lambda store: find_run(store, id))
    document: dict[str, Any] = decode(record.result) if record.result is not None else {}
    best: dict[str, Any] = document.get("best") or {} if record.command == "search" else {}
    if not best:
        raise UserError(f"{name}: run {id} ({record.command}) found no structure")
    spec: dict[str, Any] = decode(record.spec)
    workflow: WorkflowLike = best["workflow"]
    if best.get("structure") is not None:
        # The name alone does not hold prompts of one's own.
        workflow = structure_workflow(structure_from(best["structure"], name), best["workflow"])
    return Found((workflow,), tuple(spec.get("models") or ()), spec.get("roles") or {})
