"""The shared options: lists, roles, models, and how they become a command's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from treadle.cli.options import Asking, Common, read_roles, split_lists
from treadle.cli.signature import flattened
from treadle.errors import UnknownNameError, UserError

BRACKETED = st.sampled_from(["cot", "debate?agents=3", "archon:[a,b(c,d)]", "x:{1,2}", "[[,],]"])


@given(st.lists(BRACKETED, min_size=1, max_size=6))
def test_a_list_joined_by_commas_comes_apart_into_its_parts(parts: list[str]) -> None:
    assert split_lists([",".join(parts)], "LIST") == tuple(parts)


def test_commas_inside_brackets_do_not_split() -> None:
    assert split_lists(["single, cot", "archon:[gen(a,b),fuse(c)]"], "W") == (
        "single",
        "cot",
        "archon:[gen(a,b),fuse(c)]",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,,b", "a name is missing"),
        ("", "a name is missing"),
        ("a,b(c", "'\\)' is missing"),
        ("A)", "'\\)' closes nothing"),
        ("a(b],c", "'\\]' closes nothing"),
    ],
)
def test_a_broken_list_is_refused_wherever_it_was_given(text: str, says: str) -> None:
    with pytest.raises(UserError, match=f"--models .*{says}"):
        split_lists([text], "--models")


def test_optimizer_is_the_optimiser() -> None:
    assert read_roles(["optimizer=big", " judge = weak "]) == {"optimiser": "big", "judge": "weak"}


def test_an_unknown_role_gets_a_near_match() -> None:
    with pytest.raises(UnknownNameError, match="did you mean fuser"):
        read_roles(["fusor=big"])


@pytest.mark.parametrize("text", ["judge", "=big", "judge=", ""])
def test_a_role_needs_a_name_and_an_alias(text: str) -> None:
    with pytest.raises(UserError, match="NAME=ALIAS"):
        read_roles([text])


def test_one_role_has_one_player() -> None:
    with pytest.raises(UserError, match="given twice"):
        read_roles(["judge=a", "judge=b"])
    assert read_roles(["judge=a", "judge=a"]) == {"judge": "a"}


def test_model_and_models_exclude_each_other() -> None:
    with pytest.raises(UserError, match="give one of them"):
        Asking(model="a", models="a,b").cast()
    assert Asking(models="a,b").cast() == ("a", "b")
    assert Asking(model="openai:gpt-5-mini").cast() == ("openai:gpt-5-mini",)
    assert Asking().cast() == ()


def test_budgets_and_caps_reach_the_library() -> None:
    asked = Asking(budget_usd=1.5, budget_seconds=60, max_calls_per_sample=3, max_usd_per_sample=0.1)
    assert (asked.budget().usd, asked.budget().calls, asked.budget().seconds) == (1.5, None, 60)
    assert (asked.caps().usd, asked.caps().calls, asked.caps().seconds) == (0.1, 3, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options(Common):
    size: Annotated[int, typer.Option("--size", min=1)] = 3
    name: Annotated[list[str] | None, typer.Option("--name")] = None


def test_a_dataclass_is_spread_over_a_command_and_comes_back_whole() -> None:
    seen: list[tuple[str, _Options]] = []

    def work(word: Annotated[str, typer.Argument()], options: _Options) -> int:
        seen.append((word, options))
        return 7

    app = typer.Typer()
    app.command()(flattened(work))
    result = CliRunner().invoke(app, ["hello", "--size", "5", "--name", "a", "--name", "b", "--json"])
    assert result.exit_code == 7
    assert seen == [("hello", _Options(as_json=True, size=5, name=["a", "b"]))]
    assert CliRunner().invoke(app, ["hello", "--size", "0"]).exit_code == 2
