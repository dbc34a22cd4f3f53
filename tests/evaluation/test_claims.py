"""Modes of one workflow held against its strong model alone: who spent what, and what may be claimed."""

from __future__ import annotations

import random
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from treadle.cli.role_tables import claims, spending
from treadle.errors import Caution
from treadle.evaluation.claims import claims_of, with_claims
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.modes import held_against, mode_of
from treadle.evaluation.outcome import Outcome
from treadle.evaluation.report import Report, Row
from treadle.ledger.budget import Budget
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.ledger.spent import Spent
from treadle.models.base import Request, Usage
from treadle.store.base import Store
from treadle.store.open import open_store
from treadle.tasks.base import Sample, Score
from treadle.tasks.joined import join_tasks
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.task import Task
from treadle.testing.sessions import scripted_session
from treadle.workflows.base import Calls, Workflow

STRONG = "manager-worker?mode=strong"
FULL = "manager-worker?mode=full"
WEAK = "manager-worker?mode=weak"
ROLES = {"manager": "big", "worker": "small"}
EMPTY = "empty patch"


class PatchScorer(ExactScorer):
    """Exact; tells empty answers apart, and writes what was answered."""

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        if not answer:
            return Score(0.0, "", "nothing was changed", label=EMPTY)
        return await super().score(sample, answer, run)

    def write_predictions(self, folder: Path, workflow: str, answers: Mapping[str, str]) -> Path:
        target = folder / f"{workflow.partition('=')[2]}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(msgspec.json.encode(dict(answers)))
        return target


@dataclass(frozen=True)
class Lost(PatchScorer):
    """Cannot write."""

    def write_predictions(self, folder: Path, workflow: str, answers: Mapping[str, str]) -> Path:
        raise PermissionError("the disk is full")


async def _strong(problem: Problem, run: Run) -> str:
    return (await run.ask(f"solve it: {problem}", role="manager")).text


async def _full(problem: Problem, run: Run) -> str:
    plan = await run.ask(f"plan {problem}", role="manager")
    tries = await run.gather(run.ask(f"do {plan.text}", role="worker") for _ in range(2))
    return tries[0].text if str(problem) != "q1" else ""


async def _weak(problem: Problem, run: Run) -> str:
    return (await run.ask(f"solve it: {problem}", role="worker")).text


MODES = tuple(Workflow(name, each, Calls(1, 3)) for name, each in ((STRONG, _strong), (FULL, _full), (WEAK, _weak)))


def reply(request: Request) -> dict[str, Any]:
    """Long thought for a solution, short for a plan."""
    asked = request.messages[-1].content
    output = 100 if asked.startswith("plan") else 500 if request.model == "big" else 50
    return {"text": "yes", "usage": {"input": 100, "cached_input": 20, "output": output, "reasoning": 10}}


def task(count: int = 8, scorer: ExactScorer | None = None) -> Task:
    return Task("issues", tuple(Sample(f"q{n}", f"q{n}", "yes") for n in range(count)), scorer or PatchScorer())


async def measured(given: Task, store: Store | None = None, **options: Any) -> Report:
    workflows = options.pop("workflows", MODES)
    async with scripted_session(
        {"big": options.pop("model", reply), "small": reply}, store=store, settings=options.pop("settings", None)
    ) as session:
        return await evaluate(session, workflows, given, models=("big", "small"), roles=ROLES, **options)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.chdir(tmp_path)


async def test_roles_of_a_row_add_up_to_what_its_questions_cost() -> None:
    strong, full, weak = (await measured(task(), repeat=2)).document()["results"]
    assert list(strong["roles"]) == ["manager"]
    assert list(weak["roles"]) == ["worker"]
    manager, worker = full["roles"]["manager"], full["roles"]["worker"]
    assert (manager["models"], worker["models"]) == (["big"], ["small"])
    assert (manager["calls"], worker["calls"]) == (16, 32), "each repeat counts"
    assert (manager["input"], manager["cached_input"], manager["output"]) == (1600, 320, 1600)
    assert (worker["output"], worker["reasoning"]) == (1600, 320)
    assert manager["usd"] is None
    for name in ("calls", "tokens"):
        parts = sum(role["per_sample"][name] for role in full["roles"].values())
        assert parts == pytest.approx(full["per_sample"][name])


async def test_a_workflow_that_names_no_role_has_none() -> None:
    row = (await measured(task(), workflows=("single",))).document()["results"][0]
    assert "roles" not in row
    assert "labels" not in row


async def test_kinds_of_answers_are_counted_apart() -> None:
    rows = (await measured(task(), repeat=3)).document()["results"]
    assert [row.get("labels") for row in rows] == [None, {EMPTY: 3}, None]


async def test_a_replay_says_the_same_of_every_role(tmp_path: Path) -> None:
    store = open_store("sqlite:///:memory:", tmp_path)
    first, second = [(await measured(task(), store)).document() for _ in range(2)]
    assert [row["calls"]["paid"] for row in second["results"]] == [0, 0, 0]
    for one, two in zip(first["results"], second["results"], strict=True):
        assert one["roles"] == two["roles"]
        assert one.get("labels") == two.get("labels")
    assert first["claims"] == second["claims"]
    store.close()


async def test_what_a_provider_failed_is_nobodys_tokens() -> None:
    def broken(request: Request) -> Any:
        if request.messages[-1].content == "solve it: q3":
            raise RuntimeError("down")
        return reply(request)

    row = (await measured(task(40), model=broken, workflows=MODES[:1])).document()["results"][0]
    assert row["failed"]["infra"] == 1
    assert row["roles"]["manager"]["calls"] == 39
    assert row["roles"]["manager"]["per_sample"]["tokens"] == 600


async def test_the_rows_are_held_against_the_strong_model_alone() -> None:
    report = await measured(task())
    full, weak = report.document()["claims"]
    assert (full["workflow"], full["against"], full["n"]) == (FULL, STRONG, 8)
    assert full["difference"] == -12.5
    assert full["strong_tokens"]["models"] == ["big"]
    assert (full["strong_tokens"]["per_sample"], full["strong_tokens"]["against"]) == (200, 600)
    assert full["strong_tokens"]["share"] == pytest.approx(1 / 3)
    assert weak["strong_tokens"]["share"] == 0
    assert all(claim["verdict"] == "inconclusive" and claim["needed"] > 1000 for claim in (full, weak))
    wide = (await measured(task(), margin=60.0)).document()["claims"][1]
    assert (wide["margin"], wide["verdict"], wide["needed"]) == (60.0, "no difference", None)


async def test_nothing_is_claimed_without_the_strong_model_alone() -> None:
    for workflows in ((MODES[1], MODES[2]), (MODES[0],), (MODES[0], "single")):
        assert "claims" not in (await measured(task(), workflows=workflows)).document()


async def test_a_measurement_that_did_not_finish_claims_nothing() -> None:
    document = (await measured(task(), budget=Budget(calls=12), concurrency=1)).document()
    assert (document["ended_by"], document["claims"]) == ("budget", [])


async def test_the_stored_document_holds_the_claims_too(tmp_path: Path) -> None:
    store = open_store("sqlite:///:memory:", tmp_path)
    report = await measured(task(), store, margin=5.0)
    record = store.run(report.run)
    assert record is not None
    assert msgspec.json.decode(record.result or b"")["claims"] == report.document()["claims"]
    store.close()


def outcome(id: str, score: float | None, strong: int, repeat: int = 0, cluster: str = "") -> Outcome:
    players = {
        ("manager", "big"): Spent(1, Usage(strong, output=0)),
        ("worker", "small"): Spent(1, Usage(9_000, output=0)),
    }
    status = "ok" if score is not None else "infra"
    return Outcome(
        id, cluster or id, repeat, status, score, "", "", 2, strong + 9_000, None, 0.0, label="", players=players
    )


def row(name: str, outcomes: list[Outcome], repeats: int = 1) -> Row:
    clusters = {outcome.id: outcome.cluster for outcome in outcomes}
    return Row(name, ("big", "small"), list(clusters), list(clusters.values()), repeats, outcomes)


def made(count: int = 600) -> tuple[Row, Row, Row]:
    """The strong model alone, its equal at a fifth of its tokens, and one that is 30 points worse."""
    rng = random.Random(5)
    drawn = [(f"q{n}", float(rng.random() < 0.6), rng.randint(20_000, 40_000)) for n in range(count)]
    strong = row(STRONG, [outcome(id, score, tokens) for id, score, tokens in drawn])
    full = row(FULL, [outcome(id, score, int(tokens * rng.uniform(0.1, 0.3))) for id, score, tokens in drawn])
    worse = row(WEAK, [outcome(id, score * (rng.random() < 0.5), 0) for id, score, _ in drawn])
    return strong, full, worse


def test_an_equal_at_a_fifth_of_the_tokens_is_claimed_to_be_one() -> None:
    strong, full, weak = made()
    equal, worse = claims_of([full, weak], strong, 2.0)
    assert equal.verdict == "no difference"
    assert worse.verdict == "worse"
    assert worse.comparison.p_value < 1e-6
    share = equal.strong_tokens.share
    assert share.value == pytest.approx(0.2, abs=0.01)
    assert share.ci95 is not None
    assert share.ci95[0] < 0.2 < share.ci95[1]
    assert worse.strong_tokens.share.value == 0


def test_more_rows_beside_it_make_a_claim_harder() -> None:
    strong, full, weak = made(200)
    alone, beside = claims_of([full], strong, 2.0)[0], claims_of([full, weak, weak], strong, 2.0)[0]
    assert beside.comparison.ci95[0] < alone.comparison.ci95[0]


def test_the_strong_model_counts_in_whatever_role_it_is_asked() -> None:
    strong, full, _ = made(20)
    both = [replace(each, players={("worker", "big"): each.players["manager", "big"]}) for each in full.outcomes]
    (first,), (second,) = claims_of([full], strong, 2.0), claims_of([row(FULL, both)], strong, 2.0)
    assert first.strong_tokens == second.strong_tokens


def test_the_strong_model_counts_under_whatever_name_it_is_asked() -> None:
    strong, full, _ = made(20)
    renamed = [replace(each, players={("manager", "other"): each.players["manager", "big"]}) for each in full.outcomes]
    (first,) = claims_of([full], strong, 2.0)
    (second,) = claims_of([row(FULL, renamed)], strong, 2.0, lambda name: {"other": "big"}.get(name, name))
    assert first.strong_tokens.share == second.strong_tokens.share


def test_repeats_are_averaged_and_questions_without_an_answer_leave_both_sides() -> None:
    strong = row(STRONG, [outcome(id, 1.0, 1000, repeat) for id in ("a", "b", "c") for repeat in range(2)], 2)
    full = row(
        FULL,
        [
            *(outcome("a", 1.0, tokens, repeat) for repeat, tokens in enumerate((100, 300))),
            *(outcome("b", 0.0, 500, repeat) for repeat in range(2)),
            *(outcome("c", None, 900, repeat) for repeat in range(2)),
        ],
        2,
    )
    (claim,) = claims_of([full], strong, 2.0)
    assert claim.comparison.n == claim.strong_tokens.share.n == 2
    assert claim.strong_tokens.per_sample == 350
    assert claim.strong_tokens.share.value == 0.35


def test_no_verdict_where_the_provider_failed_too_often() -> None:
    strong, full, _ = made(60)
    failed = [replace(each, status="infra", score=None) for each in full.outcomes[:20]]
    full.outcomes[:20] = failed
    found = with_claims(Report("r", "t", "infra", (strong, full))).claims
    assert found is not None
    (claim,) = found
    assert (claim.verdict, claim.needed, claim.comparison.n) == (None, None, 40)


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("manager-worker", "full"),
        ("manager-worker?rounds=1&mode=weak-weak", "weak-weak"),
        ("manager-worker?mode", None),
        ("single", None),
        ("mine:manager-worker?mode=strong", None),
    ],
)
def test_modes_are_read_from_names(name: str, mode: str | None) -> None:
    assert mode_of(name) == mode


def test_the_first_row_of_the_strong_model_alone_is_the_one() -> None:
    fewer = f"{STRONG}&steps=5"
    assert held_against(["cot", FULL, fewer, STRONG]) == (fewer, (FULL, STRONG))
    assert held_against([FULL, WEAK]) == (None, ())


def written(file: str) -> Any:
    return msgspec.json.decode(Path(file).read_bytes())


async def test_answers_are_written_for_each_workflow_and_the_report_says_where(tmp_path: Path) -> None:
    report = await measured(task(3), repeat=2)
    files = report.document()["predictions"]
    assert list(files) == [STRONG, FULL, WEAK]
    answers = written(files[FULL])
    assert answers == {"q0": "yes", "q1": "", "q2": "yes"}
    assert Path(files[FULL]).is_relative_to(tmp_path / ".treadle" / "runs" / report.run)


async def test_of_joined_tasks_the_one_that_writes_gets_its_own_ids() -> None:
    plain = Task("plain", tuple(Sample(f"p{n}", f"p{n}", "yes") for n in range(3)), ExactScorer())
    files = (await measured(join_tasks([plain, task(3)]), workflows=MODES[:1])).predictions
    assert written(files[STRONG]) == {"q0": "yes", "q1": "yes", "q2": "yes"}
    assert not (await measured(join_tasks([task(3), task(3)]), workflows=MODES[:1])).predictions


async def test_a_file_that_cannot_be_written_is_said_and_ends_nothing() -> None:
    with pytest.warns(Caution, match="the disk is full"):
        report = await measured(task(3, Lost()), workflows=MODES[:1])
    assert (report.ended_by, report.rows[0].score) == ("done", 1.0)
    assert "predictions" not in report.document()


async def test_a_task_whose_scorer_writes_nothing_leaves_nothing_behind(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = await measured(task(3, ExactScorer()), workflows=("single",))
    assert "predictions" not in report.document()
    assert not (tmp_path / ".treadle" / "runs" / report.run).exists()
    assert spending(report.document()) is None
    assert claims(report.document()) is None
