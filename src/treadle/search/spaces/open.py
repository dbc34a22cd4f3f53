"""Spaces by name."""

from __future__ import annotations

from pathlib import Path

from treadle.errors import NotYetError, UnknownNameError, UserError
from treadle.search.space import Space
from treadle.search.spaces.workflows import WorkflowList
from treadle.workflows.registry import as_workflow
from treadle.workflows.settings import split_specs

_LATER = ("archon", "archon-9576", "archon-19152", "code")


def space_kind(spec: str) -> str:
    """The kind of space a spec names: what decides which methods fit.

    Raises:
        UnknownNameError: When there is no such space.
        NotYetError: When there will be one.
    """
    name = spec.partition(":")[0].partition("?")[0]
    if name == "workflows":
        return name
    if name in _LATER or name == "simulated":
        raise NotYetError(f"--space {spec}")
    raise UnknownNameError("space", name, ["workflows", *_LATER])


def open_space(spec: str, folder: Path) -> Space:
    """The space of a spec.

    Args:
        spec: Such as ``"workflows:single,cot"``.
        folder: Where files and modules that it names are looked up.

    Raises:
        UserError: When the spec is wrong.
    """
    space_kind(spec)
    specs = split_specs(spec.partition(":")[2])
    if not specs:
        raise UserError("workflows: names nothing to choose from; write workflows:single,cot,…")
    found = [as_workflow(each, folder=folder) for each in specs]
    unique = {workflow.name: workflow for workflow in found}
    return WorkflowList(spec, tuple(unique.values()))
