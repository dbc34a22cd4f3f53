"""Structures as values: written down in one line or JSON, checked by the rules, cast with models, counted."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.errors import DatasetError, UnknownNameError, UserError
from treadle.workflows.archon.components.base import Component
from treadle.workflows.archon.components.critic import Critic
from treadle.workflows.archon.components.fuser import Fuser
from treadle.workflows.archon.components.generator import Generator
from treadle.workflows.archon.components.ranker import PairRanker, Ranker
from treadle.workflows.archon.components.unit_tests import TestChecker, TestWriter
from treadle.workflows.archon.components.verifier import Verifier
from treadle.workflows.archon.json_form import read_structure, structure_document, structure_from
from treadle.workflows.archon.one_line import one_line, parse_one_line
from treadle.workflows.archon.presets import PRESETS, preset
from treadle.workflows.archon.rules import Profile, check
from treadle.workflows.archon.structure import Archon, Layer, first_draws
from treadle.workflows.registry import open_workflow

HERE = Path()
SHAPES = {
    "8g": 8,
    "8g>r5": 9,
    "8g>f": 9,
    "8g>c>f": 10,
    "8g>c>r5>f": 11,
    "8g>v": 24,
    "8g>v>f": 25,
    "8g>u>e": 17,
    "8g>u>e>f": 18,
}


def nobody(role: str) -> None:
    """No role is named."""


def models_of(structure: Archon) -> list[list[str | None]]:
    return [[component.model for component in layer] for layer in structure.layers]


@pytest.mark.parametrize(("line", "calls"), SHAPES.items())
def test_the_shapes_of_the_paper_take_the_calls_that_it_counts(line: str, calls: int) -> None:
    structure = parse_one_line(line)
    check(structure, "paper")
    assert structure.count() == calls
    assert structure.calls().low <= calls <= (structure.calls().high or 0)


def test_the_one_line_form_is_read_as_it_is_documented() -> None:
    structure = parse_one_line("8g(a,b,c) > c > r5 > 6f > v > f(b){temperature=0.2,brief}")
    generators = tuple(Generator(model=name, samples=count) for name, count in (("a", 3), ("b", 3), ("c", 2)))
    assert structure.layers == (
        generators,
        (Critic(),),
        (Ranker(top_k=5),),
        (Fuser(samples=6),),
        (Verifier(),),
        (Fuser(model="b", temperature=0.2, brief=True),),
    )
    mixed = parse_one_line("g(a*2,b*1)+g > u7 > e2")
    assert mixed.layers[0] == (Generator(model="a", samples=2), Generator(model="b"), Generator())
    assert mixed.layers[1:] == ((TestWriter(statements=7),), (TestChecker(top_k=2),))
    assert parse_one_line("6g(1..3)>p2").layers == (
        tuple(Generator(model=place, samples=2) for place in "123"),
        (PairRanker(top_k=2),),
    )


names = st.sampled_from([None, "a", "b", "1", "2", "3", "4", "openai:gpt-5-mini", "simulated:llm?skill=0.6&seed=2"])
settings = st.fixed_dictionaries(
    {"temperature": st.sampled_from([None, 0.0, 0.7, 0.123456789]), "max_tokens": st.sampled_from([None, 12345678])}
)


@st.composite
def components(draw: Any) -> Component:
    kind = draw(st.sampled_from([Critic, Ranker, PairRanker, Verifier, TestWriter, TestChecker]))
    numbers = {Ranker: "top_k", PairRanker: "top_k", Verifier: "top_k", TestChecker: "top_k", TestWriter: "statements"}
    least = 1 if kind in (Ranker, PairRanker) else 0
    number = draw(st.integers(least, 20))
    given_number = {numbers[kind]: number or None} if kind in numbers else {}
    return kind(model=draw(names), **given_number, **draw(settings))


@st.composite
def writers(draw: Any) -> Layer:
    kind = draw(st.sampled_from([Generator, Fuser]))
    return tuple(
        kind(model=draw(names), samples=draw(st.integers(1, 12)), **draw(settings))
        for _ in range(draw(st.integers(1, 4)))
    )


layers = st.lists(st.one_of(writers(), components().map(lambda one: (one,))), min_size=1, max_size=6).map(tuple)


@given(layers)
def test_any_structure_comes_back_from_its_one_line_form_and_from_json(drawn: tuple[Layer, ...]) -> None:
    structure = Archon(drawn, "mine")
    assert parse_one_line(one_line(structure)) == structure
    document = msgspec.json.decode(msgspec.json.encode(structure_document(structure)))
    assert structure_from(document, "memory") == structure


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("8x>f", "unknown component '8x' in layer 1"),
        ("0g>f", "writes nothing"),
        ("g(a*0)>f", "samples must be a whole number from 1"),
        ("8g>>f", "layer 2 of '8g>>f' is empty"),
        ("8g>r0>f", "top_k must be a whole number from 1"),
        ("8g>3c>f", "a number before c means nothing"),
        ("8g3>f", "a number behind g means nothing"),
        ("8g(a>f", "do not match"),
        ("8g(a,)>f", "a model is missing"),
        ("2g(a,b,c)>f", "names 3 models for 2 candidates"),
        ("8g>c(a,b)>f", "one critic is one model"),
        ("8g(a*2,b)>f", "give every model a count"),
        ("8g{hot}>f", "unknown setting 'hot'"),
        ("8g{temperature=warm}>f", "must be a number"),
        ("8g{prompt=x}>f", "a prompt is given in a JSON file"),
        ("8g{temperature=11}>f", "from 0 to 10"),
        ("", "names no structure"),
        ("generl", "did you mean general"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(line: str, said: str) -> None:
    with pytest.raises(UserError, match="archon") as refused:
        open_workflow(f"archon:{line}", folder=HERE)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("line", "profile", "said"),
    [
        ("f", "paper", "layer 1 breaks the rule 'generators stand in the first layer' (paper)"),
        ("g>g>f", "paper", "layer 2 breaks the rule 'generators stand in the first layer only'"),
        ("g>c", "paper", "nothing follows; take the critic out"),
        ("g>c>v", "paper", "a verifier follows"),
        ("g>u>f", "paper", "put an evaluator (e) in the layer behind it"),
        ("g>e", "paper", "put a unit-test generator (u) in the layer before it"),
        ("u>g>e", "paper", "it begins with a unit test generator"),
        ("g+f", "paper", "one kind of component a layer"),
        ("g>v(a)+v(b)", "paper", "a verifier stands alone"),
        ("c>g", "archon-code", "a critic needs candidates"),
        ("u>f", "archon-code", "a fuser needs candidates"),
        ("u", "archon-code", "a structure has generators"),
        ("g>e", "archon-code", "an evaluator needs unit tests"),
        ("g>u", "archon-code", "unit tests are for generators or an evaluator"),
        ("g>u>f", "archon-code", "layer 2 breaks the rule 'unit tests are for generators"),
        ("g>c+c>f", "archon-code", "a critic stands alone"),
        ("g>c", "archon-code", "nobody hears this one"),
    ],
)
def test_a_broken_rule_names_the_layer_and_the_remedy(line: str, profile: Profile, said: str) -> None:
    with pytest.raises(UserError) as refused:
        check(parse_one_line(line), profile)
    assert said in str(refused.value)


@pytest.mark.parametrize("line", ["u>4g>e1", "4g>2g>f", "4g>c>v>f"])
def test_what_the_public_code_runs_is_allowed_in_its_own_profile(line: str) -> None:
    check(parse_one_line(line), "archon-code")
    with pytest.raises(UserError):
        check(parse_one_line(line), "paper")


def test_every_preset_keeps_the_rules_of_the_paper_and_works_with_one_to_three_models() -> None:
    for name in PRESETS:
        structure = preset(name)
        check(structure, "paper")
        for models in (("a",), ("a", "b"), ("a", "b", "c")):
            cast = structure.cast(models, nobody)
            assert {component.model for component in cast.components} <= set(models)
            assert cast.count() == structure.count()


def test_roles_are_filled_by_rule() -> None:
    structure = parse_one_line("5g>c>3f>f")
    assert models_of(structure.cast(("s", "w"), nobody)) == [["s", "w"], ["s"], ["s", "w"], ["s"]]
    assert [each.drafts for each in structure.cast(("s", "w"), nobody).layers[0]] == [3, 2]
    named = {"generator": "cheap", "fuser": "big", "critic": "sharp"}
    assert models_of(structure.cast(("s", "w"), named.get)) == [["cheap"], ["sharp"], ["big"], ["big"]]
    placed = parse_one_line("3g(2,1,-1)>c(1)>f(openai:x)")
    assert models_of(placed.cast(("s", "w"), nobody)) == [["w", "s", "w"], ["s"], ["openai:x"]]
    assert models_of(placed.cast(("s", "w"), named.get)) == [["cheap"] * 3, ["sharp"], ["openai:x"]]


def test_a_place_that_no_model_has_is_refused_before_any_call() -> None:
    with pytest.raises(UserError, match="names model 3, but only 2 models are given"):
        parse_one_line("g(1..3)>f").cast(("a", "b"), nobody)


def test_one_model_with_other_settings_is_two_members_and_with_the_same_goes_on_drawing() -> None:
    layer = parse_one_line("2g(a)+g(b)+2g(a){temperature=1}+3g(a)").layers[0]
    assert first_draws(layer) == (0, 0, 0, 2)
    assert first_draws(Archon((layer,)).cast(("b", "c"), nobody).layers[0]) == (0, 0, 0, 2)
    both = parse_one_line("2g(1)+2g(a)")
    assert first_draws(both.cast(("a",), nobody).layers[0]) == (0, 2)


OWN_FILES: dict[str, dict[str, Any]] = {
    "the shape of most shipped files": {
        "name": "g8-r-c-f",
        "custom": False,
        "layers": [
            [
                {"type": "generator", "model": "Q/W-7B", "model_type": "Together_API", "top_k": 1, "temperature": 0.7,
                 "max_tokens": 2048, "samples": 4},
                {"type": "generator", "model": "M/8x7B", "model_type": "Together_API", "temperature": 0.7,
                 "max_tokens": 2048, "samples": 4},
            ],
            [{"type": "ranker", "model": "Q/W-7B", "model_type": "Together_API", "top_k": 5, "temperature": 0.7,
              "max_tokens": 2048, "use_critiques": False}],
            [{"type": "critic", "model": "Q/W-7B", "model_type": "x", "temperature": 0.7, "max_tokens": 2048,
              "samples": 1}],
            [{"type": "fuser", "model": "Q/W-7B", "model_type": "x", "temperature": 0.7, "max_tokens": 2048,
              "samples": 1, "length_contorl": True}],
        ],
    },
    "unit tests before the generators": {
        "name": "tests-first",
        "layers": [
            [{"type": "unit_test_generator", "model": "m", "model_type": "x", "temperature": 0.7, "max_tokens": 2048,
              "samples": 1, "unit_test_cap": 5, "remove_unit_tests_from_prompt": True}],
            [{"type": "generator", "model": "m", "model_type": "x", "temperature": 0.7, "max_tokens": 2048,
              "samples": 10}],
            [{"type": "unit_test_evaluator", "model": "m", "model_type": "x", "temperature": 0.0, "max_tokens": 2048,
              "samples": 1, "remove_unit_tests_from_prompt": True, "first_k": None, "top_k": 1}],
        ],
    },
    "the legacy shape of layers": {
        "name": "old",
        "layers": [
            {"models": [{"type": "generator", "model": "m", "temperature": 0.7, "max_tokens": 512}]},
            {"models": [{"type": "verifier", "model": "m", "temperature": 0.7, "max_tokens": 512, "samples": 1}]},
        ],
    },
}  # fmt: skip


@pytest.mark.parametrize("document", OWN_FILES.values(), ids=list(OWN_FILES))
def test_archons_own_files_load_as_they_are(document: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "own.json").write_bytes(msgspec.json.encode(document))
    workflow = open_workflow("archon:own.json", folder=tmp_path)
    assert workflow.calls.usual
    assert len(read_structure(tmp_path / "own.json").layers) == len(document["layers"])


def test_what_a_file_says_that_is_not_understood_is_reported() -> None:
    structure = structure_from(OWN_FILES["the shape of most shipped files"], "own.json")
    assert structure.remarks == ("own.json, layer 4: unknown key 'length_contorl' of a fuser",)
    assert structure.count() == 8 + 1 + 1 + 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "is not JSON"),
        (b"[]", "must be a JSON object"),
        (b"{}", "layers is missing"),
        (b'{"layers": [[]]}', "layer 1 must be a list of components"),
        (b'{"layers": [[{"type": "genrator"}]]}', "unknown component 'genrator'"),
        (b'{"layers": [[{"type": "generator", "samples": 0}]]}', "samples must be a whole number from 1"),
        (b'{"layers": [[{"type": "generator", "samples": "8"}]]}', "samples of a generator must be a whole number"),
        (b'{"layers": [[{"type": "generator", "temperature": "hot"}]]}', "must be a number"),
        (b'{"custom": true, "layers": []}', "custom components are code"),
        (b'{"layers": []}', "needs at least one layer"),
    ],
)
def test_a_file_that_holds_no_structure_is_refused_in_words(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_bytes(content)
    with pytest.raises(UserError) as refused:
        open_workflow("archon:broken.json", folder=tmp_path)
    assert said in str(refused.value)


def test_a_missing_file_and_an_unknown_option_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        open_workflow("archon:none.json", folder=tmp_path)
    with pytest.raises(UnknownNameError, match="profil"):
        open_workflow("archon:moa?profil=paper", folder=tmp_path)
    with pytest.raises(UserError, match="paper or archon-code"):
        open_workflow("archon:moa?profile=mine", folder=tmp_path)
    with pytest.raises(UserError, match="generators stand in the first layer"):
        open_workflow("archon:u>2g>e?profile=paper", folder=tmp_path)


def test_names_are_canonical_and_models_may_have_options_of_their_own() -> None:
    one = open_workflow("archon: 2g( simulated:llm?skill=0.6&seed=2 ) > f ?temperature=0.7", folder=HERE)
    assert one.name == "archon:2g(simulated:llm?skill=0.6&seed=2){temperature=0.7}>f{temperature=0.7}"
    assert open_workflow(one.name, folder=HERE).name == one.name
    assert open_workflow("archon:moa", folder=HERE).name == "archon:moa"
    assert open_workflow("archon:moa?max_tokens=9", folder=HERE).name == "archon:moa?max_tokens=9"


def test_an_own_prompt_stands_in_the_name_by_its_hash() -> None:
    plain, own = (Archon(((Generator(prompt=prompt),), (Fuser(),))) for prompt in (None, "Be brief."))
    assert one_line(plain) == "g>f"
    assert one_line(own).startswith("g{prompt=")
    assert one_line(own) != one_line(Archon(((Generator(prompt="Be long."),), (Fuser(),))))


def test_bounds_hold_whatever_random_filters_leave() -> None:
    rng = Random(3)
    for _ in range(200):
        middle = rng.sample(
            [f"c>r{rng.randint(1, 9)}", "v", "u>e", f"{rng.randint(1, 9)}f", f"p{rng.randint(1, 3)}"], 3
        )
        structure = parse_one_line(">".join([f"{rng.randint(1, 9)}g", *middle, "f"]))
        calls = structure.calls()
        assert calls.low <= structure.count() <= (calls.high or 0)
