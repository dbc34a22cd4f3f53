"""The end of a search: what the test part is opened for, how often, and what it costs to be honest."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from treadle.config import Settings
from treadle.config_models import ModelSettings, PriceSettings
from treadle.ledger.budget import Budget
from treadle.ledger.session import Session
from treadle.models.base import Request
from treadle.models.scripted import ScriptedModel
from treadle.search.report import SearchReport
from treadle.search.search import search
from treadle.store.base import Store
from treadle.store.open import open_store
from treadle.tasks.base import Sample
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.task import Task
from treadle.testing.sessions import scripted_session
from treadle.testing.virtual_time import run_virtual

TASK = Task("made", tuple(Sample(f"q{i}", f"say w{i}", f"w{i}") for i in range(120)), ExactScorer())
PRICES = {"m": ModelSettings("m", price=PriceSettings(1.0, 1.0))}
DEBATE = "debate?agents=2&rounds=2"


def word(request: Request) -> str:
    return "\n".join(message.content for message in request.messages).split("say ")[1].split()[0]


def only_in_debate(request: Request) -> str:
    """Right only where it is shown what others answered."""
    shown = any("Answer: no" in message.content for message in request.messages)
    return f"Answer: {word(request) if shown else 'no'}"


def by_vote(request: Request) -> str:
    luck = Random(f"{word(request)}/{request.draw}").random()
    thinks = "step by step" in request.messages[-1].content
    return f"Answer: {word(request) if luck < (0.7 if thinks else 0.05) else f'no{request.draw}'}"


async def searched(model: Any, space: str, *, store: Store | None = None, **options: Any) -> SearchReport:
    settings = options.pop("settings_by_alias", PRICES)
    async with scripted_session({"m": model}, settings=settings, store=store) as session:
        return await search(session, f"workflows:{space}", task=options.pop("task", TASK), **options)


def test_a_winner_that_is_the_baseline_of_its_own_cost_leaves_the_test_part_closed() -> None:
    report = run_virtual(searched(by_vote, "single,self-consistency?n=15"))
    document = report.document()
    assert document["best"]["workflow"] == "self-consistency?n=15"
    assert document["test"]["opened"] == 0
    assert [row["verdict"] for row in document["test"]["comparisons"]] == ["no difference"]


def test_every_new_look_at_the_same_rows_counts_whatever_made_it_new() -> None:
    async def story() -> list[int]:
        store = open_store("sqlite:///:memory:", Path())
        opened: list[int] = []
        hotter = {"m": ModelSettings("m", price=PriceSettings(1.0, 1.0), settings={"temperature": 1})}
        for options in (
            {},
            {},
            {"fresh": 1},
            {"settings_by_alias": hotter},
            {"limit": 110},
            {"task": Task("renamed", TASK.samples, ExactScorer(), seed=5)},
        ):
            report = await searched(only_in_debate, f"single,{DEBATE}", store=store, **options)
            opened.append(report.finale.opened)
        store.close()
        return opened

    assert run_virtual(story()) == [1, 1, 2, 3, 4, 5]


def test_another_model_under_the_same_alias_is_another_look(tmp_path: Path) -> None:
    async def story() -> list[int]:
        opened: list[int] = []
        for name in ("one", "two"):
            model = ScriptedModel(only_in_debate, name)
            async with Session(Settings(folder=tmp_path), models={"m": model}) as session:
                report = await search(session, f"workflows:single,{DEBATE}", task=TASK)
                opened.append(report.finale.opened)
        return opened

    assert run_virtual(story()) == [1, 2]


def test_a_role_without_a_price_makes_tokens_the_cost_and_no_structure_free() -> None:
    async def story() -> SearchReport:
        models = {"m": only_in_debate, "j": only_in_debate}
        async with scripted_session(models, settings=PRICES) as session:
            return await search(session, f"workflows:single,{DEBATE}", task=TASK, models=("m",), roles={"judge": "j"})

    report = run_virtual(story())
    assert report.finale.unit == "tokens"
    assert [row.against for row in report.comparisons] == ["equal-cost", "overall"]


@pytest.mark.parametrize("calls", [700, 1200, 2000, 2600])
def test_a_test_part_is_opened_only_when_the_budget_covers_all_of_it(calls: int) -> None:
    report = run_virtual(searched(only_in_debate, f"single,{DEBATE}", budget=Budget(calls=calls)))
    document = report.document()
    assert document["spent"]["calls_paid"] <= calls
    if document["test"]["opened"]:
        assert [row["against"] for row in document["test"]["comparisons"]] == ["equal-cost", "overall"]
        assert report.ended_by == "done"
    else:
        assert report.ended_by == "budget"
        assert "budget" in report.message


def test_a_provider_that_dies_in_selection_ends_with_a_document_and_its_reason() -> None:
    selection = {sample.id.replace("q", "w") for sample in TASK.split.selection}

    def dies(request: Request) -> str:
        if word(request) in selection:
            raise RuntimeError("the cellar is flooded")
        return only_in_debate(request)

    report = run_virtual(searched(dies, f"single,{DEBATE}"))
    assert report.ended_by == "infra"
    assert report.document()["best"] is None
    assert "flooded" in report.message


def test_a_provider_that_dies_in_the_test_part_leaves_no_verdict() -> None:
    test = [sample.id.replace("q", "w") for sample in TASK.split.test]

    def dies(request: Request) -> str:
        if word(request) in test[:10]:
            raise RuntimeError("the cellar is flooded")
        return only_in_debate(request)

    report = run_virtual(searched(dies, f"single,{DEBATE}"))
    assert report.ended_by == "infra"
    assert [row["verdict"] for row in report.document()["test"]["comparisons"]] == [None, None]


def test_a_resumed_search_must_be_the_one_that_was_begun() -> None:
    async def story() -> str:
        store = open_store("sqlite:///:memory:", Path())
        first = await searched(by_vote, "single,cot", store=store)
        with pytest.raises(Exception, match=r"other settings \(space, seed\)"):
            await searched(by_vote, "single", store=store, seed=1, resume=first.run)
        with pytest.raises(Exception, match="limit|data"):
            await searched(by_vote, "single,cot", store=store, resume=first.run, task=TASK.limit(50))
        kept = store.run(first.run)
        store.close()
        assert kept is not None
        return str(kept.ended_by)

    assert run_virtual(story()) == "done", "a mistake does not touch what is there"


def test_a_budget_that_cannot_end_honestly_begins_nothing_and_the_one_it_names_does() -> None:
    async def story() -> tuple[SearchReport, SearchReport, SearchReport]:
        store = open_store("sqlite:///:memory:", Path())
        small = await searched(by_vote, f"single,{DEBATE}", store=store, budget=Budget(calls=300))
        enough = int(small.message.split("--budget-calls ")[1].split()[0])
        whole = await searched(by_vote, f"single,{DEBATE}", store=store, budget=Budget(calls=enough))
        again = await searched(by_vote, f"single,{DEBATE}", store=store, resume=whole.run, budget=Budget(calls=300))
        kept = store.run(whole.run)
        store.close()
        assert kept is not None
        assert kept.ended_by == "done", "what was finished stays finished"
        return small, whole, again

    small, whole, again = run_virtual(story())
    assert (small.ended_by, small.spent["calls_paid"], small.document()["best"]) == ("budget", 0, None)
    assert whole.ended_by == "done"
    assert again.document()["best"] is None, "a verdict needs something that was searched"
    assert again.spent["calls_paid"] == whole.spent["calls_paid"]
