"""Spaces by name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from treadle.errors import NotYetError, UnknownNameError, UserError
from treadle.search.space import Space
from treadle.search.spaces.archon import MODELS, ArchonSpace
from treadle.search.spaces.dials import PRESETS, read_dials
from treadle.search.spaces.workflows import WorkflowList
from treadle.workflows.registry import as_workflow
from treadle.workflows.settings import split_specs

WORTH_SEARCHING = 20
"""Calls a question from which on a search of structures is worth its cost (arXiv 2409.15254, section 4)."""
_LATER = ("code",)


@dataclass(frozen=True, slots=True)
class Given:
    """What a space is cut to.

    Attributes:
        models: How many models there are.
        most_calls: Calls that a question may take, or ``None``.
    """

    models: int = MODELS
    most_calls: int | None = None


def space_kind(spec: str) -> str:
    """The kind of space a spec names: what decides which methods fit.

    Raises:
        UnknownNameError: When there is no such space.
        NotYetError: When there will be one.
    """
    name = spec.partition(":")[0].partition("?")[0]
    if name == "workflows":
        return name
    if spec in PRESETS or spec.startswith("archon:"):
        return "archon"
    if difflib.get_close_matches(spec, PRESETS, n=1, cutoff=0.7):
        raise UnknownNameError("space", spec, PRESETS)
    if name in _LATER or name == "simulated":
        raise NotYetError(f"--space {spec}")
    raise UnknownNameError("space", spec, ["workflows:", *PRESETS, "archon:FILE"])


def open_space(spec: str, folder: Path, given: Given | None = None) -> Space:
    """The space of a spec.

    Args:
        spec: Such as ``"workflows:single,cot"``, ``"archon-9576"`` or ``"archon:axes.toml"``.
        folder: Where files and modules that it names are looked up.
        given: What it is cut to.

    Raises:
        UserError: When the spec is wrong, or nothing is left of it.
    """
    given = given or Given()
    if space_kind(spec) == "archon":
        return _archon(spec, folder, given)
    names = spec.partition(":")[2]
    if not names.strip():
        raise UserError("workflows: names nothing to choose from; write workflows:single,cot,…")
    return workflow_list(spec, [as_workflow(each, folder=folder) for each in split_specs(names)])


def workflow_list(spec: str, workflows: Sequence[object]) -> WorkflowList:
    """The space of some workflows, each once.

    Args:
        spec: What was asked for.
        workflows: Workflows, names or functions.
    """
    found = [as_workflow(each, folder=Path.cwd()) for each in workflows]
    return WorkflowList(spec, tuple({workflow.name: workflow for workflow in found}.values()))


def _archon(spec: str, folder: Path, given: Given) -> ArchonSpace:
    dials = PRESETS.get(spec) or read_dials(folder / Path(spec.partition(":")[2]).expanduser())
    ranking = tuple(range(1, given.models + 1))
    space = ArchonSpace(spec, dials.cut(given.models), ranking, given.most_calls)
    if not space.points:
        raise UserError(f"{spec}: no structure is left of {space.raw}: {'; '.join(space.document()['constraints'])}")
    return space
