"""Answers to SWE-bench's instances as its official harness reads them."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

import msgspec

from treadle.parsing.patches import patch_in

FOLDER = "preds"
_NAME = 80


def predictions(model: str, answers: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Predictions in the official form; an answer without a patch is an empty one, which the harness counts as such.

    Args:
        model: Whose answers they are, as ``model_name_or_path``.
        answers: The replies by instance id.
    """
    return {
        id: {"model_name_or_path": model, "instance_id": id, "model_patch": _patch(answer)}
        for id, answer in answers.items()
    }


def write_predictions(folder: Path, workflow: str, answers: Mapping[str, str]) -> Path:
    """Write ``preds/<workflow>.json`` below a folder; whoever reads it meanwhile sees the old file or the new one.

    Args:
        folder: A run's folder; made where it is missing.
        workflow: The workflow's name.
        answers: The replies by instance id.

    Returns:
        The file.
    """
    name = slug(workflow)
    target = folder / FOLDER / f"{name}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    content = msgspec.json.format(msgspec.json.encode(predictions(name, answers)), indent=2)
    fd, aside = tempfile.mkstemp(prefix=f".{name}-", dir=target.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content + b"\n")
            file.flush()
            os.fsync(file.fileno())
        Path(aside).chmod(0o644)
        Path(aside).replace(target)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
    return target


def slug(workflow: str) -> str:
    """A workflow's name as the name of a file; another name is another file.

    Args:
        workflow: Such as ``manager-worker?mode=full``.
    """
    plain = re.sub(r"[^A-Za-z0-9._=-]+", "-", workflow).strip("-.") or "workflow"
    if plain == workflow and len(plain) <= _NAME:
        return plain
    return f"{plain[:_NAME]}-{blake2b(workflow.encode(errors='replace'), digest_size=4).hexdigest()}"


def _patch(answer: str) -> str:
    found = patch_in(answer) or ""
    return found if found.strip() else ""
