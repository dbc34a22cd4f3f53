"""What a workflow is without one of its parts, so that each part can be measured by its absence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from treadle.errors import UserError
from treadle.workflows.archon.structure import Archon
from treadle.workflows.archon.weakening import cut_out, cuts
from treadle.workflows.archon.workflow import ArchonWorkflow, structure_workflow
from treadle.workflows.base import Workflow
from treadle.workflows.named import NamedWorkflow
from treadle.workflows.settings import OneOf, Switch, Whole, setting_kinds

ONE_BY_ONE = frozenset({"rounds", "layers"})
"""Settings that are lowered by one; other numbers are halved, rounded up."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a workflow.

    Attributes:
        name: In words, such as ``"layer 3: ranker (r5)"`` or ``"n 5 -> 3"``.
        left: The workflow without it, or with less of it.
    """

    name: str
    left: Workflow


@dataclass(frozen=True, slots=True)
class Divided:
    """A workflow and its parts.

    Attributes:
        whole: The workflow.
        parts: What can be taken out or weakened, each by itself.
        join: What is left without the parts of some names, or ``None`` where nothing sound is.
    """

    whole: Workflow
    parts: tuple[Part, ...]
    join: Callable[[Collection[str]], Workflow | None]

    def without(self, parts: Collection[Part]) -> Workflow | None:
        """What is left without several parts at once, or ``None`` where nothing sound is."""
        return self.join({part.name for part in parts})


def divide(workflow: Workflow) -> Divided:
    """Find the parts of a workflow: those of a structure, or the settings of a workflow with a name.

    Args:
        workflow: The whole workflow.

    Raises:
        UserError: It has no parts, or they are not known here; says what to do instead.
    """
    answer = workflow.answer
    if isinstance(answer, ArchonWorkflow):
        divided = _structure(workflow, answer.structure)
    elif isinstance(answer, NamedWorkflow):
        divided = _settings(workflow, answer)
    else:
        raise UserError(
            f"{workflow.name} is a function of your own, whose parts cannot be seen from here: give it a setting for "
            f"each part ({workflow.name.partition('?')[0]}?part=false) and compare the two with treadle compare"
        )
    if not divided.parts:
        raise UserError(
            f"{workflow.name} has no part that could be taken out or weakened; "
            "`treadle compare` holds it against another workflow"
        )
    return divided


def structure_of(workflow: Workflow) -> Archon | None:
    """The Archon structure that a workflow runs, where it runs one."""
    return workflow.answer.structure if isinstance(workflow.answer, ArchonWorkflow) else None


def _structure(whole: Workflow, structure: Archon) -> Divided:
    known = {cut.name: cut for cut in cuts(structure)}

    def join(names: Collection[str]) -> Workflow | None:
        left = cut_out(structure, [known[name] for name in names])
        return None if left is None else structure_workflow(left)

    return _divided(whole, known, join)


def _settings(whole: Workflow, named: NamedWorkflow) -> Divided:
    known = {name: (setting, value) for name, setting, value in _lowered(named)}

    def join(names: Collection[str]) -> Workflow:
        changed: dict[str, Any] = {}
        for setting, value in (known[name] for name in names):
            changed[setting] = min(value, changed.get(setting, value))
        return replace(named, **changed).workflow

    return _divided(whole, known, join)


def _divided(whole: Workflow, names: Collection[str], join: Callable[[Collection[str]], Workflow | None]) -> Divided:
    alone = ((name, join([name])) for name in names)
    return Divided(whole, tuple(Part(name, left) for name, left in alone if left is not None), join)


def _lowered(named: NamedWorkflow) -> Iterator[tuple[str, str, Any]]:
    """Each setting down one notch, and, where it may be zero, gone: words, setting, value."""
    kinds = setting_kinds(named)
    for each in fields(named):
        kind, value = kinds[each.name], getattr(named, each.name)
        if isinstance(kind, Switch) and value:
            yield f"{each.name} true -> false", each.name, False
        if isinstance(kind, OneOf) and value != each.default:
            yield f"{each.name} {value} -> {each.default}", each.name, each.default
        if isinstance(kind, Whole) and value > kind.least:
            lower = value - 1 if each.name in ONE_BY_ONE else max(kind.least, (value + 1) // 2)
            if lower < value:
                yield f"{each.name} {value} -> {lower}", each.name, lower
            if kind.least == 0 and lower > 0:
                yield f"{each.name} {value} -> 0", each.name, 0
