"""The one-line form of a structure: ``8g(a,b,c) > c > r5 > 6f > v > f``.

Layers are parted by ``>``, components of one layer by ``+``. A component is a letter: ``g`` generator, ``f`` fuser,
``c`` critic, ``r`` ranker, ``p`` ranker by pairs, ``v`` verifier, ``u`` unit-test writer, ``e`` unit-test evaluator. A
number before ``g`` and ``f`` says how many candidates they write; a number behind ``r``, ``p``, ``v`` and ``e`` how
many stay, behind ``u`` how many statements are written.

Models stand in brackets: an alias, ``provider:model``, or the place of one of the models given (``1..4`` for several,
``-1`` for the last). Several share the count in turn; ``a*3`` gives one a count of its own. Other settings stand in
braces: ``g(a){temperature=1}``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from treadle.errors import UserError
from treadle.workflows.archon.components.base import Component
from treadle.workflows.archon.components.fuser import Fuser
from treadle.workflows.archon.components.unit_tests import TestWriter
from treadle.workflows.archon.kinds import BY_LETTER
from treadle.workflows.archon.structure import Archon, Layer

_PART = re.compile(
    r"(?P<count>\d{1,9})?(?P<letter>[a-z])(?P<number>\d{1,9})?"
    r"(?:\((?P<models>.*)\))?(?:\{(?P<settings>[^{}]*)\})?",
    re.DOTALL,
)
_RANGE = re.compile(r"(\d{1,3})\.\.(\d{1,3})")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_NUMBER = {"temperature": float, "max_tokens": int}


def parse_one_line(text: str) -> Archon:
    """Read a structure from its one-line form.

    Args:
        text: Such as ``"8g(a,b,c) > c > r5 > 6f > v > f"``.

    Raises:
        UserError: Names the part that cannot be read, and what may stand there.
    """
    layers: list[Layer] = []
    for number, layer in enumerate(_split(text, ">"), 1):
        if not layer:
            raise UserError(f"archon: layer {number} of {text!r} is empty; write components between the > signs")
        layers.append(tuple(each for part in _split(layer, "+") for each in _components(part, number)))
    return Archon(tuple(layers))


def one_line(structure: Archon) -> str:
    """A structure in its one-line form, without spaces; own prompts stand in it by their hash only."""
    return ">".join("+".join(_group(list(group)) for group in _alike(layer)) for layer in structure.layers)


def _split(text: str, mark: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += (character in _PAIRS) - (character in _PAIRS.values())
        if character == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    if depth:
        raise UserError(f"archon: the brackets of {text!r} do not match")
    return [part.strip() for part in parts]


def _components(text: str, layer: int) -> Iterator[Component]:
    found = _PART.fullmatch(text)
    if found is None or found["letter"] not in BY_LETTER:
        listed = ", ".join(f"{letter} {kind.kind.replace('_', ' ')}" for letter, kind in BY_LETTER.items())
        raise UserError(f"archon: unknown component {text!r} in layer {layer}; known: {listed}")
    kind = BY_LETTER[found["letter"]]
    place = f"{text!r} in layer {layer}"
    given = _settings(found["settings"] or "", text)
    count = None if found["count"] is None else int(found["count"])
    number = None if found["number"] is None else int(found["number"])
    if not kind.makes and count is not None:
        raise UserError(f"archon: {place}: a number before {kind.letter} means nothing")
    if number is not None:
        given[_numbered(kind, place)] = number
    models = [model for each in _split(found["models"] or "", ",") for model in _places(each)]
    if found["models"] is None:
        models = []
    if not all(models) or (found["models"] is not None and not models):
        raise UserError(f"archon: {place}: a model is missing between its brackets")
    if not kind.makes:
        if len(models) > 1:
            raise UserError(f"archon: {place}: one {kind.kind} is one model")
        yield _make(kind, models[0] if models else None, given, place)
        return
    yield from _writers(kind, models, count, given, place)


def _places(text: str) -> list[str]:
    """The places of ``1..4``; any other name alone."""
    found = _RANGE.fullmatch(text)
    return [text] if found is None else [str(place) for place in range(int(found[1]), int(found[2]) + 1)]


def _listed(models: Sequence[str]) -> str:
    """Models as they stand between brackets, three or more places in a row as a range."""
    runs: list[list[str]] = []
    for model in models:
        follows = runs and model.isdecimal() and runs[-1][-1].isdecimal() and int(model) == int(runs[-1][-1]) + 1
        if follows:
            runs[-1].append(model)
        else:
            runs.append([model])
    return ",".join(f"{run[0]}..{run[-1]}" if len(run) > 2 else ",".join(run) for run in runs)


def _writers(
    kind: type[Component], models: Sequence[str], count: int | None, given: dict[str, Any], place: str
) -> Iterator[Component]:
    if count == 0:
        raise UserError(f"archon: {place} writes nothing; give it a count of 1 or more")
    if not models:
        yield _make(kind, None, given, place, samples=1 if count is None else count)
        return
    own = [model.rpartition("*") for model in models]
    if any(star for _, star, _ in own):
        if count is not None or not all(star and number.isdecimal() for _, star, number in own):
            raise UserError(
                f"archon: {place}: give every model a count (a*2,b*1), or all of them one before the {kind.letter}"
            )
        for model, _, number in own:
            yield _make(kind, model, given, place, samples=int(number))
        return
    total = len(models) if count is None else count
    if total < len(models):
        raise UserError(f"archon: {place} names {len(models)} models for {total} candidates")
    for turn, model in enumerate(models):
        yield _make(kind, model, given, place, samples=len(range(turn, total, len(models))))


def _make(kind: type[Component], model: str | None, given: Mapping[str, Any], place: str, **more: Any) -> Component:
    try:
        return kind(model=model, **given, **more)
    except UserError as error:
        raise UserError(f"archon: {place}: {error}") from None


def _numbered(kind: type[Component], place: str) -> str:
    name = "statements" if kind is TestWriter else "top_k"
    if name not in kind.__dataclass_fields__:
        raise UserError(f"archon: {place}: a number behind {kind.letter} means nothing")
    return name


def _settings(text: str, part: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for each in text.split(",") if text.strip() else ():
        name, equals, value = (word.strip() for word in each.partition("="))
        if name == "brief" and not equals:
            given["brief"] = True
        elif name in _NUMBER and equals:
            try:
                given[name] = _NUMBER[name](value)
            except ValueError:
                raise UserError(f"archon: {part!r}: {name} must be a number, not {value!r}") from None
        else:
            raise UserError(
                f"archon: {part!r}: unknown setting {each.strip()!r}; known: temperature=…, max_tokens=…, brief"
                + (" (a prompt is given in a JSON file)" if name == "prompt" else "")
            )
    return given


def _alike(layer: Layer) -> list[list[Component]]:
    """The components of a layer in groups that differ in model and count only."""
    return [list(group) for _, group in groupby(layer, key=_beside_model)]


def _beside_model(component: Component) -> tuple[Any, ...]:
    plain = replace(component, model=None)
    named = component.model is not None
    return (type(component), named, replace(plain, **{"samples": 1}) if component.makes else plain)


def _group(group: Sequence[Component]) -> str:
    first = group[0]
    samples = [component.drafts for component in group]
    models = [component.model or "" for component in group]
    total = sum(samples)
    dealt = [len(range(place, total, len(group))) for place in range(len(group))]
    if first.makes and not all(models):
        return "+".join(_written(component, component.drafts, "") for component in group)
    if first.makes and samples != dealt:
        return _written(first, 0, ",".join(f"{model}*{count}" for model, count in zip(models, samples, strict=True)))
    if first.makes:
        return _written(first, total, _listed(models))
    return "+".join(_written(component, 0, component.model or "") for component in group)


def _written(component: Component, count: int, models: str) -> str:
    number = getattr(component, "statements" if isinstance(component, TestWriter) else "top_k", None)
    text = f"{count if count > 1 else ''}{component.letter}{number or ''}"
    if models:
        text += f"({models})"
    settings = [f"{name}={_number(value)}" for name, value in component.settings.items()]
    if isinstance(component, Fuser) and component.brief:
        settings.append("brief")
    if component.prompt is not None:
        settings.append(f"prompt={hashlib.sha256(component.prompt.encode()).hexdigest()[:8]}")
    return text + (f"{{{','.join(settings)}}}" if settings else "")


def _number(value: float) -> str:
    """A number that reads back as itself, whole ones without a point."""
    return str(int(value)) if float(value).is_integer() else repr(value)
