"""A small local model as worker, directed by a scripted manager that knows the fix, against that model alone.

Eight rows of QuixBugs become small repositories with an issue each. What is simulated is the manager: it answers from
the known fix, so the figures say what perfect direction is worth to this worker, not what a real manager gives.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import treadle

NAMES = (
    "bitcount",
    "bucketsort",
    "find_in_sorted",
    "flatten",
    "gcd",
    "get_factors",
    "is_valid_parenthesization",
    "kth",
)
STEPS = 6
ROUNDS = 2
PROMPT_TOKENS = 1_500
ANSWER_TOKENS = 400
TEST_SECONDS = 15
_MANAGER = '''\
"""A manager that knows the fixes (simulated)."""
import json, pathlib
FIXES = json.loads((pathlib.Path(__file__).parent / "fixes.json").read_text())


def reply(request):
    asked = request.messages[-1].content
    fix = next(fix for name, fix in FIXES.items() if f"function `{name}`" in asked)
    if "APPROVE" in asked:
        patch = asked.partition("<patch>")[2].partition("</patch>")[0]
        done = all(f"+{line}" in patch for line in fix["new"]) and all(f"-{line}" in patch for line in fix["old"])
        return "APPROVE" if done else "REVISE\\n" + fix["words"]
    return fix["words"] if "Write the plan" in asked else "READY"
'''


def main() -> None:
    """Lay out the repositories and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, help="quixbugs.jsonl")
    parser.add_argument("model", help="the worker, such as local:qwen2.5-coder-1.5b.gguf")
    parser.add_argument("--folder", type=Path, default=Path("quixbugs-fix"), help="where everything is kept")
    parser.add_argument("--names", nargs="*", default=NAMES)
    given = parser.parse_args()
    folder: Path = given.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    rows = {row["name"]: row for row in map(json.loads, given.rows.read_text(encoding="utf-8").splitlines())}
    chosen = [rows[name] for name in given.names]
    if not (folder / "instances.jsonl").exists():
        instances = [laid_out(row, folder / "repos") for row in chosen]
        (folder / "fixes.json").write_text(json.dumps({row["name"]: known_fix(row) for row in chosen}))
        (folder / "manager.py").write_text(_MANAGER)
        (folder / "instances.jsonl").write_text("".join(json.dumps(each) + "\n" for each in instances))
    (folder / "treadle.toml").write_text(configuration(given.model))
    asyncio.run(measured(folder))


def configuration(model: str) -> str:
    """The models; the worker is asked greedily, and its replies are kept short."""
    return (
        '[models.manager]\nmodel = "scripted:manager.py"\n'
        f'[models.worker]\nmodel = "{model}"\nmax_concurrency = 1\ntimeout_s = 600\n'
        f"context_window = {PROMPT_TOKENS + ANSWER_TOKENS}\n"
        f"settings = {{ temperature = 0.0, max_tokens = {ANSWER_TOKENS} }}\n"
        '[roles]\nstrong = "manager"\nweak = "worker"\n'
    )


async def measured(folder: Path) -> None:
    """Both workflows on the same instances; what was measured before is not asked again."""
    limits = f"steps={STEPS}"
    directed = f"manager-worker?mode=full&explorations=0&rounds={ROUNDS}&{limits}"
    alone = f"manager-worker?mode=weak&{limits}"
    task = f"swe:{folder / 'instances.jsonl'}?repos={folder / 'repos'}&python={sys.executable}&seconds={TEST_SECONDS}"

    def watch(progress: Any) -> None:
        print(f"{progress.done} of {progress.total}", file=sys.stderr, flush=True)

    async with treadle.Session(folder / "treadle.toml") as session:
        report = await treadle.evaluate(
            directed, alone, task=task, session=session, models=("manager", "worker"), concurrency=1, watch=watch
        )
        print(json.dumps(report.document(), indent=1))


def laid_out(row: dict[str, Any], repos: Path) -> dict[str, Any]:
    """A row as a repository with one commit, and as an instance in SWE-bench's fields."""
    name, repo = row["name"], repos / f"quixbugs__{row['name']}"
    repo.mkdir(parents=True)
    file = repo / f"{name}.py"
    file.write_text(row["buggy"])
    if row.get("uses_node"):
        raise SystemExit(f"{name} needs a module that is not there; leave it out")
    git(repo, "init", "-q")
    git(repo, "add", "-A")
    git(repo, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "start")
    base = git(repo, "rev-parse", "HEAD").strip()
    test = repo / f"test_{name}.py"
    test.write_text(row["test"])
    (repo / "cases.json").write_text(json.dumps(row["cases"]))
    before = outcomes(repo, test.name)
    test_patch = added(repo)
    file.write_text(fixed_text(row))
    after = outcomes(repo, test.name)
    patch = git(repo, "diff", "--", file.name)
    git(repo, "checkout", "-q", "--", ".")
    git(repo, "clean", "-fdq")
    good = [id for id, status in after.items() if status == "PASSED"]
    return {
        "instance_id": f"quixbugs__{name}",
        "repo": f"quixbugs/{name}",
        "base_commit": base,
        "version": "1",
        "problem_statement": issue(row),
        "patch": patch,
        "test_patch": test_patch,
        "FAIL_TO_PASS": [id for id in good if before.get(id) != "PASSED"],
        "PASS_TO_PASS": [id for id in good if before.get(id) == "PASSED"],
    }


def issue(row: dict[str, Any]) -> str:
    """What a user would report: the function and one call that goes wrong."""
    given, wanted = row["cases"][0]
    call = f"{row['name']}({', '.join(map(repr, given))})"
    return f"The function `{row['name']}` in {row['name']}.py is wrong. For example `{call}` must give {wanted!r}."


def fixed_text(row: dict[str, Any]) -> str:
    """The corrected program with the documentation of the wrong one."""
    documented = row["buggy"].partition('\n"""\n')
    return row["correct"].rstrip("\n") + "\n\n" + documented[1] + documented[2]


def known_fix(row: dict[str, Any]) -> dict[str, Any]:
    """The lines that change, and the same in words."""
    old, new = row["buggy"].partition('\n"""\n')[0].splitlines(), row["correct"].splitlines()
    changed = [
        line for line in difflib.unified_diff(old, new, lineterm="", n=0) if not re.match(r"---|\+\+\+|@@", line)
    ]
    gone = [line[1:] for line in changed if line[0] == "-" and line[1:].strip()]
    come = [line[1:] for line in changed if line[0] == "+" and line[1:].strip()]
    words = f"In {row['name']}.py replace\n" + "\n".join(gone or ["(nothing: insert)"]) + "\nby\n" + "\n".join(come)
    return {"old": gone, "new": come, "words": f"{words}\nKeep the indentation."}


def outcomes(repo: Path, test: str) -> dict[str, str]:
    """What pytest says of each test; nothing where a wrong program never ends."""
    words = [sys.executable, "-m", "pytest", "-rA", "--tb=no", "-q", "-p", "no:cacheprovider", test]
    try:
        ended = subprocess.run(words, cwd=repo, capture_output=True, text=True, check=False, timeout=TEST_SECONDS)
    except subprocess.TimeoutExpired:
        return {}
    return {id: status for status, id in re.findall(r"^(PASSED|FAILED|ERROR) (\S+)", ended.stdout, re.MULTILINE)}


def added(repo: Path) -> str:
    """The new files as a patch."""
    git(repo, "add", "-A", "-N")
    patch = git(repo, "diff", "--", ":(exclude)*.pyc")
    git(repo, "reset", "-q")
    return patch


def git(repo: Path, *words: str) -> str:
    """Run git."""
    return subprocess.run(["git", *words], cwd=repo, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
