"""A search from beginning to honest end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any

import pytest

from treadle.config_models import ModelSettings, PriceSettings
from treadle.errors import NotYetError, UnknownNameError, UserError
from treadle.evaluation.measuring import Progress
from treadle.ledger.budget import Budget
from treadle.models.base import Request
from treadle.search.estimate import estimate_search
from treadle.search.report import SearchReport
from treadle.search.search import search
from treadle.search.settings import SearchSettings
from treadle.search.strategies.random import RandomOrder
from treadle.store.base import Store
from treadle.store.open import open_store
from treadle.tasks.base import Sample
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.task import Task
from treadle.testing.sessions import scripted_session
from treadle.testing.virtual_time import run_virtual

SPACE = "workflows:single,cot,self-consistency?n=3"
PRICES = {"m": ModelSettings("m", price=PriceSettings(1.0, 1.0))}


def made_task(count: int = 120) -> Task:
    return Task("made", tuple(Sample(f"q{i}", f"say w{i}", f"w{i}") for i in range(count)), ExactScorer())


class Skilled:
    """Right with a chance that depends on how it is asked; counts its calls."""

    def __init__(self, single: float, cot: float) -> None:
        self.chances = {False: single, True: cot}
        self.calls = 0

    async def __call__(self, request: Request) -> str:
        self.calls += 1
        text = request.messages[-1].content
        word = text.split("say ")[1].split()[0]
        luck = Random(f"{text}/{request.draw}").random()
        await asyncio.sleep(0.001 + luck)
        return f"Answer: {word if luck < self.chances['step by step' in text] else 'no'}"


async def searched(model: Skilled, store: Store | None = None, space: str = SPACE, **options: Any) -> SearchReport:
    async with scripted_session({"m": model}, settings=PRICES, store=store) as session:
        return await search(session, space, task=options.pop("task", made_task()), **options)


def test_the_best_of_a_list_is_found_and_everything_is_written_down() -> None:
    report = run_virtual(searched(Skilled(0.3, 0.9), space="workflows:single,medprompt?examples=0&votes=1,cot"))
    document = report.document()
    assert document["ended_by"] == "done"
    assert document["best"]["workflow"] == "cot"
    assert document["best"]["search_score"] > 0.7
    assert document["spent"]["usd"] > 0
    assert document["evaluated"] == 3
    assert document["space"] == {"name": report.space.name, "raw": 3, "valid": 3}
    assert [row["workflow"] for row in document["history"]] == [each.name for each in report.space.structures()]


def test_a_winner_that_is_a_baseline_leaves_the_test_part_closed() -> None:
    report = run_virtual(searched(Skilled(0.9, 0.3)))
    document = report.document()
    assert document["best"]["workflow"] == "single"
    assert document["best"]["score"] is None
    assert document["test"]["opened"] == 0
    (row,) = document["test"]["comparisons"]
    assert (row["against"], row["workflow"], row["verdict"]) == ("itself", "single", "no difference")


GOOD = "debate?agents=2&rounds=2"


class Debater(Skilled):
    """Right only where it is shown what others answered."""

    async def __call__(self, request: Request) -> str:
        text = "\n".join(message.content for message in request.messages)
        word = text.split("say ")[1].split()[0]
        self.calls += 1
        return f"Answer: {word if 'Answer: no' in text else 'no'}"


def test_the_test_part_is_opened_once_for_a_new_structure_against_equal_cost_then_overall() -> None:
    async def story() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        store = open_store("sqlite:///:memory:", Path())
        space = f"workflows:single,{GOOD}"
        first = await searched(Debater(0, 0), store, space)
        again = await searched(Debater(0, 0), store, space)
        other = await searched(Debater(0, 0), store, space, fresh=1)
        store.close()
        return first.document(), again.document(), other.document()

    first, again, other = run_virtual(story())
    assert first["best"]["workflow"] == GOOD
    assert first["best"]["score"] == 1.0
    assert [row["verdict"] for row in first["test"]["comparisons"]] == ["better", "better"]
    assert [row["against"] for row in first["test"]["comparisons"]] == ["equal-cost", "overall"]
    assert (first["test"]["opened"], again["test"]["opened"], other["test"]["opened"]) == (1, 1, 2)
    assert other["test"]["comparisons"][0]["p_value"] == pytest.approx(2 * first["test"]["comparisons"][0]["p_value"])
    assert again["spent"]["calls_paid"] == 0
    assert again["history"] == first["history"]
    assert "self-consistency?n=" in " ".join(row["workflow"] for row in first["baselines"])


def test_hopeless_structures_stop_early_and_say_so() -> None:
    report = run_virtual(searched(Skilled(0.02, 0.98), task=made_task(400)))
    rows = {row["workflow"]: row for row in report.document()["history"]}
    assert rows["single"]["stopped_at"] is not None
    assert rows["single"]["samples"] < rows["cot"]["samples"]
    assert "single" not in [row["workflow"] for row in report.document()["pareto"]]


def test_the_cheapest_that_is_good_enough() -> None:
    report = run_virtual(searched(Skilled(0.8, 0.8), settings=SearchSettings(objective="cheapest", margin=40.0)))
    assert report.document()["best"]["workflow"] == "single"


def test_lambda_trades_score_for_cost() -> None:
    cheap = run_virtual(searched(Skilled(0.6, 0.7), settings=SearchSettings(weight=1.0, cost_unit="calls")))
    free = run_virtual(searched(Skilled(0.6, 0.7), settings=SearchSettings()))
    assert cheap.document()["best"]["per_sample"]["calls"] == 1
    assert free.document()["history"][-1]["score"] == max(row["score"] for row in free.document()["history"])


async def stopped_after(store: Store, calls: int) -> SearchReport:
    model = Skilled(0.5, 0.6)
    async with scripted_session({"m": model}, settings=PRICES, store=store) as session:

        def watch(progress: Progress) -> None:
            if progress.tally.paid >= calls:
                session.interrupt()

        return await search(session, SPACE, task=made_task(), watch=watch)


@pytest.mark.parametrize("calls", [20, 150, 250])
def test_a_search_that_was_stopped_goes_on_and_ends_as_if_it_never_had_been(calls: int) -> None:
    async def story() -> tuple[SearchReport, SearchReport, SearchReport, int]:
        untouched = open_store("sqlite:///:memory:", Path())
        whole = await searched(Skilled(0.5, 0.6), untouched)
        untouched.close()
        store = open_store("sqlite:///:memory:", Path())
        part = await stopped_after(store, calls)
        kept = len(store.paid_by(part.run))
        resumed_model = Skilled(0.5, 0.6)
        resumed = await searched(resumed_model, store, resume=part.run)
        store.close()
        assert resumed_model.calls == whole.spent["calls_paid"] - kept, "nothing that was finished is paid twice"
        return whole, part, resumed, resumed_model.calls

    whole, part, resumed, made = run_virtual(story())
    assert part.ended_by == "interrupt"
    assert resumed.run == part.run
    first, second = whole.document(), resumed.document()
    for name in ("best", "history", "test", "baselines", "pareto"):
        assert second[name] == first[name], name
    assert second["spent"]["calls_paid"] == part.spent["calls_paid"] + made, "the whole run's cost, both parts of it"
    assert second["spent"]["usd"] > 0.999999 * first["spent"]["usd"], "calls that were cut off may have been billed"
    assert second["spent"]["seconds"] >= part.spent["seconds"]


def test_a_budget_keeps_enough_for_the_honest_end() -> None:
    report = run_virtual(searched(Skilled(0.5, 0.6), task=made_task(200), budget=Budget(calls=4200)))
    document = report.document()
    assert report.ended_by == "done"
    assert document["spent"]["calls_paid"] <= 4200
    assert document["test"]["comparisons"]


def test_a_budget_that_covers_nothing_ends_with_three() -> None:
    report = run_virtual(searched(Skilled(0.5, 0.6), budget=Budget(calls=10)))
    assert report.ended_by == "budget"
    assert report.document()["best"] is None
    assert report.spent["calls_paid"] <= 10


@pytest.mark.parametrize(("space", "method", "error"), [
    (SPACE, "bayes", UserError),
    (SPACE, "al", UnknownNameError),
    ("workflow:single", "all", UnknownNameError),
    ("workflows:", "all", UserError),
    ("workflows:singel", "all", UnknownNameError),
    ("code", "tree", NotYetError),
    ("archon", "all", UserError),
    ("archon-9567", "bayes", UnknownNameError),
])  # fmt: skip
def test_what_cannot_be_searched_is_refused_before_any_call(space: str, method: str, error: type[Exception]) -> None:
    model = Skilled(1, 1)
    with pytest.raises(error):
        run_virtual(searched(model, space=space, method=method))
    assert model.calls == 0


def test_an_estimate_holds_what_the_search_then_does() -> None:
    async def story() -> tuple[dict[str, Any], dict[str, Any], int]:
        model = Skilled(0.5, 0.6)
        async with scripted_session({"m": model}, settings=PRICES) as session:
            estimate = await estimate_search(session, SPACE, task=made_task())
            spent = model.calls
            report = await search(session, SPACE, task=made_task())
        return estimate.document(), report.document(), spent

    estimate, report, spent = run_virtual(story())
    assert spent == 0
    for unit, found in (("calls", report["spent"]["calls_logical"]), ("usd", report["spent"]["usd"])):
        assert estimate[unit]["low"] <= found <= estimate[unit]["high"], unit
    assert estimate["detectable"] > 0


def test_random_order_repeats_by_seed_and_proposes_everything_once() -> None:
    class Numbers:
        name, raw, valid = "numbers", 50, 50

        def structures(self) -> Any:
            return list(range(50))

        def document(self) -> dict[str, Any]:
            return {}

    first, second, other = (RandomOrder(Numbers(), seed, SearchSettings()) for seed in (1, 1, 2))
    asked = [first.ask(7), first.ask(50)]
    assert [*asked[0], *asked[1]] == [*second.ask(50)]
    assert sorted([*asked[0], *asked[1]]) == list(range(50))  # pyright: ignore[reportArgumentType]
    assert [*other.ask(50)] != [*asked[0], *asked[1]]


@pytest.mark.parametrize("wrong", [{"batch": 0}, {"weight": -1.0}, {"margin": -1.0}, {"max_evals": 0}])
def test_impossible_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        SearchSettings(**wrong)
