"""JSON that a simulated model gives for a schema: its own belief, and its verdict on answers it is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from treadle.models.base import Message
from treadle.models.simulated_questions import uniform

_ANSWERED = re.compile(r"\banswer:\s*[*`\"]*([A-Za-z0-9]+)", re.IGNORECASE)
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Belief:
    """What a draw believes.

    Args:
        answer: Its own answer.
        shown: The answers it is shown in the prompt, in order.
        reasoning: What it writes where text is wanted.
        place: What random choices are a function of.
    """

    answer: str
    shown: tuple[str, ...]
    reasoning: str
    place: tuple[object, ...]

    @property
    def favourite(self) -> int | None:
        """Which of the shown answers it agrees with first, from 0."""
        return self.shown.index(self.answer) if self.answer in self.shown else None

    def pick(self, choices: Sequence[Any], path: str) -> Any:
        """One of some choices at random."""
        return choices[int(uniform("pick", path, *self.place) * len(choices))]


def answers_shown(messages: Sequence[Message]) -> tuple[str, ...]:
    """The answers that candidates in a prompt end with."""
    return tuple(found for message in messages for found in _ANSWERED.findall(message.content))


def filled(schema: Mapping[str, Any], belief: Belief) -> Any:
    """A value of a JSON schema.

    Its own answer goes where an answer is wanted; a verdict (a truth value, a number, one of some words) says which of
    the answers shown it agrees with. References, alternatives, objects, arrays, numbers, texts and fixed values are
    understood; other keywords are not looked at.
    """
    return _value(schema, schema, "", belief, 0)


def _value(node: Any, root: Mapping[str, Any], path: str, belief: Belief, depth: int) -> Any:
    if not isinstance(node, Mapping) or depth > _DEEPEST:
        return belief.answer
    schema = cast("Mapping[str, Any]", node)
    if "$ref" in schema:
        return _value(_referred(root, str(schema["$ref"])), root, path, belief, depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        if schema.get(word):
            return _value(schema[word][0], root, path, belief, depth + 1)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return _verdict(list(schema["enum"]), path, belief)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in cast("list[str]", kind) if one != "null"), "null")
    if kind == "object" or "properties" in schema:
        properties = cast("Mapping[str, Any]", schema.get("properties") or {})
        return {name: _value(part, root, f"{path}/{name}", belief, depth + 1) for name, part in properties.items()}
    if kind == "array":
        count = max(1, int(schema.get("minItems", 1)))
        part = schema.get("items", {})
        return [_value(part, root, f"{path}/{index}", belief, depth + 1) for index in range(count)]
    return _scalar(kind, schema, path, belief)


def _scalar(kind: Any, schema: Mapping[str, Any], path: str, belief: Belief) -> Any:
    if kind == "boolean":
        return not belief.shown or belief.shown[-1] == belief.answer
    if kind in ("integer", "number"):
        least = int(schema.get("minimum", 1))
        most = int(schema.get("maximum", max(least, least + len(belief.shown) - 1, 10 if not belief.shown else 0)))
        if belief.favourite is not None and least + belief.favourite <= most:
            return least + belief.favourite
        return belief.pick(range(least, most + 1), path) if most > least else least
    if kind == "null":
        return None
    wants_text = any(word in path.rpartition("/")[2].lower() for word in ("reason", "thought", "explan", "critique"))
    return belief.reasoning if wants_text else belief.answer


def _verdict(choices: list[Any], path: str, belief: Belief) -> Any:
    if len(belief.shown) >= 2 and len(choices) >= 2:
        first, second = (answer == belief.answer for answer in belief.shown[-2:])
        if first != second:
            return choices[0] if first else choices[1]
        return choices[2] if len(choices) > 2 else belief.pick(choices, path)
    if belief.answer in choices:
        return belief.answer
    if belief.shown and len(choices) >= 2:
        return choices[0] if belief.favourite is not None else choices[1]
    return belief.pick(choices, path)


def _referred(root: Mapping[str, Any], reference: str) -> Any:
    node: Any = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        if part and isinstance(node, Mapping):
            node = cast("Mapping[str, Any]", node).get(part)
    return node
