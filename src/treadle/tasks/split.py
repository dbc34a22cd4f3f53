"""The three-way split: search, selection, test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from treadle.errors import UserError
from treadle.tasks.base import Sample

SHARES = (0.3, 0.2, 0.5)


@dataclass(frozen=True, slots=True)
class Split:
    """The parts of a task; each keeps the order of the data, and no group stands in two of them."""

    search: tuple[Sample, ...]
    selection: tuple[Sample, ...]
    test: tuple[Sample, ...]


def unit_of(sample: Sample) -> str:
    """What is split as one: the sample's group, or the sample itself."""
    return f"sample {sample.id}" if sample.group is None else f"group {sample.group}"


def split_samples(samples: Sequence[Sample], seed: int, shares: tuple[float, float, float] = SHARES) -> Split:
    """Split samples by groups into search, selection and test parts.

    Groups are ranked by a hash of the seed and their own name, so rows added elsewhere hardly move the others; a group
    goes to the part in which its middle falls when all are laid end to end in that order.

    Args:
        samples: The rows of a task.
        seed: The split seed.
        shares: Weights of the three parts.

    Raises:
        UserError: Fewer than three groups, so that some part would be empty.
    """
    sizes: dict[str, int] = {}
    for sample in samples:
        sizes[unit_of(sample)] = sizes.get(unit_of(sample), 0) + 1
    if len(sizes) < 3:
        raise UserError(
            f"{len(samples)} samples in {len(sizes)} groups cannot be split into a search, a selection and a test "
            "part: each needs at least one group of its own; give more samples"
        )
    parts = _place(sizes, seed, shares)
    _fill_empty(parts)
    part_of = {unit: number for number, part in enumerate(parts) for unit in part}
    chosen: tuple[list[Sample], list[Sample], list[Sample]] = ([], [], [])
    for sample in samples:
        chosen[part_of[unit_of(sample)]].append(sample)
    return Split(*(tuple(part) for part in chosen))


def _rank(unit: str, seed: int) -> bytes:
    return blake2b(f"{seed}\0{unit}".encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _place(sizes: dict[str, int], seed: int, shares: tuple[float, float, float]) -> tuple[list[str], ...]:
    total = sum(sizes.values())
    first = total * shares[0] / sum(shares)
    second = total * (shares[0] + shares[1]) / sum(shares)
    parts: tuple[list[str], ...] = ([], [], [])
    before = 0
    for unit in sorted(sizes, key=lambda unit: _rank(unit, seed)):
        middle = before + sizes[unit] / 2
        parts[0 if middle < first else 1 if middle < second else 2].append(unit)
        before += sizes[unit]
    return parts


def _fill_empty(parts: tuple[list[str], ...]) -> None:
    for number, part in enumerate(parts):
        if not part:
            donor = max(parts, key=len)
            part.append(donor.pop(0 if number < parts.index(donor) else -1))
