"""Archon spaces: counts, cuts, constraints, and structures at their points."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from treadle.errors import DatasetError, UnknownNameError, UserError
from treadle.search.space import Grid, Point
from treadle.search.spaces.archon import ArchonSpace
from treadle.search.spaces.dials import PRESETS, Dials
from treadle.search.spaces.extremes import space_document
from treadle.search.spaces.open import Given, open_space
from treadle.workflows.archon.one_line import parse_one_line
from treadle.workflows.archon.rules import check

HERE = Path()


def opened(spec: str, folder: Path = HERE, **given: Any) -> ArchonSpace:
    space = open_space(spec, folder, Given(**given))
    assert isinstance(space, ArchonSpace)
    assert isinstance(space, Grid)
    return space


@pytest.mark.parametrize(
    ("name", "raw", "valid"),
    [("archon", 46_800, 35_568), ("archon-9576", 18_750, 9_576), ("archon-19152", 37_500, 19_152)],
)
def test_the_presets_have_the_counts_of_the_paper(name: str, raw: int, valid: int) -> None:
    space = opened(name)
    assert (space.raw, space.valid) == (raw, valid)
    assert len(space.structures()) == len(set(space.points)) == valid


def test_the_sample_counts_of_the_coding_benchmark_leave_3024(tmp_path: Path) -> None:
    axes = "samples = [1, 10, 100, 500, 1000]\nslots = true\nfusers = [2, 4, 6, 8]\ncritic = [false]\n"
    (tmp_path / "coding.toml").write_text(axes)
    space = opened("archon:coding.toml", tmp_path)
    assert (space.raw, space.valid) == (18_750, 3_024)


@pytest.mark.parametrize("name", PRESETS)
def test_every_structure_keeps_the_rules_of_the_paper_and_has_its_own_name(name: str) -> None:
    structures = opened(name).structures()
    for place in Random(name).sample(range(len(structures)), 300):
        check(parse_one_line(structures[place].name.removeprefix("archon:")), "paper")
    assert len({structure.name for structure in structures[:3_000]}) == 3_000


@pytest.mark.parametrize(("models", "valid"), [(1, 4_680), (2, 9_360), (3, 14_040), (10, 35_568), (12, 35_568)])
def test_axes_are_cut_to_the_models_given(models: int, valid: int) -> None:
    space = opened("archon", models=models)
    assert space.valid == valid
    named = {part for structure in space.structures()[::997] for part in _places(structure.name)}
    assert named <= {str(place) for place in range(1, models + 1)}


def _places(name: str) -> set[str]:
    structure = parse_one_line(name.removeprefix("archon:"))
    return {component.model for component in structure.components if component.model is not None}


def test_the_ranking_says_who_generates_and_who_is_best() -> None:
    space = opened("archon", models=3).ranked((3, 1, 2))
    lines = {structure.name for structure in space.structures()[:6_000]}
    assert "archon:2g(3,1)>f(3)" in {structure.name for structure in space.structures()[::3]}
    assert (
        "archon:g(3)>c(3)>r5(3)>4f(3*2,1*1,2*1)>c(3)>r5(3)>u(3)>e(3)>f(3)".replace("4f(3*2,1*1,2*1)", "4f(3,1,2)")
        in lines
    )
    assert [structure.name for structure in space.singles()] == ["archon:g(1)", "archon:g(2)", "archon:g(3)"]


def test_calls_are_known_before_a_call_and_a_cap_rules_out_what_is_above() -> None:
    space = opened("archon-9576", models=4)
    costs = space.costs()
    for place in Random(1).sample(range(space.valid), 100):
        assert costs[place] == space.structures()[place].workflow.calls.usual
    capped = opened("archon-9576", models=4, most_calls=20)
    assert capped.valid == int((costs <= 20).sum()) > 0
    assert "calls <= 20" in capped.document()["constraints"]
    with pytest.raises(UserError, match="no structure is left"):
        opened("archon-9576", most_calls=2)


def test_features_tell_all_points_apart_and_are_scaled() -> None:
    table = opened("archon-19152").features()
    assert table.min() == 0
    assert table.max() == 1
    assert len(np.unique(table.round(6), axis=0)) == 19_152


RULES: dict[str, Callable[[int, int, int], bool]] = {
    "funnel": lambda first, second, third: first >= second >= third,
    "fusers_1 <= 4": lambda first, second, third: first <= 4,
    "fusers = 6": lambda first, second, third: first + second + third == 6,
    "fusion_layers > 2": lambda first, second, third: second > 0,
}


@pytest.mark.parametrize(("constraint", "holds"), RULES.items(), ids=list(RULES))
def test_constraints_rule_out_by_their_words(constraint: str, holds: Callable[[int, int, int], bool]) -> None:
    def allowed(point: Point) -> bool:
        first, second, third = (count if isinstance(count, int) else 0 for count in point[2:5])
        return holds(first, second, third)

    points = list(Dials(models=(1,), constraints=(constraint,)).points())
    assert points
    everything = list(Dials(models=(1,), constraints=()).points())
    assert points == [point for point in everything if allowed(point)]


def test_a_constraint_may_count_calls(tmp_path: Path) -> None:
    (tmp_path / "axes.json").write_text('{"models": [2], "constraints": ["calls <= 12", "samples < models"]}')
    space = opened("archon:axes.json", tmp_path)
    assert space.valid > 0
    assert space.costs().max() <= 12
    assert {point[1] for point in space.points} == {1}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("modles = [1]", "unknown axis 'modles'"),
        ("models = [0]", "models must be whole numbers from 1"),
        ("models = []", "models needs values"),
        ("fusion_layers = [5]", "from 1 to 4"),
        ('check = ["compiler"]', "compiler"),
        ('constraints = ["candidates ~ 3"]', "cannot be read"),
        ('constraints = ["size <= 3"]', "cannot be read"),
        ("models = 3", "Expected `array`"),
        ("models = [", "axes.toml"),
        ('constraints = ["candidates < 1"]', "no structure is left of 46800"),
    ],
)
def test_a_file_of_axes_that_says_something_else_is_refused(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "axes.toml").write_text(content)
    with pytest.raises(UserError) as refused:
        opened("archon:axes.toml", tmp_path)
    assert said in str(refused.value)


def test_a_missing_file_and_a_mistyped_space_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        opened("archon:none.toml", tmp_path)
    with pytest.raises(UnknownNameError, match="archon-9576"):
        opened("archon-9567")


def test_the_document_names_the_cheapest_and_the_dearest() -> None:
    document = space_document(opened("archon"))
    assert document["axes"]["fusion_layers"] == [1, 2, 3, 4]
    assert [row["calls"] for row in document["cheapest"]] == sorted(row["calls"] for row in document["cheapest"])
    assert document["cheapest"][0] == {"workflow": "archon:g(1)>f(1)", "calls": 2}
    assert document["dearest"][0]["calls"] == 75
    few = space_document(open_space("workflows:cot,self-consistency?n=5", HERE))
    assert [row["workflow"] for row in few["dearest"]] == ["self-consistency?n=5", "cot"]
