"""Searching Archon structures end to end, on the simulated surface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from treadle.errors import UserError
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.measuring import Progress
from treadle.ledger.budget import Budget
from treadle.ledger.session import Session
from treadle.search.estimate import estimate_search
from treadle.search.resume import resume_search
from treadle.search.search import search
from treadle.search.settings import SearchSettings
from treadle.testing.sessions import scripted_session
from treadle.workflows.registry import open_workflow

SMALL = "search=8&selection=6&test=12"
TASK = f"simulated:archon?seed=2&{SMALL}"
FEW = SearchSettings(max_evals=6, batch=3, test_repeat=1, block=4)


@pytest.fixture(autouse=True)
def small_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A space of a few hundred structures, whose true scores are worked out at once."""
    axes = "models = [1, 2, 3]\nsamples = [1, 2, 3]\nfusers = [2, 4]\nfusion_layers = [1, 2, 3]\n"
    (tmp_path / "small.toml").write_text(axes)
    monkeypatch.chdir(tmp_path)


async def searched(session: Session, **changed: Any) -> dict[str, Any]:
    settings = changed.pop("settings", FEW)
    task = changed.pop("task", TASK)
    space = changed.pop("space", "archon:small.toml")
    report = await search(session, space, task=task, settings=settings, **changed)
    return report.document()


def course(document: dict[str, Any]) -> list[Any]:
    """What a search did, without ids and seconds."""
    rows = [(row["workflow"], row["samples"], row["score"], row["stopped_at"]) for row in document["history"]]
    return [rows, document["ranking"], document["best"] and document["best"]["workflow"], document["test"]]


@pytest.mark.parametrize("method", ["random", "greedy", "bayes", "tpe"])
async def test_every_method_goes_from_the_ranking_to_an_honest_end(method: str) -> None:
    async with scripted_session({}) as session:
        document = await searched(session, method=method, seed=3)
    assert document["ended_by"] == "done"
    assert document["method"] == method
    assert document["evaluated"] == len({row["workflow"] for row in document["history"]}) == 6
    scores = [row["score"] for row in document["ranking"]]
    assert len(scores) == 10
    assert scores == sorted(scores, reverse=True)
    best = document["best"]["workflow"]
    assert document["regret"] >= 0
    assert best in {row["workflow"] for row in document["finalists"]}
    assert document["spent"]["calls_paid"] < document["spent"]["calls_logical"]
    for structure in document["history"]:
        usual = open_workflow(structure["workflow"], folder=Path()).calls.usual
        assert structure["per_sample"]["calls"] == usual


async def test_the_ranking_is_paid_for_and_its_calls_are_shared_with_generators() -> None:
    async with scripted_session({}) as session:
        document = await searched(session, method="random")
        report = await evaluate(session, ["archon:g(1)"], TASK, limit=None)
    assert document["spent"]["calls_logical"] >= 10 * 8
    assert report.rows[0].tally.cached >= 8


async def test_a_search_repeats_by_its_seed_and_differs_by_another() -> None:
    async def at(seed: int) -> list[Any]:
        async with scripted_session({}) as session:
            return course(await searched(session, method="bayes", seed=seed))

    assert await at(5) == await at(5)
    assert await at(5) != await at(6)


@pytest.mark.parametrize("stop_at", [20, 60])
async def test_an_interrupted_search_goes_on_to_the_same_end_and_pays_nothing_twice(stop_at: int) -> None:
    async with scripted_session({}) as session:
        whole = await searched(session, method="bayes")

    async with scripted_session({}) as session:

        def stop(progress: Progress) -> None:
            if progress.tally.logical >= stop_at:
                session.interrupt()

        first = await searched(session, method="bayes", watch=stop)
        assert first["ended_by"] == "interrupt"
        session.interrupted.clear()
        second = await searched(session, method="bayes", resume=first["run"])
    assert course(second) == course(whole)
    assert second["spent"]["calls_paid"] == whole["spent"]["calls_paid"]


async def test_a_warm_search_pays_only_for_what_no_former_search_asked() -> None:
    async with scripted_session({}) as session:
        first = await searched(session, method="random", seed=1)
        again = await searched(session, method="random", seed=1)
        warm = await searched(session, method="greedy", seed=1)
    async with scripted_session({}) as session:
        cold = await searched(session, method="greedy", seed=1)
    assert first["spent"]["calls_paid"] > 0
    assert again["spent"]["calls_paid"] == 0
    assert course(warm)[0] == course(cold)[0]
    assert warm["spent"]["calls_paid"] < 0.8 * cold["spent"]["calls_paid"]


async def test_a_cap_below_twenty_calls_is_not_worth_a_search_unless_told() -> None:
    caps = Budget(calls=12)
    async with scripted_session({}) as session:
        with pytest.raises(UserError, match="12 calls a question leave .* of 378 structures"):
            await searched(session, caps=caps)
        told = SearchSettings(max_evals=3, test_repeat=1, anyway=True)
        document = await searched(session, caps=caps, settings=told, method="random")
    assert document["ended_by"] == "done"
    assert all(row["per_sample"]["calls"] <= 12 for row in document["history"])


@pytest.mark.parametrize("calls", [700, 1500, 4000])
async def test_a_budget_is_kept_and_the_end_is_reached_with_fewer_finalists_where_it_covers_one(calls: int) -> None:
    async with scripted_session({}) as session:
        document = await searched(session, method="random", budget=Budget(calls=calls))
    assert document["spent"]["calls_paid"] <= calls
    assert document["ended_by"] in ("budget", "done")
    if calls > 1000:
        assert document["best"] is not None
        assert document["best"]["score"] is not None


async def test_the_cheapest_objective_and_lambda_reach_the_end() -> None:
    async with scripted_session({}) as session:
        for changed in ({"objective": "cheapest"}, {"weight": 0.001, "cost_unit": "calls"}):
            settings = SearchSettings(max_evals=5, test_repeat=1, **changed)  # pyright: ignore[reportArgumentType]
            document = await searched(session, settings=settings, method="bayes")
            assert document["best"] is not None


async def test_on_the_null_surface_nothing_is_worth_any_regret() -> None:
    async with scripted_session({}) as session:
        document = await searched(session, task=f"simulated:archon-null?{SMALL}", method="random")
    assert document["regret"] == pytest.approx(0, abs=1e-6)


async def test_what_a_run_found_is_measured_elsewhere_by_its_id() -> None:
    async with scripted_session({}) as session:
        found = await searched(
            session, method="random", models=("simulated:archon/4?seed=2", "simulated:archon/1?seed=2")
        )
        run = f"run:{found['run']}"
        other = await evaluate(session, [run, "single"], f"simulated:archon?seed=3&{SMALL}", limit=4)
        assert other.rows[0].workflow == found["best"]["workflow"]
        assert other.rows[0].models == ("simulated:archon/4?seed=2", "simulated:archon/1?seed=2")
        moved = await evaluate(
            session, [run], TASK, models=("simulated:archon/2?seed=2", "simulated:archon/3?seed=2"), limit=2
        )
        assert moved.rows[0].models == ("simulated:archon/2?seed=2", "simulated:archon/3?seed=2")
        again = await searched(
            session, space=f"workflows:{run},single", method="all", models=("simulated:archon/1?seed=2",) * 2
        )
        assert found["best"]["workflow"] in {row["workflow"] for row in again["history"]}
        with pytest.raises(UserError, match="found no structure"):
            await evaluate(session, [f"run:{other.run}"], TASK)


async def test_several_tasks_weigh_the_same_and_each_has_its_row() -> None:
    tasks = [TASK, f"simulated:archon?seed=4&{SMALL}"]
    async with scripted_session({}) as session:
        document = await searched(session, task=tasks, method="random", models=("simulated:archon/1?seed=2",))
    best = document["best"]
    assert [row["n"] for row in best["tasks"]] == [12, 12]
    assert best["score"] == pytest.approx(sum(row["score"] for row in best["tasks"]) / 2)


async def test_an_estimate_holds_what_the_search_then_does() -> None:
    async with scripted_session({}) as session:
        estimate = (
            await estimate_search(session, "archon:small.toml", task=TASK, method="random", settings=FEW)
        ).document()
        document = await searched(session, method="random")
    assert estimate["calls"]["low"] <= document["spent"]["calls_logical"] <= estimate["calls"]["high"]
    assert estimate["structures"] == {"low": 6, "high": 6}


async def test_one_model_needs_no_ranking() -> None:
    async with scripted_session({}) as session:
        document = await searched(session, space="archon", method="random", models=("simulated:archon/1?seed=2",))
    assert document["ranking"] is None
    assert document["space"]["valid"] == 4_680
    assert "(" not in "".join(row["workflow"] for row in document["history"])


async def test_files_that_changed_are_noticed_when_a_search_goes_on(tmp_path: Path) -> None:
    async with scripted_session({}) as session:
        found = await searched(session, method="random")
        (tmp_path / "small.toml").write_text(
            "models = [1, 2, 3]\nsamples = [2]\nfusers = [2, 4]\nfusion_layers = [1, 2]\n"
        )
        with pytest.raises(UserError, match="what the space's files hold"):
            await searched(session, method="random", resume=found["run"])


async def test_what_was_found_keeps_its_prompts_models_and_roles(tmp_path: Path) -> None:
    own = '{"layers": [[{"type": "generator", "samples": 3, "prompt": "Be brief."}], [{"type": "fuser"}]]}'
    (tmp_path / "own.json").write_text(own)
    first, last = "simulated:archon/1?seed=2", "simulated:archon/9?seed=2"
    space = "workflows:archon:own.json,archon:own.json?temperature=1"
    async with scripted_session({}) as session:
        found = await searched(session, space=space, method="all", models=(last, first))
        named = await searched(session, space=space, method="all", models=(last, first), roles={"fuser": first})
        run, other = f"run:{found['run']}", f"run:{named['run']}"
        report = await evaluate(session, [run], TASK, limit=3)
        assert report.rows[0].workflow == found["best"]["workflow"]
        assert report.rows[0].models == (last, first)
        assert report.rows[0].tally.unpriced
        with pytest.raises(UserError, match="different models or roles"):
            await evaluate(session, [run, other], TASK, limit=3)
        again = await searched(session, space=f"workflows:{run},single", method="all", fresh=0)
        assert again["history"][0]["score"] == next(
            row["score"] for row in found["history"] if row["workflow"] == found["best"]["workflow"]
        )
        assert named["regret"] is None


async def test_a_surface_is_answered_by_its_own_models_and_others_have_no_regret(tmp_path: Path) -> None:
    (tmp_path / "treadle.toml").write_text('[models.practice]\nmodel = "simulated:llm"\n')
    async with Session(tmp_path / "treadle.toml") as session:
        own = await searched(session, method="random")
        assert len(own["ranking"]) == 10
        assert own["regret"] is not None
        other = await searched(session, method="random", models=("simulated:llm?seed=3",))
        assert other["regret"] is None


@pytest.mark.parametrize("budget", [Budget(calls=900), Budget(tokens=250_000)])
async def test_a_resumed_search_reports_all_that_both_parts_paid(budget: Budget) -> None:
    async with scripted_session({}) as session:
        first = await searched(session, method="random", budget=budget)
        assert first["ended_by"] == "budget"
        more = Budget(calls=100_000, tokens=100_000_000)
        second = await searched(session, method="random", budget=more, resume=first["run"])
        kept = await session.journal.read(lambda store: store.paid_by(first["run"]))
    assert second["ended_by"] == "done"
    assert second["spent"]["calls_paid"] == len(kept)


async def test_going_on_with_too_little_keeps_what_was_found() -> None:
    async with scripted_session({}) as session:
        found = await searched(session, method="random", budget=Budget(calls=3000))
        assert found["best"] is not None
        less = await searched(session, method="random", budget=Budget(calls=10), resume=found["run"])
        assert less["ended_by"] == "budget"
        assert less["spent"]["calls_paid"] >= found["spent"]["calls_paid"]
        report = await evaluate(session, [f"run:{found['run']}"], TASK, limit=1)
    assert report.rows[0].workflow == found["best"]["workflow"]


async def test_going_on_with_what_is_done_costs_nothing_and_changes_nothing() -> None:
    async with scripted_session({}) as session:
        first = await searched(session, method="random", budget=Budget(calls=900))
        done = (await resume_search(session, first["run"], budget=Budget(calls=100_000))).document()
        again = (await resume_search(session, first["run"])).document()
    assert done["ended_by"] == again["ended_by"] == "done"
    assert course(again) == course(done)
    assert again["spent"]["calls_paid"] == done["spent"]["calls_paid"]
