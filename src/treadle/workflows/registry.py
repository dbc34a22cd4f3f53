"""From a name such as ``self-consistency?n=5`` to a workflow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from treadle.errors import NotYetError, UnknownNameError, UserError
from treadle.lookup import find_object, looks_like_path
from treadle.workflows.alphacodium import AlphaCodium
from treadle.workflows.archon.named import Blender, MixtureOfAgents, SelfMixtureOfAgents
from treadle.workflows.archon.presets import PRESETS
from treadle.workflows.archon.workflow import PREFIX as ARCHON
from treadle.workflows.archon.workflow import open_archon
from treadle.workflows.base import Workflow
from treadle.workflows.best_of_n import BestOfN
from treadle.workflows.cot import ChainOfThought
from treadle.workflows.debate import Debate
from treadle.workflows.diverse import Diverse
from treadle.workflows.manager_worker.workflow import ManagerWorker
from treadle.workflows.medprompt import MedPrompt
from treadle.workflows.named import NamedWorkflow
from treadle.workflows.own import own_workflow
from treadle.workflows.program_of_thought import ProgramOfThought
from treadle.workflows.self_consistency import SelfConsistency
from treadle.workflows.self_refine import SelfRefine
from treadle.workflows.settings import read_settings, split_options
from treadle.workflows.single import Single

WORKFLOWS: Mapping[str, type[NamedWorkflow]] = {
    kind.name: kind
    for kind in (
        Single,
        ChainOfThought,
        SelfConsistency,
        BestOfN,
        SelfRefine,
        Diverse,
        Debate,
        MedPrompt,
        MixtureOfAgents,
        SelfMixtureOfAgents,
        Blender,
        AlphaCodium,
        ProgramOfThought,
        ManagerWorker,
    )
}
KEPT_NAMES = (
    "react",
    "three-roles",
    "more-agents",
    "coverage",
    "chain",
    "route",
    "orchestrator-workers",
    "evaluator-optimizer",
)
"""Names that the contract keeps free for later versions."""
KEPT_PREFIXES = ("code:", "portfolio:")
"""Beginnings of such names."""


def open_workflow(spec: str, *, folder: Path) -> Workflow:
    """The workflow that a name stands for.

    Args:
        spec: A name with settings, such as ``"debate?agents=3&rounds=2"``, or ``module:function`` of a user's own.
        folder: Where a user's module is looked for first.

    Raises:
        UnknownNameError: There is no such workflow.
        NotYetError: The name is kept for a later version.
        UserError: A setting is unknown or has a value that it does not take, or a user's module cannot be used.
    """
    if spec.startswith(ARCHON):
        return open_archon(spec, folder=folder)
    name, options = split_options(spec)
    kind = WORKFLOWS.get(name)
    if kind is not None:
        return read_settings(kind, name, options).in_folder(folder)
    if name.startswith("run:"):
        raise UserError(f"{name}: what a run found is looked up in a store; give the name to a command or a session")
    if name in KEPT_NAMES or name.startswith(KEPT_PREFIXES):
        raise NotYetError(name)
    if looks_like_path(name):
        return own_workflow(find_object(name, folder), name, options)
    if name in PRESETS or name.endswith(".json") or name == ARCHON.rstrip(":"):
        written = name if name != ARCHON.rstrip(":") else next(iter(PRESETS))
        raise UserError(f"unknown workflow {name!r}; structures are written {ARCHON}{written}")
    raise UnknownNameError("workflow", name, (*WORKFLOWS, *KEPT_NAMES))


def as_workflow(given: object, folder: Path) -> Workflow:
    """A workflow from whatever may stand for one.

    Args:
        given: A workflow, a name, or an async function of a problem and a run.
        folder: Where a user's module is looked for first.

    Raises:
        UserError: It stands for none.
    """
    if isinstance(given, Workflow):
        return given
    if isinstance(given, NamedWorkflow):
        return given.in_folder(folder)
    if isinstance(given, str):
        return open_workflow(given, folder=folder)
    if not callable(given):
        raise UserError(f"a workflow is a name or an async function of a problem and a run, not {given!r:.80}")
    return own_workflow(given)
