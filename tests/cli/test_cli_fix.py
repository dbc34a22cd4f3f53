"""``treadle fix`` as people and scripts meet it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fix_places import TEST, Command, git, make_repository


@pytest.fixture
def repo(place: Path) -> Path:
    """A repository with a defect beside a treadle.toml with a strong and a weak model."""
    return make_repository(place)


def test_a_fix_is_printed_and_left_in_a_file(repo: Path, treadle: Command) -> None:
    code, out, err = treadle("fix", "--repo", "repo", "--issue", "issue.md", "--test", TEST)
    assert code == 0
    for part in ("In calc.py return 2 * x.", "implementation 1 (guided)", "APPROVE", "+    return 2 * x"):
        assert part in out
    assert "the test command passes on a clean copy" in out
    assert "review 1: APPROVE" in err
    assert git(repo, "status", "--porcelain") == ""
    (patch,) = (repo.parent / ".treadle" / "runs").glob("*/fix.patch")
    git(repo, "apply", str(patch))
    assert "2 * x" in (repo / "calc.py").read_text()


def test_the_document_has_all_that_a_script_needs(repo: Path, treadle: Command) -> None:
    code, out, _ = treadle("fix", "--repo", "repo", "--issue", "issue.md", "--test", TEST, "--json", "-o", "out.patch")
    document = json.loads(out)
    assert (code, document["ended_by"], document["status"], document["resolved"]) == (0, "done", "patched", True)
    assert (repo.parent / "out.patch").read_text() == document["patch"]
    assert [(row["phase"], row["round"], row["mode"], row["verdict"]) for row in document["rounds"]] == [
        ("analysis", 1, None, None),
        ("plan", 1, None, None),
        ("implementation", 1, "guided", None),
        ("review", 1, "guided", "APPROVE"),
    ]
    assert document["tokens"]["manager"]["calls"] == 3
    assert document["tokens"]["worker"]["calls"] == 2
    spent = sum(document["tokens"][role]["usd"] for role in ("manager", "worker"))
    assert document["usd"] == pytest.approx(spent)
    again = json.loads(treadle("fix", "--repo", "repo", "--issue", "issue.md", "--test", TEST, "--json")[1])
    assert again["usd"] == 0
    assert again["fresh"]["manager"]["calls"] == 3
    assert again["tokens"]["manager"]["calls"] == 0


def test_strong_tokens_are_held_against_a_run_of_the_strong_model_alone(repo: Path, treadle: Command) -> None:
    words = ("fix", "--repo", "repo", "--issue", "issue.md", "--test", TEST, "--json")
    first = json.loads(treadle(*words)[1])["strong_tokens"]
    assert (first["alone"], first["share"], first["run"]) == (None, None, None)
    alone = json.loads(treadle(*words, "--mode", "strong")[1])
    later = json.loads(treadle(*words)[1])["strong_tokens"]
    spent = alone["fresh"]["manager"]
    assert later["here"] == first["here"] > 0
    assert (later["alone"], later["run"]) == (spent["input"] + spent["output"], alone["run"])
    assert (later["share"], later["resolved"]) == (later["here"] / later["alone"], True)
    shown = " ".join(treadle(*words[:-1])[1].split())
    share = f"{100 * later['share']:.0f} % of the"
    assert f"tokens of the strong model (resolved): {share}" in shown
    assert f"that it took alone (run {alone['run']}, resolved)" in shown


def test_a_patch_is_applied_where_that_is_asked_for(repo: Path, treadle: Command) -> None:
    code, out, _ = treadle("fix", "--repo", "repo", "--issue", "issue.md", "--apply")
    assert code == 0
    assert "applied to" in out
    assert "2 * x" in (repo / "calc.py").read_text()


def test_nothing_is_applied_over_changes(repo: Path, treadle: Command) -> None:
    (repo / "calc.py").write_text("changed\n")
    code, out, err = treadle("fix", "--repo", "repo", "--issue", "issue.md", "--apply")
    assert (code, out) == (2, "")
    assert "--apply" in err
    assert (repo / "calc.py").read_text() == "changed\n"


def test_a_branch_gets_the_commit_and_the_files_stay(repo: Path, treadle: Command) -> None:
    (repo / ".git" / "hooks" / "post-commit").write_text("#!/bin/sh\ntouch ../hooked\n")
    (repo / ".git" / "hooks" / "post-commit").chmod(0o755)
    code, out, _ = treadle("fix", "--repo", "repo", "--issue", "issue.md", "--branch", "fix/double")
    assert code == 0
    assert "fix/double" in out
    assert "2 * x" in git(repo, "show", "fix/double:calc.py")
    assert git(repo, "log", "-1", "--format=%s", "fix/double").strip() == "Fix: double is wrong"
    assert "x + 1" in (repo / "calc.py").read_text()
    assert git(repo, "status", "--porcelain") == ""
    assert not (repo.parent / "hooked").exists()
    code, _, err = treadle("fix", "--repo", "repo", "--issue", "issue.md", "--branch", "fix/double")
    assert code == 2
    assert "fix/double" in err


def test_narration_is_no_patch(repo: Path, treadle: Command) -> None:
    (repo.parent / "worker.txt").write_text("I fixed it:\n```diff\n-x\n+y\n```")
    code, out, _ = treadle("fix", "--repo", "repo", "--issue", "issue.md", "--test", TEST, "--json")
    document = json.loads(out)
    assert (code, document["status"], document["patch"], document["resolved"]) == (1, "empty", "", None)


def test_a_wrong_patch_is_never_resolved(repo: Path, treadle: Command) -> None:
    (repo.parent / "worker.txt").write_text("```bash\nsed -i 's/x + 1/x + 3/' calc.py; echo passed\n```")
    code, out, _ = treadle("fix", "--repo", "repo", "--issue", "issue.md", "--test", TEST, "--json")
    document = json.loads(out)
    assert (code, document["status"], document["resolved"], document["approved"]) == (0, "patched", False, False)


def test_a_budget_ends_it_with_what_there_is(repo: Path, treadle: Command) -> None:
    words = ("fix", "--repo", "repo", "--issue", "issue.md", "--json", "--test", TEST)
    code, out, _ = treadle(*words, "--budget-calls", "4", "--fresh", "1")
    document = json.loads(out)
    assert (code, document["ended_by"], document["status"], document["resolved"]) == (3, "budget", "patched", True)
    code, out, _ = treadle(*words, "--budget-calls", "2", "--fresh", "2")
    document = json.loads(out)
    assert (code, document["ended_by"], document["status"]) == (3, "budget", "budget")


def test_a_dry_run_spends_nothing(repo: Path, treadle: Command) -> None:
    code, out, _ = treadle("fix", "--repo", "repo", "--issue", "issue.md", "--dry-run", "--json")
    assert code == 0
    assert json.loads(out)["calls"]["low"] >= 1
    assert json.loads(treadle("runs", "--json")[1]) == []


def test_steps_are_there_to_be_looked_at(repo: Path, treadle: Command) -> None:
    run = json.loads(treadle("fix", "--repo", "repo", "--issue", "issue.md", "--json")[1])["run"]
    code, out, _ = treadle("trace", run)
    assert code == 0
    assert "step 1 sed -i 's/x + 1/2 * x/' calc.py" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--repo", "nowhere", "--issue", "issue.md"), "does not exist"),
        (("--repo", "issue.md", "--issue", "issue.md"), "is a file"),
        (("--repo", "repo", "--issue", "no.md"), "--issue no.md cannot be read"),
        (("--repo", "repo", "--issue", "empty.md"), "is empty"),
        (("--repo", "repo", "--issue", "issue.md", "--mode", "strng"), "mode must be full or simple-loop"),
        (("--repo", "repo", "--issue", "issue.md", "--strategy", "x"), "strategy must be"),
        (("--repo", "repo", "--issue", "issue.md", "--network", "yes"), "--network must be"),
        (("--repo", "repo", "--issue", "issue.md", "--readable", "/no/such"), "does not exist"),
        (("--repo", "repo", "--issue", "issue.md", "-o", "no/such.patch"), "does not exist"),
        (("--repo", "repo", "--issue", "issue.md", "--apply", "--branch", "b"), "two ways"),
        (("--repo", "repo", "--issue", "issue.md", "--branch", "a..b"), "a..b"),
        (("--repo", "repo", "--issue", "issue.md", "--manager", "bg"), "unknown model 'bg'"),
        (("--repo", "repo", "--issue", "issue.md", "--worker", "big", "--role", "worker=small"), "the same thing"),
        (("--repo", "repo", "--issue", "issue.md", "--setup", "exit 3"), "exit code 3"),
        (("--repo", "repo"), "--issue"),
    ],
)
def test_mistakes_are_told_in_a_line_or_two(repo: Path, treadle: Command, words: tuple[str, ...], said: str) -> None:
    (repo.parent / "empty.md").write_text(" \n")
    code, out, err = treadle("fix", *words)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) <= 4
