"""Structures as JSON: the shape of Archon's own configuration files, which load as they are.

``{"name": …, "layers": [[{"type": "generator", "model": …, "samples": …, "temperature": …, "max_tokens": …}, …], …]}``.
A model may be left out (a role then says who is asked), and so may everything else that has a default. What is not
understood is reported, not refused: shipped files hold misspelt keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from treadle.errors import DatasetError, UserError
from treadle.workflows.archon.components.base import Component
from treadle.workflows.archon.kinds import BY_NAME
from treadle.workflows.archon.structure import Archon, Layer

_SHARED = {"type": str, "model": str, "temperature": (int, float), "max_tokens": int, "prompt": str}
_RENAMED = {
    "generator": {"samples": "samples"},
    "fuser": {"samples": "samples", "length_control": "brief"},
    "critic": {},
    "ranker": {"top_k": "top_k"},
    "pair_ranker": {"top_k": "top_k"},
    "verifier": {"first_k": "top_k", "top_k": "top_k"},
    "unit_test_generator": {"unit_test_cap": "statements", "statements": "statements"},
    "unit_test_evaluator": {"top_k": "top_k", "first_k": "top_k"},
}
"""What each kind's settings are called in files, and here."""
_WITHOUT_EFFECT = frozenset(
    {
        "model_type",
        "samples",
        "top_k",
        "use_critiques",
        "ranker_batch_size",
        "remove_unit_tests_from_prompt",
        "first_pass",
    }
)
"""Keys of Archon's files that need nothing here: who serves a model is treadle.toml's to say, and the rest is how
components work anyway."""


def read_structure(path: Path) -> Archon:
    """Read a structure from a JSON file.

    Args:
        path: The file.

    Raises:
        DatasetError: The file cannot be read or is no JSON.
        UserError: It holds no structure; names layer, component and remedy.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{path}: the structure cannot be read: {error.strerror}") from None
    try:
        document: Any = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DatasetError(f"{path}: the file is not JSON in UTF-8: {error}") from None
    return structure_from(document, str(path))


def structure_from(document: Any, source: str) -> Archon:
    """A structure from JSON values.

    Args:
        document: As the module says.
        source: Where it comes from, for messages.

    Raises:
        UserError: It holds no structure.
    """
    top = _mapping(document, source, "the file")
    if top.get("custom"):
        raise UserError(f"{source}: custom components are code of their own; write them as a workflow of yours")
    given = top.get("layers")
    if not isinstance(given, list):
        raise UserError(f"{source}: layers is missing; write a list of layers, each a list of components")
    remarks = [f"{source}: unknown key {name!r}" for name in top if name not in ("name", "layers", "custom")]
    layers: list[Layer] = []
    for place, layer in enumerate(cast("list[Any]", given), 1):
        members = _members(layer, source, place)
        layers.append(tuple(_component(each, f"{source}, layer {place}", remarks) for each in members))
    return Archon(tuple(layers), str(top.get("name") or ""), tuple(dict.fromkeys(remarks)))


def structure_document(structure: Archon) -> dict[str, Any]:
    """A structure as JSON values, which `structure_from` reads back."""
    return {
        "name": structure.name,
        "layers": [[_document(component) for component in layer] for layer in structure.layers],
    }


def _members(layer: Any, source: str, place: int) -> list[Any]:
    """A layer's components; an older shape holds them as ``models``."""
    if isinstance(layer, dict):
        layer = cast("dict[str, Any]", layer).get("models")
    if not isinstance(layer, list) or not layer:
        raise UserError(f"{source}: layer {place} must be a list of components, and hold at least one")
    return cast("list[Any]", layer)


def _component(given: Any, where: str, remarks: list[str]) -> Component:
    values = _mapping(given, where, "a component")
    name = values.get("type")
    if name is None:
        raise UserError(f"{where}: a component needs a type; known: {', '.join(BY_NAME)}")
    if name not in BY_NAME:
        raise UserError(f"{where}: unknown component {name!r}; known: {', '.join(BY_NAME)}")
    kind = BY_NAME[cast("str", name)]
    known = _RENAMED[kind.kind]
    settings: dict[str, Any] = {}
    for key, value in values.items():
        target = known.get(key, key)
        if key in known or (key in _SHARED and key != "type"):
            if value is not None:
                settings[target] = _checked(value, key, where, kind)
        elif key == "no_system":
            if value:
                remarks.append(f"{where}: no_system is not kept: every component sees all turns")
        elif key not in _WITHOUT_EFFECT and key != "type":
            remarks.append(f"{where}: unknown key {key!r} of a {kind.kind}")
    try:
        return kind(**settings)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None


def _checked(value: Any, key: str, where: str, kind: type[Component]) -> Any:
    wanted: Any = _SHARED.get(key, bool if key == "length_control" else int)
    if isinstance(value, bool) != (wanted is bool) or not isinstance(value, wanted):
        words = {str: "text", int: "a whole number", bool: "true or false"}.get(wanted, "a number")
        raise UserError(f"{where}: {key} of a {kind.kind} must be {words}, not {value!r}")
    return float(value) if key == "temperature" else value


def _mapping(value: Any, where: str, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UserError(f"{where}: {what} must be a JSON object, as {{…}}")
    return cast("dict[str, Any]", value)


def _document(component: Component) -> dict[str, Any]:
    back = {here: there for there, here in reversed(_RENAMED[component.kind].items())}
    values: dict[str, Any] = {"type": component.kind}
    for name in ("model", "temperature", "max_tokens", "prompt", *back):
        value = getattr(component, name)
        if value is not None and value is not False:
            values[back.get(name, name)] = value
    return values
