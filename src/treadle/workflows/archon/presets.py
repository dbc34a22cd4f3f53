"""Structures with a name, each for a kind of task; they name no models: roles and the models given fill them."""

from __future__ import annotations

from collections.abc import Mapping

from treadle.workflows.archon.one_line import parse_one_line
from treadle.workflows.archon.structure import Archon

PRESETS: Mapping[str, str] = {
    "general": "10g > c > 8f > c > 6f > c > 4f > f",
    "instruction": "10g > c > r5 > 5f > v > f",
    "reasoning": "10g > c > r5 > v > f",
    "maths": "16g > v > f",
    "coding-iterate": "4g(1) > c(1) > 3f(1) > c(1) > 2f(1) > c(1) > f(1)",
    "coding-filter": "16g(1) > u(1) > e1(1)",
    "cheap-wide": "20g(-1) > r5(1) > f(1)",
    "moa": "6g > 6f > f",
    "self-moa": "6g(1) > f(1)",
}
"""From the paper's figures and section 3.3 (arXiv 2409.15254); ``moa`` is 2406.04692, ``self-moa`` 2502.00674."""


def preset(name: str) -> Archon:
    """A structure by its name in `PRESETS`."""
    structure = parse_one_line(PRESETS[name])
    return Archon(structure.layers, name)
