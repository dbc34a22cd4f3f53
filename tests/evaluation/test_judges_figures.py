"""Judged questions measured: turn by turn, win rates, and what is known of the judge."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.cli.main import main
from treadle.errors import UserError
from treadle.evaluation.compare import compare
from treadle.evaluation.estimate import estimate, labels_estimate
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.judging import LabelCheck, judge_document, kappa
from treadle.evaluation.preparing import prepare_workflows
from treadle.evaluation.report import Report
from treadle.ledger.budget import Budget
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.store.base import Store
from treadle.store.open import open_store
from treadle.store.text import decode
from treadle.tasks.base import Duel, Preferred, Sample
from treadle.tasks.human_labels import HumanLabel
from treadle.tasks.joined import join_tasks
from treadle.tasks.reference_answers import ReferenceAnswers
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.scorers.pairwise import PairwiseScorer
from treadle.tasks.task import Task
from treadle.testing.sessions import scripted_session

QUESTIONS = 8
ROLES = {"judge": "judge"}


def talks(count: int = QUESTIONS, labels: tuple[HumanLabel, ...] = ()) -> Task:
    """Questions of two turns; the reference answers are ``old``."""
    samples = [
        Sample(f"q{n}", f"say w{n}", ReferenceAnswers(("old", "old too")), further=("and again",)) for n in range(count)
    ]
    return Task("talks", tuple(samples), PairwiseScorer(), labels=labels)


def answerer(request: Request) -> str:
    """Says how often it was asked in this chat, and what it said before."""
    said = [message.content for message in request.messages if message.role == "assistant"]
    return " ".join([*said, f"mine{len(said) + 1}"])


def halves(request: Request) -> tuple[str, str]:
    """The last answers of A and of B that a judge is shown."""
    material = request.messages[-1].content
    middle = max(material.find("<answer_B>"), material.find("<conversation_B>"))
    first, second = (
        half.rpartition("<assistant>")[2] if "<assistant>" in half else half.partition("_A>")[2] or half
        for half in (material[:middle], material[middle:])
    )
    return first, second


def fair(request: Request) -> str:
    """Prefers answers that hold the word mine."""
    first, second = ("mine" in half for half in halves(request))
    return "[[C]]" if first == second else f"[[{'A' if first else 'B'}]]"


def always(words: str) -> Any:
    def reply(_: Request) -> str:
        return words

    return reply


async def measured(judge: Any = fair, task: Task | None = None, store: Store | None = None, **options: Any) -> Report:
    async with scripted_session({"m": options.pop("model", answerer), "judge": judge}, store=store) as session:
        workflows = options.pop("workflows", ("single",))
        return await evaluate(session, workflows, task or talks(), models=("m",), roles=ROLES, **options)


def row_of(report: Report) -> dict[str, Any]:
    return report.document()["results"][0]


async def test_every_turn_is_answered_with_the_answers_before_it_and_judged_in_both_orders() -> None:
    row = row_of(await measured())
    assert (row["score"], row["scored"]) == (1.0, QUESTIONS)
    assert row["per_sample"]["calls"] == 2
    assert row["calls"]["logical"] == QUESTIONS * (2 + 4)
    assert row["samples"][0]["answer"] == "[turn 1]\nmine1\n\n[turn 2]\nmine1 mine2"
    assert row["judge"]["pairs"] == 2 * QUESTIONS
    assert row["judge"]["position"]["disagree"]["share"] == 0
    assert row["judge"]["agreement"] is None


async def test_the_trace_tells_the_turns_apart(tmp_path: Path) -> None:
    store = open_store("sqlite:///:memory:", tmp_path)
    report = await measured(store=store, task=talks(1))
    (record,) = store.samples(report.run)
    first, second, scorer = decode(record.trace)[:3]
    assert "call" in first
    assert (second["operator"], len(second["children"])) == ("turn 2", 1)
    assert scorer["operator"] == "scorer"
    store.close()


async def test_win_rates_count_a_won_turn_and_a_tie_as_half() -> None:
    def later_only(request: Request) -> str:
        return fair(request) if "last turn" in request.messages[0].content else "[[C]]"

    row = row_of(await measured(later_only))
    assert row["score"] == 0.75
    assert row["ci95"][0] <= 0.75 <= row["ci95"][1]


async def test_a_replay_pays_nothing_and_says_the_same(tmp_path: Path) -> None:
    store = open_store("sqlite:///:memory:", tmp_path)
    labels = (HumanLabel("q0", 1, ("mine",), ("yours",), "a"), HumanLabel("q1", 2, ("x",), ("mine",), "a"))

    def judge(request: Request) -> str:
        return "[[A]]" if "w3" in request.messages[-1].content else fair(request)

    first, second = [row_of(await measured(judge, talks(labels=labels), store, repeat=2)) for _ in range(2)]
    assert first["calls"]["paid"] == first["calls"]["logical"] > 0
    assert second["calls"]["paid"] == 0
    assert first["judge"]["agreement"]["calls"]["paid"] == 4
    assert second["judge"]["agreement"]["calls"] == {"logical": 4, "paid": 0, "cached": 4, "retried": 0}
    for row in (first, second):
        del row["judge"]["agreement"]["calls"], row["judge"]["agreement"]["usd"]
    assert first["judge"] == second["judge"]
    assert first["judge"]["position"]["disagree"]["count"] == 4, "both turns of q3 in both repeats"
    assert [sample["score"] for sample in first["samples"]] == [sample["score"] for sample in second["samples"]]
    store.close()


async def test_a_turn_that_fails_fails_the_question_and_later_turns_are_not_asked() -> None:
    def cut(request: Request) -> Any:
        turn = sum(message.role == "user" for message in request.messages)
        if "w0" in request.messages[0].content:
            return {"text": "mine", "finish_reason": "length" if turn == 2 else "stop"}
        return "" if "w1" in request.messages[0].content else answerer(request)

    row = row_of(await measured(model=cut))
    assert [sample["status"] for sample in row["samples"][:3]] == ["truncated", "format", "ok"]
    assert row["samples"][1]["calls"] == 1
    assert row["score"] == (QUESTIONS - 2) / QUESTIONS
    assert row["judge"]["pairs"] == 2 * (QUESTIONS - 2)


async def test_the_cap_of_a_question_holds_for_all_of_its_turns() -> None:
    row = row_of(await measured(caps=Budget(calls=1)))
    assert row["failed"]["budget"] == QUESTIONS
    assert "judge" not in row


async def test_a_budget_ends_it_between_turns_and_keeps_what_was_paid() -> None:
    report = await measured(budget=Budget(calls=QUESTIONS + 3), concurrency=1)
    assert report.ended_by == "budget"
    row = row_of(report)
    assert 0 < row["scored"] < QUESTIONS
    assert row["calls"]["paid"] <= QUESTIONS + 3
    assert row["judge"]["pairs"] == 2 * row["scored"]


async def test_draws_repeats_and_own_workflows_work_in_every_turn() -> None:
    async def own(problem: Problem, run: Run) -> str:
        drafts = await run.gather(run.ask(problem) for _ in range(2))
        return f"{problem.id} {run.rng.random() < 2} {drafts[0].text}"

    row = row_of(await measured(workflows=(own, "self-consistency?n=3"), task=talks(2), repeat=2))
    assert row["per_sample"]["calls"] == 4
    assert row["samples"][0]["answer"] == "[turn 1]\nq0 True mine1\n\n[turn 2]\nq0 True q0 True mine1 mine2"


async def test_a_task_that_is_not_judged_may_have_turns_too() -> None:
    task = Task("plain", (Sample("q", "say", "x", further=("again",)),), ExactScorer())
    row = row_of(await measured(task=task))
    assert row["per_sample"]["calls"] == 2
    assert "judge" not in row


async def test_rows_of_a_jsonl_task_with_a_pairwise_judge_have_the_same_figures() -> None:
    samples = tuple(Sample(f"q{n}", f"say w{n}", "a much longer old answer") for n in range(6))
    row = row_of(await measured(task=Task("pairs", samples, PairwiseScorer())))
    assert row["judge"]["length"] == {"count": 0, "n": 6, "share": 0.0, "ci95": row["judge"]["length"]["ci95"]}


async def test_a_judge_with_a_favourite_place_is_found_out() -> None:
    row = row_of(await measured(always("[[B]]")))
    position = row["judge"]["position"]
    assert (position["disagree"]["share"], position["first"]["share"]) == (1.0, 0.0)
    assert (row["score"], row["judge"]["length"]["n"]) == (0.5, 0)
    assert row["judge"]["length"]["share"] is None


def pair(first: Preferred, second: Preferred, a: int = 1, b: int = 1) -> Duel:
    return Duel(first, second, (a, b))


@pytest.mark.parametrize(
    ("duel", "disagree", "first"),
    [
        (pair("a", "a"), 0, 0),
        (pair("tie", "tie"), 0, 0),
        (pair("a", "b"), 1, 1),
        (pair("b", "a"), 1, 0),
        (pair("a", "tie"), 1, 1),
        (pair("tie", "b"), 1, 1),
        (pair("b", "tie"), 1, 0),
        (pair("tie", "a"), 1, 0),
    ],
)
def test_orders_that_disagree_lean_to_a_place(duel: Duel, disagree: int, first: int) -> None:
    position = judge_document([("q", duel)], None)["position"]
    assert (position["disagree"]["count"], position["first"]["count"]) == (disagree, first)
    assert position["first"]["n"] == disagree


def test_length_counts_decided_pairs_of_unequal_length() -> None:
    duels = [pair("a", "a", 9, 2), pair("b", "b", 9, 2), pair("b", "b", 1, 5), pair("a", "b", 9, 2), pair("a", "a")]
    found = judge_document([(f"q{n}", duel) for n, duel in enumerate(duels)], None)
    assert (found["length"]["count"], found["length"]["n"]) == (2, 3)
    assert found["pairs"] == 5


def test_intervals_are_clustered_by_question() -> None:
    duels = [pair("a", "a", 9, 2)] * 20 + [pair("b", "b", 9, 2)] * 20
    apart = judge_document([(f"q{n}", duel) for n, duel in enumerate(duels)], None)["length"]["ci95"]
    together = judge_document([(f"q{n // 5}", duel) for n, duel in enumerate(duels)], None)["length"]["ci95"]
    assert together[1] - together[0] > apart[1] - apart[0] + 0.1


def test_kappa_is_that_of_the_textbook() -> None:
    counts: dict[tuple[Preferred, Preferred], int] = {("a", "a"): 20, ("a", "b"): 5, ("b", "a"): 10, ("b", "b"): 15}
    pairs = [pair for pair, count in counts.items() for _ in range(count)]
    assert kappa(pairs) == pytest.approx(0.4)
    assert kappa([]) is None
    assert kappa(pairs[:20]) is None, "always the same says nothing"


WINNERS = st.sampled_from(["a", "b", "tie"])


@given(st.lists(st.tuples(WINNERS, WINNERS), min_size=1, max_size=30))
def test_kappa_is_symmetric_and_1_only_for_full_agreement(pairs: Any) -> None:
    found = kappa(pairs)
    assert found == kappa([(other, one) for one, other in pairs])
    if found is not None:
        assert found <= 1
        assert (found == pytest.approx(1)) == all(one == other for one, other in pairs)


LABELS = (
    HumanLabel("q0", 1, ("mine",), ("yours",), "a"),
    HumanLabel("q0", 1, ("mine",), ("yours",), "b"),
    HumanLabel("q1", 1, ("yours",), ("theirs",), "tie"),
    HumanLabel("q2", 2, ("old", "yours"), ("old", "mine"), "b"),
    HumanLabel("q7", 1, ("yours",), ("mine",), "a"),
)


async def test_the_judge_is_held_against_what_people_preferred() -> None:
    report = await measured(task=talks(labels=LABELS), workflows=("single", "cot"))
    first, second = report.document()["results"]
    agreement = first["judge"]["agreement"]
    assert (agreement["labels"], agreement["n"], agreement["agreed"]) == (5, 5, 3)
    assert agreement["share"] == pytest.approx(0.6)
    assert agreement["kappa"] == pytest.approx((0.6 - 0.36) / (1 - 0.36))
    assert agreement["calls"]["logical"] == 8, "a pair that two people judged is judged once"
    assert second["judge"]["agreement"] == agreement, "the judge is the same for all rows"
    assert first["calls"]["logical"] == QUESTIONS * 6, "and no row pays for it"


async def test_orders_that_disagree_are_a_tie_against_labels_too() -> None:
    row = row_of(await measured(always("[[A]]"), talks(labels=LABELS)))
    assert (row["judge"]["agreement"]["n"], row["judge"]["agreement"]["agreed"]) == (5, 1)


async def test_labels_of_questions_that_are_not_measured_do_not_count() -> None:
    row = row_of(await measured(task=talks(labels=LABELS).limit(2)))
    assert (row["n"], row["judge"]["agreement"]["labels"]) == (2, 3)


async def test_labels_without_a_verdict_do_not_count_as_judged() -> None:
    def moody(request: Request) -> str:
        if "theirs" in request.messages[-1].content:
            raise RuntimeError("down")
        return "Hm." if "q7" in request.messages[-1].content else fair(request)

    row = row_of(await measured(moody, talks(labels=LABELS)))
    assert (row["judge"]["agreement"]["labels"], row["judge"]["agreement"]["n"]) == (5, 4)


async def test_a_budget_that_ends_among_the_labels_is_told_and_keeps_the_rest() -> None:
    report = await measured(task=talks(labels=LABELS), budget=Budget(calls=QUESTIONS * 6 + 4))
    row = row_of(report)
    assert report.ended_by == "budget"
    assert (row["score"], row["scored"]) == (1.0, QUESTIONS)
    assert 0 < row["judge"]["agreement"]["n"] < 5
    assert "--budget-calls" in report.message


async def test_a_measurement_that_ended_early_asks_no_label() -> None:
    report = await measured(task=talks(labels=LABELS), budget=Budget(calls=20), concurrency=1)
    assert (report.ended_by, row_of(report)["judge"]["agreement"]) == ("budget", None)


async def test_a_comparison_shows_no_judge_and_pays_for_no_label() -> None:
    asked: list[str] = []

    def judge(request: Request) -> str:
        asked.append(request.messages[-1].content)
        return fair(request)

    async with scripted_session({"m": answerer, "judge": judge}) as session:
        await compare(session, "single", "cot", task=talks(labels=LABELS), models=("m",), roles=ROLES)
    assert asked
    assert not any("yours" in material for material in asked)


async def test_joined_tasks_keep_turns_scorers_and_labels() -> None:
    plain = Task("plain", tuple(Sample(f"p{n}", "say", "mine1") for n in range(3)), ExactScorer())
    row = row_of(await measured(task=join_tasks([talks(3, LABELS[:4]), plain])))
    assert [sample["id"] for sample in row["samples"]] == ["1/q0", "1/q1", "1/q2", "2/p0", "2/p1", "2/p2"]
    assert row["score"] == 1.0
    assert [sample["calls"] for sample in row["samples"]] == [2, 2, 2, 1, 1, 1]
    assert row["judge"]["pairs"] == 6
    assert row["judge"]["agreement"]["labels"] == 4


async def test_labels_need_a_scorer_that_compares() -> None:
    task = Task("plain", (Sample("q0", "say", "x"),), ExactScorer(), labels=LABELS[:1])
    async with scripted_session({"m": answerer}) as session:
        recording = await session.record("eval")
        with pytest.raises(UserError, match="compares no pairs"):
            await LabelCheck(recording, task, task.samples).run()


async def test_an_estimate_counts_every_turn_and_every_labelled_pair() -> None:
    task = talks(labels=LABELS)
    async with scripted_session({"m": answerer}) as session:
        endpoint = session.endpoint("m")
        found = estimate(prepare_workflows(["single"]), task.samples, endpoint, judged=True)
        labels = labels_estimate(task, endpoint)
        nothing = labels_estimate(talks(), endpoint)
    assert (found.calls.low, found.calls.high) == (QUESTIONS * 2 * 2, QUESTIONS * 2 * 5)
    assert (labels.calls.low, labels.calls.high) == (8, 16)
    assert (nothing.calls.high, nothing.seconds.high) == (0, 0)


SCRIPT = """\
def reply(request):
    return '[[A]]' if 'You compare' in request.messages[0].content else 'x'
"""


def test_the_command_line_prints_the_judge_and_estimates_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(SCRIPT)
    (tmp_path / "treadle.toml").write_text('[models.small]\nmodel = "scripted:model.py"\n')
    labels = [{"id": "q0", "a": "x", "b": "z", "winner": "tie"}, {"id": "q1", "a": "x", "b": "y", "winner": "a"}]
    rows = {
        "q.jsonl": [{"id": f"q{n}", "turns": [f"w{n}", "more"]} for n in range(3)],
        "a.jsonl": [{"id": f"q{n}", "answers": ["y", "longer"]} for n in range(3)],
        "l.jsonl": labels,
    }
    for name, given_rows in rows.items():
        (tmp_path / name).write_bytes(b"\n".join(msgspec.json.encode(row) for row in given_rows))
    words = ["eval", "single", "--task", "mt-bench:q.jsonl?answers=a.jsonl&labels=l.jsonl"]
    assert main([*words, "--dry-run", "--json"]) == 0
    assert msgspec.json.decode(capsys.readouterr().out)["calls"] == {"low": 3 * 2 * 2 + 4, "high": 3 * 2 * 5 + 8}
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert re.search(r"single +6 +100\.0 +6 of 6 +–", shown)
    assert "agreement with people: 50.0 [9.5–90.5] % of 2 human labels, kappa 0.00 (2 calls paid)" in " ".join(
        shown.split()
    )
    assert main([*words, "--limit", "1", "--json"]) == 0
    (row,) = msgspec.json.decode(capsys.readouterr().out)["results"]
    assert (row["n"], row["judge"]["pairs"], row["judge"]["agreement"]["labels"]) == (1, 2, 1)
    assert row["calls"]["paid"] == 0
    assert main(["eval", "single", "--task", "mt-bench:q.jsonl"]) == 2
    assert "answers=FILE" in capsys.readouterr().err
