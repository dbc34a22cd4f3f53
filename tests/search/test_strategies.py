"""Every strategy keeps to the contract; tpe does so through optuna."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from treadle.errors import NotYetError, UserError
from treadle.search.settings import SearchSettings
from treadle.search.space import Space, Strategy, Structure, Trial
from treadle.search.spaces.open import open_space
from treadle.search.strategies.random import RandomOrder
from treadle.search.strategies.registry import open_strategy
from treadle.testing.strategy_contract import StrategyContract, small_grid, small_score
from treadle.testing.surface import explore


class TestRandomOrder(StrategyContract):
    def open(self, space: Space, seed: int, settings: SearchSettings) -> Strategy:
        return open_strategy("random", space, seed, settings)


class TestEverything(StrategyContract):
    def open(self, space: Space, seed: int, settings: SearchSettings) -> Strategy:
        return open_strategy("all", space, seed, settings)


class TestGreedy(StrategyContract):
    def open(self, space: Space, seed: int, settings: SearchSettings) -> Strategy:
        return open_strategy("greedy", space, seed, settings)


class TestBayes(StrategyContract):
    def open(self, space: Space, seed: int, settings: SearchSettings) -> Strategy:
        return open_strategy("bayes", space, seed, settings)


class TestTpe(StrategyContract):
    def open(self, space: Space, seed: int, settings: SearchSettings) -> Strategy:
        pytest.importorskip("optuna")
        return open_strategy("tpe", space, seed, settings)


@dataclass
class _Forgetful:
    """Draws anew each time."""

    inner: RandomOrder
    space: Space
    count: int = 0

    def ask(self, count: int) -> list[Structure]:
        self.count += 1
        return list(RandomOrder(self.space, self.count, SearchSettings()).ask(count)) if self.count < 300 else []

    def tell(self, trials: list[Trial]) -> None: ...


@dataclass
class _Impatient:
    """Stops when results are missing."""

    inner: RandomOrder
    space: Space
    asked: int = 0

    def ask(self, count: int) -> list[Structure]:
        self.asked += 1
        return list(self.inner.ask(count)) if self.asked <= 20 else []

    def tell(self, trials: list[Trial]) -> None: ...


@pytest.mark.parametrize("broken", [_Forgetful, _Impatient])
def test_the_contract_finds_strategies_that_break_it(broken: Callable[[RandomOrder, Space], Strategy]) -> None:
    class Contract(StrategyContract):
        def open(self, space: Space, seed: int, settings: SearchSettings) -> Strategy:
            return broken(RandomOrder(space, seed, settings), space)

    with pytest.raises(AssertionError):
        Contract().test_every_structure_is_proposed_once_and_then_none()


@pytest.mark.parametrize("method", ["random", "greedy", "bayes", "tpe"])
def test_another_seed_is_another_course(method: str) -> None:
    courses = {
        tuple(
            each.name for each in explore(open_strategy(method, small_grid(), seed, SearchSettings()), small_score, 6)
        )
        for seed in range(4)
    }
    assert len(courses) > 1


@pytest.mark.parametrize("method", ["greedy", "bayes", "tpe"])
def test_a_list_of_workflows_has_no_axes_to_search_along(method: str) -> None:
    with pytest.raises(UserError, match="--method random or all"):
        open_strategy(method, open_space("workflows:single,cot", Path()), 1, SearchSettings())


def test_methods_of_other_spaces_come_later() -> None:
    with pytest.raises(NotYetError):
        open_strategy("tree", small_grid(), 1, SearchSettings())


def test_tpe_without_optuna_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(UserError, match=r"needs the extra `tpe`: pip install 'treadle\[tpe\]'"):
        open_strategy("tpe", small_grid(), 1, SearchSettings())


def test_tpe_says_nothing_and_leaves_the_logging_of_optuna_as_it_was(capfd: pytest.CaptureFixture[str]) -> None:
    optuna = pytest.importorskip("optuna")
    before = optuna.logging.get_verbosity()
    list(explore(open_strategy("tpe", small_grid(), 1, SearchSettings()), small_score, 15))
    assert optuna.logging.get_verbosity() == before
    assert capfd.readouterr() == ("", "")


def test_tpe_comes_to_prefer_what_scored_well() -> None:
    pytest.importorskip("optuna")
    course = [
        small_score(each) for each in explore(open_strategy("tpe", small_grid(), 1, SearchSettings()), small_score, 30)
    ]
    assert sum(course[10:20]) > sum(course[:10])


def test_what_a_method_needs_is_imported_with_the_method_only() -> None:
    code = (
        "import treadle.search.strategies.registry, sys; print([n for n in ('sklearn', 'optuna') if n in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
