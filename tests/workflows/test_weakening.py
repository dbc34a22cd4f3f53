"""The parts of a workflow: what can go, what goes with it, and what is left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.errors import UserError
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.workflows.archon.one_line import one_line, parse_one_line
from treadle.workflows.archon.rules import check
from treadle.workflows.archon.structure import Archon
from treadle.workflows.archon.weakening import cut_out, cuts
from treadle.workflows.base import Calls, Workflow
from treadle.workflows.registry import open_workflow
from treadle.workflows.weakening import divide


def parts(text: str) -> dict[str, Archon | None]:
    """What is left of a structure without each of its parts."""
    structure = parse_one_line(text)
    return {cut.name: cut_out(structure, [cut]) for cut in cuts(structure)}


def read(left: dict[str, str]) -> dict[str, Archon]:
    """Structures by the parts that they lack."""
    return {name: parse_one_line(text) for name, text in left.items()}


def settings(spec: str) -> dict[str, str]:
    return {part.name: part.left.name for part in divide(open_workflow(spec, folder=Path())).parts}


def test_every_layer_count_and_number_kept_is_a_part() -> None:
    assert parts("10g > c > r5 > 6f > v > f") == read(
        {
            "layer 1: 10 generators -> 5": "5g>c>r5>6f>v>f",
            "layer 2: critic (c)": "10g>r5>6f>v>f",
            "layer 3: ranker (r5)": "10g>c>6f>v>f",
            "layer 3: ranker keeps 5 -> 2": "10g>c>r2>6f>v>f",
            "layer 4: 6 fusers (6f)": "10g>c>r5>v>f",
            "layer 4: 6 fusers -> 3": "10g>c>r5>3f>v>f",
            "layer 5: verifier (v)": "10g>c>r5>6f>f",
            "layer 6: fuser (f)": "10g>c>r5>6f>v",
        }
    )


def test_components_of_one_layer_go_one_by_one_and_equal_ones_once() -> None:
    assert parts("4g(a,b) + g(c) + g(c) > r1") == read(
        {
            "layer 1, component 1: 2 generators (2g(a))": "4g(b,c,c)>r1",
            "layer 1, component 2: 2 generators (2g(b))": "4g(a,c,c)>r1",
            "layer 1, component 3: generator (g(c))": "5g(a,b,c)>r1",
            "layer 1: 6 generators -> 4": "g(a,b,c,c)>r1",
            "layer 2: ranker (r1)": "g(a)",
        }
    )


def test_what_nobody_would_use_goes_with_the_part_that_used_it() -> None:
    assert parts("8g > c > f")["layers 2 and 3: critic (c), fuser (f)"] == parse_one_line("g")
    assert parts("8g > c > 6f > c > f")["layers 2 and 3: critic (c), 6 fusers (6f)"] == parse_one_line("8g>c>f")
    tests = parts("8g > u6 > e2 > f")
    assert tests["layers 2 and 3: unit test generator (u6), unit test evaluator (e2)"] == parse_one_line("8g>f")
    assert tests["layer 2: 6 statements -> 3"] == parse_one_line("8g>u3>e2>f")
    shown = parts("u > 8g > e2 > f")
    assert shown["layers 1 and 3: unit test generator (u), unit test evaluator (e2)"] == parse_one_line("8g>f")
    assert shown["layer 3: unit test evaluator (e2)"] == parse_one_line("u>8g>f"), (
        "the generators still see the statements"
    )


def test_a_layer_that_becomes_the_last_writes_one_answer() -> None:
    assert parts("16g > v > f")["layer 3: fuser (f)"] == parse_one_line("16g>v")
    merged = parts("10g > 4f > f")
    assert merged["layer 2: 4 fusers (4f)"] == parse_one_line("10g>f")
    assert "layer 3: fuser (f)" not in merged, "without either fuser the same is left, which is measured once"


def test_numbers_that_change_nothing_are_no_parts() -> None:
    assert "keeps" not in " ".join(parts("8g > r5"))
    assert parts("3g > r5 > f")["layer 2: ranker keeps 5 -> 1"] == parse_one_line("3g>r1>f"), (
        "only three are there to be kept"
    )


def test_own_prompts_and_the_request_to_be_brief_are_parts() -> None:
    plain = parse_one_line("2g(a,b) > f{brief}")
    first, second = plain.layers[0]
    structure = Archon(((replace(first, prompt="Be wise."), second), plain.layers[1]))
    left = {cut.name: cut_out(structure, [cut]) for cut in cuts(structure)}
    assert left["layer 1: own prompt of component 1 (generator)"] == plain
    brief = left["layer 2: the request to be brief (fuser)"]
    assert brief is not None
    assert brief.layers[1] == parse_one_line("g > f").layers[1]
    both = Archon((tuple(replace(one, prompt="Be wise.") for one in plain.layers[0]), plain.layers[1]))
    assert "layer 1: own prompt (generator)" in [cut.name for cut in cuts(both)]


def test_parts_go_together_unless_nothing_would_be_left() -> None:
    structure = parse_one_line("2g(a,b) > c > r1 > f")
    known = {cut.name: cut for cut in cuts(structure)}
    left = cut_out(structure, [known["layer 3: ranker (r1)"], known["layer 4: fuser (f)"]])
    assert left == parse_one_line("g(a)"), "the critic has no reader left"
    generators = [cut for name, cut in known.items() if name.startswith("layer 1, component")]
    assert len(generators) == 2
    assert cut_out(structure, generators) is None


LATER = st.lists(st.sampled_from(["c", "r1", "r3", "p2", "v", "3f", "f(a)", "2f(a,b)", "u > e2"]), max_size=5)


@given(st.sampled_from(["g", "4g", "3g(a,b)", "g(a,a)", "u4 > 3g"]), LATER)
def test_whatever_goes_leaves_a_sound_structure_and_never_the_same_twice(first: str, later: list[str]) -> None:
    structure = parse_one_line(" > ".join([first, *later]))
    try:
        check(structure, "archon-code")
    except UserError:
        return
    found = [cut_out(structure, [cut]) for cut in cuts(structure)]
    assert len({structure, *found}) == len(found) + 1
    for left in found:
        assert left is not None
        check(left, "archon-code")
        assert left.count() > 0
        assert parse_one_line(one_line(left)) == left


def test_settings_go_down_one_notch() -> None:
    assert settings("self-consistency?n=5") == {"n 5 -> 3": "self-consistency?n=3"}
    assert settings("debate?agents=3&rounds=3") == {
        "agents 3 -> 2": "debate?agents=2&rounds=3",
        "rounds 3 -> 2": "debate?agents=3&rounds=2",
    }
    assert settings("medprompt?reasoning=true&votes=1") == {
        "examples 5 -> 3": "medprompt?examples=3&reasoning=true&votes=1",
        "examples 5 -> 0": "medprompt?examples=0&reasoning=true&votes=1",
        "reasoning true -> false": "medprompt?votes=1",
    }
    assert settings("best-of-n?n=1&judge=pairs") == {"judge pairs -> list": "best-of-n?n=1"}


def test_settings_go_together_and_the_lower_one_wins() -> None:
    divided = divide(open_workflow("medprompt?votes=3", folder=Path()))
    left = divided.without(divided.parts)
    assert left is not None
    assert left.name == "medprompt?examples=0&votes=2"


async def _own(problem: Problem, run: Run) -> str:
    return str(problem)


@pytest.mark.parametrize(
    ("workflow", "words"),
    [
        (open_workflow("single", folder=Path()), "single has no part"),
        (open_workflow("self-consistency?n=1", folder=Path()), "treadle compare"),
        (open_workflow("archon:g", folder=Path()), "archon:g has no part"),
        (Workflow("mine:own?x=1", _own, Calls(1, None)), r"function of your own.*mine:own\?part=false"),
    ],
)
def test_what_has_no_parts_is_refused_with_what_to_do_instead(workflow: Workflow, words: str) -> None:
    with pytest.raises(UserError, match=words):
        divide(workflow)
