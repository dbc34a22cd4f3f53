"""What is said before a measurement because experience speaks against it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

from treadle.errors import Caution, UnknownNameError, UserError
from treadle.ledger.endpoint import Endpoint
from treadle.ledger.recording import Recording
from treadle.models.base import Served
from treadle.operators.player import Player
from treadle.workflows.base import Workflow

SMALL = 8.0
"""Billions of parameters below which a model is taken to be one of about 7B or less."""
_SIZE = re.compile(
    r"(?<![a-z0-9.])(?:(?P<experts>\d+)x)?(?P<count>\d+(?:\.\d+)?)(?P<unit>[bm])(?![a-z0-9])", re.IGNORECASE
)


def caution(recording: Recording, workflows: Sequence[Workflow]) -> None:
    """Open every model that workflows name, and warn of small fusers and of what was not understood.

    Args:
        recording: The command's run.
        workflows: What will be measured.

    Raises:
        UserError: A model does not exist, needs a key or has no price where dollars are counted, or a structure names
            more models than are given.
    """
    said: dict[str, None] = {}
    played: list[Endpoint] = []
    for workflow in workflows:
        said.update(dict.fromkeys(workflow.remarks))
        for player in workflow.players(recording.models, recording.named) if workflow.players else ():
            endpoint = _endpoint(recording, player, workflow.name)
            played.append(endpoint)
            size = parameters(endpoint.model.source if isinstance(endpoint.model, Served) else endpoint.identity.name)
            if player.role == "fuser" and size is not None and size < SMALL:
                said[_SMALL_FUSER.format(model=endpoint.alias, size=size)] = None
    if workflows and all(workflow.players for workflow in workflows):
        # Whoever is given plays nothing here, so its price does not matter.
        recording.tally.unpriced = any(endpoint.price is None for endpoint in played)
    for text in said:
        warnings.warn(text, Caution, stacklevel=2)


def _endpoint(recording: Recording, player: Player, workflow: str) -> Endpoint:
    try:
        return recording.endpoint(player.role, player.model)
    except UnknownNameError as error:
        raise UserError(
            f"{workflow}: {error}; a name from somebody else's file is mapped in treadle.toml: [model_names] "
            f'"{player.model}" = "ALIAS"'
        ) from None


def parameters(name: str) -> float | None:
    """Billions of parameters that a model's name speaks of, such as 7 for ``qwen2.5-7b-instruct``.

    Args:
        name: The model's name; experts are counted together (``8x7b`` is 56).

    Returns:
        ``None`` where it names no size.
    """
    found = _SIZE.search(name)
    if found is None:
        return None
    billions = float(found["count"]) * (1.0 if found["unit"].lower() == "b" else 1e-3)
    return billions * int(found["experts"] or 1)


_SMALL_FUSER = (
    "{model} has about {size:g}B parameters and is a fuser: models of 7B and less mostly lose by fusing, because they "
    "copy a wrong candidate or mix them up (arXiv 2409.15254); let a stronger model fuse (--role fuser=…), or pick "
    "instead (a ranker, a verifier, a vote)"
)
