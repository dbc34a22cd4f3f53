"""The dials of Archon spaces: what each may be set to, how settings are counted, and which are ruled out."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, cast

from treadle.errors import DatasetError, UserError
from treadle.search.space import Point

Check = Literal["none", "verifier", "unit_tests"]
CHECKS: tuple[Check, ...] = ("none", "verifier", "unit_tests")
SLOTS = 3
"""Fusion layers before the last one."""
AXES = ("models", "samples", "fusers_1", "fusers_2", "fusers_3", "critic", "check")
FUNNEL = "funnel"
_CONSTRAINT = re.compile(r"\s*(?P<left>[a-z_0-9]+)\s*(?P<sign><=|>=|<|>|=)\s*(?P<right>[a-z_0-9]+)\s*")
_SIGNS: dict[str, Callable[[int, int], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dials:
    """What a structure of the space may be (arXiv 2409.15254, section 3.4).

    Attributes:
        models: How many of the best models generate.
        samples: Samples of each of them.
        fusion_layers: Layers of fusers, the last of which is a single one.
        fusers: Fusers of each layer but the last.
        critic: Whether a critic and a ranker stand before every layer of fusers.
        check: What stands before the last fuser.
        slots: Whether layers are counted as slots that may be empty, as the paper's numbers are, instead of by
            their number.
        ranker_top_k: How many candidates a ranker leaves.
        constraints: Which settings are ruled out, besides those that no structure could have: ``funnel`` (no layer has
            more fusers than the one before it), or ``TERM SIGN TERM`` with numbers and `TERMS`, such as
            ``candidates <= 24``.
    """

    models: tuple[int, ...] = tuple(range(1, 11))
    samples: tuple[int, ...] = (1, 2, 3, 4, 5)
    fusion_layers: tuple[int, ...] = (1, 2, 3, 4)
    fusers: tuple[int, ...] = (2, 4, 6, 8, 10)
    critic: tuple[bool, ...] = (False, True)
    check: tuple[Check, ...] = CHECKS
    slots: bool = False
    ranker_top_k: int = 5
    constraints: tuple[str, ...] = ("candidates <= 24",)

    def __post_init__(self) -> None:
        bounds = {"models": (1, 100), "samples": (1, 1000), "fusion_layers": (1, SLOTS + 1), "fusers": (1, 1000)}
        for name, (least, most) in bounds.items():
            values: tuple[int, ...] = getattr(self, name)
            if any(not least <= value <= most for value in values):
                raise UserError(f"archon: {name} must be whole numbers from {least} to {most}")
        for name in (*bounds, "critic", "check"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                raise UserError(f"archon: {name} needs values, each once")
        if any(check not in CHECKS for check in self.check):
            raise UserError(f"archon: check must be of {', '.join(CHECKS)}")
        for constraint in self.constraints:
            _rule(constraint)

    def cut(self, models: int) -> Dials:
        """The dials for so many models given."""
        return replace(self, models=tuple(count for count in self.models if count <= models) or (1,))

    @property
    def raw(self) -> int:
        """Combinations."""
        beside = len(self.models) * len(self.samples) * len(self.critic) * len(self.check)
        return beside * sum(1 for _ in self._fusions())

    def points(self) -> Iterator[Point]:
        """The combinations that are ruled out by nothing; ``calls`` is not looked at."""
        rules = [_rule(text) for text in self.constraints if "calls" not in text]
        for models, samples in product(self.models, self.samples):
            for fusion in self._fusions():
                if self.slots and not _filled(fusion):
                    continue
                for critic, check in product(self.critic, self.check):
                    point: Point = (models, samples, *fusion, critic, check)
                    terms = terms_of(point)
                    if all(rule(terms) for rule in rules):
                        yield point

    @property
    def rules(self) -> tuple[str, ...]:
        """All constraints in words."""
        order = ("fusers_1, fusers_2, fusers_3 are filled in this order", "fusers_1 is filled") if self.slots else ()
        return (*self.constraints, *order)

    @property
    def call_rules(self) -> list[Callable[[dict[str, int]], bool]]:
        """The constraints that look at calls."""
        return [_rule(text) for text in self.constraints if "calls" in text]

    def _fusions(self) -> Iterator[tuple[int | None, ...]]:
        """The counts of fusers of each layer but the last, ``None`` where there is none."""
        if self.slots:
            yield from product((None, *self.fusers), repeat=SLOTS)
            return
        for layers in self.fusion_layers:
            for counts in product(self.fusers, repeat=layers - 1):
                yield (*counts, *(None for _ in range(SLOTS + 1 - layers)))

    def axes(self) -> dict[str, list[Any]]:
        """The dials as JSON values."""
        last: dict[str, list[Any]] = {"critic": list(self.critic), "check": list(self.check)}
        first = {"models": list(self.models), "samples": list(self.samples)}
        if self.slots:
            slots = {f"fusers_{slot}": [None, *self.fusers] for slot in range(1, SLOTS + 1)}
            return {**first, **slots, **last}
        return {**first, "fusion_layers": list(self.fusion_layers), "fusers": list(self.fusers), **last}


PAPER_FUSERS = (2, 4, 6, 8)
"""Which four counts the paper's numbers rest on is not said; these are the default."""
TERMS = ("models", "samples", "candidates", "fusion_layers", "fusers", "fusers_1", "fusers_2", "fusers_3", "calls")


def terms_of(point: Point, calls: int = 0) -> dict[str, int]:
    """What constraints can speak of; a layer that is not there has 0 fusers."""
    models, samples = cast("tuple[int, int]", point[:2])
    counts = [cast("int", count or 0) for count in point[2 : 2 + SLOTS]]
    return {
        "models": models,
        "samples": samples,
        "candidates": models * samples,
        "fusion_layers": 1 + sum(count > 0 for count in counts),
        "fusers": sum(counts),
        **{f"fusers_{place}": count for place, count in enumerate(counts, 1)},
        "calls": calls,
    }


def _filled(fusion: Sequence[int | None]) -> bool:
    there = [count is not None for count in fusion]
    return there[0] and there == sorted(there, reverse=True)


def _rule(text: str) -> Callable[[dict[str, int]], bool]:
    if text.strip() == FUNNEL:
        return lambda terms: terms["fusers_1"] >= terms["fusers_2"] >= terms["fusers_3"]
    found = _CONSTRAINT.fullmatch(text)
    sides = (found["left"], found["right"]) if found else ()
    if found is None or any(not side.isdecimal() and side not in TERMS for side in sides):
        raise UserError(
            f"archon: the constraint {text!r} cannot be read; write {FUNNEL}, or such as candidates <= 24, with the "
            f"terms {', '.join(TERMS)}"
        )
    compare = _SIGNS[found["sign"]]

    def holds(terms: dict[str, int]) -> bool:
        left, right = (int(side) if side.isdecimal() else terms[side] for side in sides)
        return compare(left, right)

    return holds


def read_dials(path: Path) -> Dials:
    """Read dials from a TOML or JSON file; what it does not name is as in the space ``archon``.

    Args:
        path: The file, with the attributes of `Dials` as keys.

    Raises:
        DatasetError: The file cannot be read.
        UserError: A key or value is wrong.
    """
    import msgspec

    try:
        content = path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{path}: the axes cannot be read: {error.strerror}") from None
    decoder = msgspec.json.decode if path.suffix == ".json" else msgspec.toml.decode
    try:
        values: dict[str, Any] = decoder(content, type=dict[str, Any])
        unknown = [name for name in values if name not in Dials.__dataclass_fields__]
        if unknown:
            raise UserError(f"{path}: unknown axis {unknown[0]!r}; known: {', '.join(Dials.__dataclass_fields__)}")
        return msgspec.convert(values, Dials)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as error:
        remedy = f"every axis is a list; check is of {', '.join(CHECKS)}"
        raise DatasetError(f"{path}: {error} ({remedy})") from None


PRESETS: dict[str, Dials] = {
    "archon": Dials(),
    "archon-9576": Dials(slots=True, fusers=PAPER_FUSERS, critic=(False,)),
    "archon-19152": Dials(slots=True, fusers=PAPER_FUSERS),
}
