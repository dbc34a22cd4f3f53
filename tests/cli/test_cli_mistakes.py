"""Bad input: one clear message, the right exit code, nothing spent where it can be known before."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from treadle.cli.commands import later
from treadle.cli.main import main
from treadle.testing.servers import HTML, ModelServer, Reply

Command = Callable[..., tuple[int, str, str]]
EVAL = ("eval", "single", "--task", "jsonl:sums.jsonl", "--model", "adder")


def told(result: tuple[int, str, str], code: int = 2) -> str:
    """The message of a refused command: one or two lines on stderr, nothing on stdout, no traceback."""
    assert result[:2] == (code, ""), result
    assert 1 <= result[2].count("\n") <= 2
    assert result[2].startswith("treadle: ")
    assert "Traceback" not in result[2]
    return result[2]


def swapped(words: tuple[str, ...], old: str, new: str) -> tuple[str, ...]:
    assert old in words
    return tuple(new if word == old else word for word in words)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (swapped(EVAL, "single", "selfconsistency"), ["unknown workflow 'selfconsistency'", "self-consistency"]),
        (swapped(EVAL, "single", "cot?n=2"), ["cot has no setting 'n'"]),
        (swapped(EVAL, "adder", "addr"), ["unknown model 'addr'", "did you mean adder"]),
        (swapped(EVAL, "adder", "openia:gpt-5"), ["unknown provider 'openia'", "openai"]),
        (swapped(EVAL, "adder", "openai:gpt-5-mini"), ["OPENAI_API_KEY"]),
        (swapped(EVAL, "jsonl:sums.jsonl", "jsnl:sums.jsonl"), ["unknown task 'jsnl", "jsonl"]),
        (swapped(EVAL, "jsonl:sums.jsonl", "jsonl:nothere.jsonl"), ["nothere.jsonl"]),
        (swapped(EVAL, "jsonl:sums.jsonl", "jsonl:sums.jsonl?scorer=exat"), ["exact"]),
        ((*EVAL, "--role", "juge=adder"), ["unknown role 'juge'", "judge"]),
        ((*EVAL, "--role", "judge=addr"), ["unknown model 'addr'", "adder"]),
        ((*EVAL[:-2], "--models", "adder,"), ["--models 'adder,'", "a name is missing"]),
        ((*EVAL, "--fail-if", "worse"), ["--against"]),
        ((*EVAL, "--against", "260101-000000-ffff"), ["unknown run '260101-000000-ffff'"]),
        ((*EVAL, "--against", "x", "--fail-if", "wrose"), ["unknown verdict 'wrose'", "worse"]),
        (("eval", "single,cot", *EVAL[2:], "--against", "x"), ["name one workflow"]),
        ((*EVAL, "--budget-calls", "-1"), ["--budget-calls"]),
        ((*EVAL, "--limit", "0"), ["--limit takes 1 or more"]),
        ((*EVAL, "--limit", "many"), ["--limit takes a whole number", "treadle eval --help"]),
        ((*EVAL, "--config", "nowhere.toml"), ["nowhere.toml", "treadle init"]),
        (("eval", "single", "--model", "adder"), ["--task", "treadle eval --help"]),
        (("eval", "--task", "jsonl:sums.jsonl"), ["WORKFLOW"]),
        (("evl", "single"), ["evl", "eval"]),
        (("eval", "single", "--tsk", "x"), ["--tsk", "--task"]),
        (("run", "single", " "), ["question is empty"]),
        (("trace", "nothing"), ["unknown run 'nothing'"]),
        (("trace", "nothing"), ["known: none; `treadle runs` lists them"]),
        (("compare", "cot", "single"), ["unknown run 'cot'", "add --task T to compare workflows"]),
        (("samples", "--effect", "x"), ["--effect takes a number"]),
        (("samples", "--n", "5", "--base", "3"), ["--base takes 1 or less"]),
        (swapped(EVAL, "jsonl:sums.jsonl", "sums.jsonl"), ["unknown task 'sums.jsonl'; write jsonl:sums.jsonl"]),
        (swapped(EVAL, "single", "nope"), ["unknown workflow 'nope'; known: single, cot", "more"]),
        (("search", "--space", "single,cot", *EVAL[2:]), ["unknown space", "write workflows:single,cot"]),
        (("samples",), ["--effect 5"]),
        (("samples", "--effect", "0"), ["effect"]),
        (("samples", "--effect", "5", "--config", "nowhere.toml"), ["nowhere.toml", "treadle init"]),
        (("doctor", "--config", "nowhere.toml"), ["nowhere.toml", "treadle init"]),
        (("models", "pull", "smollm2", "--config", "nowhere.toml"), ["nowhere.toml", "treadle init"]),
        (swapped(EVAL, "adder", "nope"), ["unknown model 'nope'", "provider:model", "[models.NAME]", "treadle init"]),
        ((*EVAL, "--repeat", "1009"), ["--repeat"]),
        (("search", "--space", "workflow:single", "--task", "jsonl:sums.jsonl"), ["unknown space", "workflows"]),
        (
            ("search", "--space", "workflows:single", "--method", "bayes", "--task", "jsonl:sums.jsonl"),
            ["--method bayes"],
        ),
        (("search", "--space", "archon", "--method", "all", *EVAL[2:]), ["--method all", "bayes"]),
        (
            ("search", "--space", "archon", *EVAL[2:], "--max-calls-per-sample", "19"),
            ["19 calls a question leave", "not worth its cost", "--anyway"],
        ),
        (("search", "--space", "archon:axes.toml", *EVAL[2:]), ["axes.toml", "cannot be read"]),
        (("space", "archn"), ["unknown space 'archn'", "archon"]),
        (("space", "archon", "--models", "a,,b"), ["a name is missing"]),
        (("eval", "archon:3x>f", *EVAL[2:]), ["unknown component '3x' in layer 1"]),
        (("eval", "archon:g(1..2)>f", *EVAL[2:]), ["names model 2, but only one model is given"]),
        (("eval", "archon:g(nope)>f", *EVAL[2:]), ["unknown model 'nope'"]),
        (("eval", "run:nothing", *EVAL[2:]), ["unknown run 'nothing'"]),
        (("search", "--space", "code", *EVAL[2:]), ["--space code is not yet there"]),
        (("search", "--space", "workflows:single", *EVAL[2:], "--objective", "cheap"), ["cheapest"]),
        (("models", "pull", "smolm2"), ["smollm2"]),
    ],
)
def test_a_mistake_is_told_in_a_line_or_two(treadle: Command, words: tuple[str, ...], says: list[str]) -> None:
    message = told(treadle(*words))
    for part in says:
        assert part in message
    assert not any(run["usd"] for run in json.loads(treadle("runs", "--json")[1]))


def test_of_many_names_only_a_few_are_listed(treadle: Command, place: Path) -> None:
    rows = [f'{{"id": "s{n:02}", "input": "What is {n} + 2?", "target": {n + 2}}}\n' for n in range(40)]
    (place / "sums.jsonl").write_text("".join(rows))
    run = json.loads(treadle(*EVAL, "--json")[1])["run"]
    assert f"did you mean {run}? `treadle runs` lists them" in told(treadle("trace", f"{run}x"))
    message = told(treadle("trace", run, "--sample", "nope"))
    assert message.endswith("known: s00, s01, s02, s03, s04, s05, s06, s07 and 32 more\n")


@pytest.mark.parametrize("name", later.NAMES)
def test_later_commands_say_not_yet_whatever_follows(treadle: Command, name: str) -> None:
    assert "not yet there" in told(treadle(name, "--repo", "x", "y", "--help"))


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("", ["sums.jsonl", "no rows"]),
        ('{"id": "a", "input": "1 + 1", "target": 2}\n' * 2, ["'a'", "lines 1 and 2"]),
        ('{"id": "a", "question": "1 + 1", "target": 2}\n', ["line 1", "input", "question"]),
        ('{"id": "a", "input": "1 + 1", "target": 2}\n{"id": \n', ["line 2"]),
    ],
)
def test_a_bad_data_file_is_told_with_its_line(treadle: Command, place: Path, rows: str, says: list[str]) -> None:
    (place / "sums.jsonl").write_text(rows)
    message = told(treadle(*EVAL))
    for part in says:
        assert part in message


def test_a_key_in_the_file_is_refused_and_not_repeated(treadle: Command, place: Path) -> None:
    with (place / "treadle.toml").open("a") as file:
        file.write('api_key = "sk-abcdefghijklmnopqrstuvwxyz123456"\n')
    message = told(treadle(*EVAL))
    assert "treadle.toml" in message
    assert "sk-abc" not in message


def test_dollars_cannot_be_counted_without_a_price(treadle: Command) -> None:
    words = swapped(EVAL, "adder", "scripted:adder.py")
    assert "no price" in told(treadle(*words, "--budget-usd", "1"))
    assert "no price" in told(treadle(*words, "--max-usd-per-sample", "1"))


def test_a_budget_too_small_for_the_first_call_ends_with_3_and_the_whole_document(treadle: Command) -> None:
    code, out, _ = treadle(*EVAL, "--budget-usd", "0.000001", "--json")
    report = json.loads(out)
    assert (code, report["ended_by"]) == (3, "budget")
    assert (report["results"][0]["n"], report["results"][0]["score"]) == (12, None)
    code, out, _ = treadle(*EVAL, "--budget-usd", "0.000001")
    assert code == 3
    assert "--budget-usd 0.00" in out
    assert "max_tokens" in out


def test_a_budget_that_ends_it_half_way_keeps_what_was_paid_for(treadle: Command) -> None:
    code, out, _ = treadle(*EVAL, "--budget-calls", "5", "--json")
    row = json.loads(out)["results"][0]
    assert code == 3
    assert (row["calls"]["paid"], row["scored"], len(row["samples"])) == (5, 5, 12)
    assert json.loads(treadle(*EVAL, "--json")[1])["results"][0]["calls"]["paid"] == 7


def test_a_model_that_returns_nothing_is_no_crash(treadle: Command, place: Path) -> None:
    (place / "adder.py").write_text("def reply(request):\n    return ''\n")
    code, out, err = treadle(*EVAL, "--json")
    row = json.loads(out)["results"][0]
    assert (code, row["score"], row["failed"]["format"]) == (0, 0.0, 12)
    warning = "no answer of single could be used: 12 format"
    assert err.startswith(f"treadle: {warning}")
    assert err.count("\n") == 1
    code, out, err = treadle(*EVAL)
    assert (code, err) == (0, "")
    assert warning in out
    assert f"look next: treadle trace {treadle('runs')[1].splitlines()[2].split()[0]} --failed --full" in out
    code, out, _ = treadle("run", "single", "What is 1 + 1?", "--model", "adder")
    assert code == 1
    assert "format: the model returned nothing" in out
    code, out, err = treadle("run", "single", "What is 1 + 1?", "--model", "adder", "--json")
    assert (code, json.loads(out)["status"], json.loads(out)["message"]) == (1, "format", "the model returned nothing")
    assert err == "treadle: format: the model returned nothing\n"


def test_a_model_that_always_fails_ends_with_1_and_no_score(treadle: Command, place: Path) -> None:
    (place / "adder.py").write_text("def reply(request):\n    raise ValueError('out of order')\n")
    code, out, _ = treadle(*EVAL, "--json")
    report = json.loads(out)
    assert (code, report["ended_by"]) == (1, "infra")
    assert (report["results"][0]["score"], report["results"][0]["failed"]["infra"]) == (None, 12)
    code, out, _ = treadle(*EVAL)
    assert code == 1
    assert "infrastructure" in out
    assert "out of order" in " ".join(out.split())


async def far(place: Path, capsys: pytest.CaptureFixture[str], base_url: str, *words: str) -> tuple[int, str, str]:
    (place / "treadle.toml").write_text(f'[models.far]\nmodel = "openai:any"\nbase_url = "{base_url}"\nretries = 0\n')
    capsys.readouterr()
    code = await asyncio.to_thread(main, words)
    out, err = capsys.readouterr()
    return code, out, err


async def test_a_server_that_returns_a_page_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with ModelServer(HTML) as server:
        page = f"{server.origin}/shop"
        assert page in told(await far(place, capsys, page, *swapped(EVAL, "adder", "far")))
        code, out, _ = await far(place, capsys, page, "doctor")
        assert code == 1
        assert f"{page} answers with a page instead of an API" in " ".join(out.split())


async def test_an_address_where_nobody_is_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with ModelServer(Reply("4")) as server:
        assert (await far(place, capsys, server.base_url, "doctor"))[0] == 0
    assert server.base_url in told(await far(place, capsys, server.base_url, *swapped(EVAL, "adder", "far")))
    assert "cannot be reached" in " ".join((await far(place, capsys, server.base_url, "doctor"))[1].split())


def test_an_unexpected_error_is_one_line_and_says_how_to_see_more(
    treadle: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("surprise")

    monkeypatch.setattr("treadle.evaluation.statistics.power.samples_needed", fail)
    message = told(treadle("samples", "--effect", "5"), code=1)
    assert "KeyError" in message
    assert "TREADLE_DEBUG=1" in message
    monkeypatch.setenv("TREADLE_DEBUG", "1")
    assert "Traceback" in treadle("samples", "--effect", "5")[2]
