"""Who manages and who works, from ``--manager`` and ``--worker``."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from treadle.errors import UserError
from treadle.lookup import looks_like_path
from treadle.models.registry import is_provider

if TYPE_CHECKING:
    from treadle.agents.base import Worker
    from treadle.ledger.session import Session


def who_plays(
    session: Session, manager: str | None, worker: str | None, models: Sequence[str], roles: Mapping[str, str]
) -> tuple[tuple[str, ...], dict[str, str], Worker | None]:
    """The models given, the roles named, and the worker of one's own where ``--worker`` names a function.

    Args:
        session: Knows which aliases there are.
        manager: As given.
        worker: A model, or ``module:function``.
        models: Those of ``--model`` or ``--models``.
        roles: Those of ``--role``.

    Raises:
        UserError: A role is named twice, or the function cannot be used.
    """
    own: Worker | None = None
    if worker is not None and worker not in session.aliases and _is_function(worker):
        from treadle.agents.own import own_worker

        own, worker = own_worker(worker, Path.cwd()), None
    named = {role: model for role, model in (("manager", manager), ("worker", worker)) if model is not None}
    for role, model in named.items():
        if not model.strip():
            raise UserError(f"--{role} is empty; name an alias of treadle.toml or provider:model")
        if role in roles:
            raise UserError(f"--{role} and --role {role}=… say the same thing; give one of them")
    both = tuple(named[role] for role in ("manager", "worker")) if len(named) == 2 else ()
    return tuple(models) or both, {**roles, **named}, own


def _is_function(name: str) -> bool:
    """Whether a name with a colon is a function of the user's; told without running anything of that name."""
    return looks_like_path(name) and not is_provider(name.partition(":")[0]) and _is_there(name.partition(":")[0])


def _is_there(module: str) -> bool:
    parts = module.split(".")
    if Path.cwd().joinpath(*parts).with_suffix(".py").is_file():
        return True
    with contextlib.suppress(ValueError):
        # Only of the first part: to look below it would import it.
        return importlib.util.find_spec(parts[0]) is not None
    return False
