"""Names with settings: read strictly, written in one form."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.errors import NotYetError, UnknownNameError, UserError
from treadle.workflows.base import Calls
from treadle.workflows.registry import KEPT_NAMES, KEPT_PREFIXES, WORKFLOWS, open_workflow
from treadle.workflows.self_consistency import SelfConsistency
from treadle.workflows.settings import split_options, split_specs, with_options

HERE = Path()


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("single", "single"),
        (" cot ", "cot"),
        ("self-consistency", "self-consistency?n=5"),
        ("self-consistency?n=5", "self-consistency?n=5"),
        ("best-of-n?judge=list&n=3", "best-of-n?n=3"),
        ("best-of-n?n=3&judge=pairs", "best-of-n?judge=pairs&n=3"),
        ("self-refine", "self-refine?rounds=2"),
        ("diverse?approaches=4", "diverse?approaches=4"),
        ("debate?rounds=3&agents=2", "debate?agents=2&rounds=3"),
        ("medprompt", "medprompt"),
        ("medprompt?votes=1&examples=5&reasoning=true", "medprompt?reasoning=true&votes=1"),
    ],
)
def test_a_workflow_has_one_name_however_its_settings_are_written(spec: str, name: str) -> None:
    workflow = open_workflow(spec, folder=HERE)
    assert workflow.name == name
    assert open_workflow(name, folder=HERE).name == name


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("self-consistency?votes=5", ["no setting 'votes'; its settings: n (a whole number from 1 to 1000)"]),
        ("debate?agent=5", ["no setting 'agent'; did you mean agents?", "rounds (a whole number from 1 to 10)"]),
        ("single?n=5", ["no setting 'n'", "it has none"]),
        ("self-consistency?n=five", ["n must be a whole number from 1 to 1000", "'five'"]),
        ("self-consistency?n=0", ["n must be a whole number from 1 to 1000", "not 0"]),
        ("self-consistency?n=-3", ["n must be", "'-3'"]),
        ("self-consistency?n=5.0", ["n must be", "'5.0'"]),
        ("self-consistency?n=٣", ["n must be"]),
        ("self-consistency?n=99999999999999999999", ["n must be"]),
        ("debate?agents=1", ["agents must be a whole number from 2 to 20"]),
        ("diverse?approaches=9", ["approaches must be a whole number from 2 to 8"]),
        ("best-of-n?judge=pair", ["judge must be list or pairs", "'pair'"]),
        ("medprompt?reasoning=yes", ["reasoning must be true or false", "'yes'"]),
        ("self-consistency?n", ["'n'", "name=value"]),
        ("self-consistency?=5", ["'=5'", "name=value"]),
        ("self-consistency?n=3&n=4", ["'n' is given twice"]),
    ],
)
def test_a_setting_that_is_not_there_or_not_so_is_refused_in_one_line(spec: str, words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        open_workflow(spec, folder=HERE)
    message = str(caught.value)
    assert [word for word in words if word not in message] == []
    assert "\n" not in message


def test_a_setting_out_of_range_is_refused_in_python_too() -> None:
    with pytest.raises(UserError, match="n must be a whole number from 1 to 1000, not 0"):
        SelfConsistency(n=0)
    with pytest.raises(UserError, match="not true"):
        SelfConsistency(n=True)


def test_an_unknown_workflow_is_refused_with_what_it_may_mean() -> None:
    with pytest.raises(UnknownNameError, match="did you mean self-consistency"):
        open_workflow("self-consistancy?n=5", folder=HERE)
    with pytest.raises(UnknownNameError, match="unknown workflow ''"):
        open_workflow("", folder=HERE)


@pytest.mark.parametrize("name", [*KEPT_NAMES, *(f"{prefix}some.json" for prefix in KEPT_PREFIXES)])
def test_a_name_that_is_kept_for_later_says_so(name: str) -> None:
    with pytest.raises(NotYetError, match="not yet there"):
        open_workflow(f"{name}?mode=full", folder=HERE)


def test_every_workflow_knows_what_a_question_costs() -> None:
    for name in WORKFLOWS:
        calls = open_workflow(name, folder=HERE).calls
        assert calls.high is not None
        assert 1 <= calls.low <= calls.high
    assert open_workflow("cot", folder=HERE).calls == Calls.exactly(1)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("cot", ("cot",)),
        ("single, cot,self-consistency?n=5", ("single", "cot", "self-consistency?n=5")),
        ("a,b?x=[1,2],c", ("a", "b?x=[1,2]", "c")),
        ("a?x=(1,{2,3}),b", ("a?x=(1,{2,3})", "b")),
    ],
)
def test_commas_inside_brackets_do_not_split_a_list(text: str, names: tuple[str, ...]) -> None:
    assert split_specs(text) == names


@pytest.mark.parametrize("text", ["", "a,,b", "a,", "a?x=[1,b", "a?x=[(],b", "a?x=],b", "a)"])
def test_a_list_with_a_hole_or_an_odd_bracket_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        split_specs(text)


@given(st.dictionaries(st.text(min_size=1, max_size=6), st.text(max_size=8), max_size=4))
def test_settings_survive_being_written_and_read(values: dict[str, str]) -> None:
    assert split_options(with_options("mine:flow", values)) == ("mine:flow", values)
