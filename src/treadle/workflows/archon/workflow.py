"""Structures as workflows, opened from a preset, a file or the one-line form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from treadle.errors import UnknownNameError, UserError
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.player import Player
from treadle.workflows.archon.json_form import read_structure
from treadle.workflows.archon.one_line import one_line, parse_one_line
from treadle.workflows.archon.presets import PRESETS, preset
from treadle.workflows.archon.rules import PROFILES, Profile, check
from treadle.workflows.archon.structure import Archon, Named
from treadle.workflows.base import Calls, Workflow
from treadle.workflows.settings import split_options, with_options

PREFIX = "archon:"
_LINE_MARKS = frozenset(">(+")


@dataclass(frozen=True, slots=True)
class ArchonWorkflow:
    """A structure, ready to answer with the models that a command gives."""

    structure: Archon

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        named = {component.role: run.named(component.role) for component in self.structure.components}
        found = await _cast(self.structure, run.models, tuple(named.items())).answer(problem, run)
        return found.text

    def players(self, models: Sequence[str], named: Named) -> tuple[Player, ...]:
        """Everybody who is asked, given the models and who is named for which role.

        Raises:
            UserError: The structure names a place that no model given has.
        """
        return tuple(component.player for component in self.structure.cast(models, named).components)


@lru_cache(maxsize=4096)
def _cast(structure: Archon, models: tuple[str, ...], named: tuple[tuple[str, str | None], ...]) -> Archon:
    return structure.cast(models, dict(named).get)


def archon_workflow(structure: Archon, *, profile: Profile = "archon-code") -> Workflow:
    """The workflow of a structure.

    Args:
        structure: The structure.
        profile: Whose construction rules it must keep.

    Raises:
        UserError: It breaks one.
    """
    check(structure, profile)
    return structure_workflow(structure)


def structure_workflow(structure: Archon, name: str = "") -> Workflow:
    """The workflow of a structure that is known to be sound.

    Args:
        structure: The structure.
        name: What reports call it; its one-line form when not given.
    """
    answer = ArchonWorkflow(structure)
    calls: Calls = structure.calls()
    return Workflow(
        name or PREFIX + one_line(structure),
        answer,
        calls,
        players=answer.players,
        remarks=structure.remarks,
        shown=structure.shown(),
    )


def open_archon(spec: str, *, folder: Path) -> Workflow:
    """The workflow that a name stands for.

    Args:
        spec: ``archon:`` and a preset, a JSON file, or the one-line form; then options: ``profile`` (``paper`` or
            ``archon-code``; without one, a structure must keep the rules of either), ``temperature`` and
            ``max_tokens`` for every component that sets none.
        folder: Where a relative path starts.

    Raises:
        UserError: The structure cannot be read, breaks a rule, or an option does not exist.
    """
    name, options = _options(spec)
    given = dict(options)
    profile = given.pop("profile", None)
    if profile is not None and profile not in PROFILES:
        raise UserError(f"archon: the profile must be {' or '.join(PROFILES)}, not {profile!r}")
    shared = {
        setting: _number(setting, given.pop(setting)) for setting in ("temperature", "max_tokens") if setting in given
    }
    if given:
        raise UnknownNameError("option of archon:", next(iter(given)), ("profile", "temperature", "max_tokens"))
    structure = with_settings(_structure(name, folder), shared)
    workflow = archon_workflow(structure, profile=profile or "archon-code")
    return replace(workflow, name=with_options(PREFIX + name, options)) if name in PRESETS else workflow


def with_settings(structure: Archon, settings: Mapping[str, Any]) -> Archon:
    """A structure with settings for every component that sets none itself."""
    layers = tuple(
        tuple(
            replace(one, **{name: value for name, value in settings.items() if getattr(one, name) is None})
            for one in layer
        )
        for layer in structure.layers
    )
    return replace(structure, layers=layers)


def _options(spec: str) -> tuple[str, dict[str, str]]:
    """The name and its options: models in brackets may have question marks of their own."""
    text = spec.removeprefix(PREFIX)
    closed = max(text.rfind(")"), text.rfind("}")) + 1
    tail, options = split_options(text[closed:])
    return (text[:closed] + tail).strip(), options


def _structure(name: str, folder: Path) -> Archon:
    if name in PRESETS:
        return preset(name)
    if name.endswith(".json"):
        return read_structure(folder / Path(name).expanduser())
    if not name:
        raise UserError(f"archon: names no structure; write a preset ({', '.join(PRESETS)}), a .json file or 8g>f")
    if not _LINE_MARKS & set(name) and name.replace("-", "").isalpha() and len(name) > 1:
        raise UnknownNameError("preset of archon:", name, PRESETS)
    return parse_one_line(name)


def _number(name: str, text: str) -> float | int:
    try:
        return int(text) if name == "max_tokens" else float(text)
    except ValueError:
        raise UserError(f"archon: {name} must be a number, not {text!r}") from None
