"""Where ``treadle fix`` leaves its patch: a file always, and the user's repository where nothing speaks against it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from fix_places import TEST, WRONG, Command, git, make_repository

FIX = ("fix", "--repo", "repo", "--issue", "issue.md")


@pytest.fixture
def repo(place: Path) -> Path:
    """A repository with a defect beside a treadle.toml with a strong and a weak model."""
    return make_repository(place)


def untouched(repo: Path) -> bool:
    """Whether nothing came of a patch in the user's repository."""
    return not git(repo, "status", "--porcelain") and git(repo, "branch", "--format=%(refname:short)") == "main\n"


def kept(repo: Path) -> Path:
    """The only patch in a run's folder."""
    (file,) = (repo.parent / ".treadle" / "runs").glob("*/fix.patch")
    return file


def runs(treadle: Command) -> list[object]:
    """All runs there are."""
    return json.loads(treadle("runs", "--json")[1])


@pytest.fixture(params=[("--apply",), ("--branch", "fix/double")])
def way(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """A way into the user's repository."""
    return request.param


def test_what_fails_its_test_is_not_taken_unless_one_insists(
    repo: Path, treadle: Command, way: tuple[str, ...]
) -> None:
    code, out, err = treadle(*FIX, "--test", "echo no; false", *way, "--json")
    document = json.loads(out)
    assert (code, document["status"], document["approved"]) == (1, "patched", True)
    assert "the test command does not pass" in document["not_delivered"]
    assert "--anyway" in err
    assert untouched(repo)
    code, out, _ = treadle(*FIX, "--test", "echo no; false", *way, "--anyway", "--json")
    assert (code, "not_delivered" in json.loads(out)) == (0, False)
    assert not untouched(repo)


def test_what_the_manager_wants_revised_is_not_taken(repo: Path, treadle: Command, way: tuple[str, ...]) -> None:
    (repo.parent / "worker.txt").write_text(WRONG)
    code, out, _ = treadle(*FIX, *way)
    assert code == 1
    assert "not delivered: the manager wants it revised; --anyway takes it all the same" in " ".join(out.split())
    assert untouched(repo)


def test_what_passes_its_test_is_taken_whatever_the_manager_says(repo: Path, treadle: Command) -> None:
    (repo.parent / "worker.txt").write_text(WRONG)
    code, out, _ = treadle(*FIX, "--apply", "--test", "true", "--json")
    assert (code, json.loads(out)["approved"]) == (0, False)
    assert not untouched(repo)


def test_half_of_a_change_is_not_taken(repo: Path, treadle: Command) -> None:
    (repo.parent / "dies").touch()
    code, out, _ = treadle(*FIX, "--apply", "--test", TEST)
    assert code == 1
    assert untouched(repo)
    shown = " ".join(out.split())
    assert "not delivered: the work was cut short" in shown
    assert "a model or this machine failed" in shown
    assert "verdict" not in shown
    assert kept(repo).read_text() in out


def test_what_a_cap_cut_short_is_not_taken(repo: Path, treadle: Command) -> None:
    words = (*FIX, "--mode", "weak", "--max-calls-per-sample", "1", "--test", TEST, "--json")
    code, out, _ = treadle(*words, "--apply")
    document = json.loads(out)
    assert (code, document["status"], document["finished"]) == (1, "patched", False)
    assert "cap is reached" in document["message"]
    assert untouched(repo)


def test_changes_forbid_a_branch_before_anything_is_asked(repo: Path, treadle: Command, way: tuple[str, ...]) -> None:
    (repo / "calc.py").write_text("changed\n")
    code, out, err = treadle(*FIX, *way)
    assert (code, out) == (2, "")
    assert way[0] in err
    assert "commit or stash them first" in err
    assert runs(treadle) == []


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_the_report_is_there_whatever_forbids_to_take_the_patch(
    repo: Path, treadle: Command, way: tuple[str, ...], form: tuple[str, ...]
) -> None:
    (repo.parent / "taking_workers.py").write_text(
        "import subprocess\n"
        "from pathlib import Path\n"
        "async def late(assignment, workspace, run):\n"
        "    await workspace.shell(\"sed -i 's/x + 1/2 * x/' calc.py\", run)\n"
        "    Path('repo/calc.py').write_text('changed meanwhile\\n')\n"
        "    subprocess.run('git branch fix/double', shell=True, cwd='repo')\n"
        "    return 'done'\n"
    )
    code, out, err = treadle(*FIX, *way, "--worker", "taking_workers:late", *form)
    assert code == 2
    assert err.splitlines()[-1].startswith("treadle: ")
    if form:
        document = json.loads(out)
        assert document["patch_file"] == str(kept(repo))
        assert document["not_delivered"]
    else:
        assert str(kept(repo)) in "".join(out.split("\n"))
    assert "return 2 * x" in kept(repo).read_text()


def test_what_is_to_be_typed_next_applies_the_patch(place: Path, treadle: Command) -> None:
    repo = make_repository(place, "my repo's")
    words = ("fix", "--repo", "my repo's", "--issue", "issue.md", "-o", "the patch", "--test", TEST)
    _, out, _ = treadle(*words)
    (line,) = (line.partition("look next:")[2] for line in out.splitlines() if "look next:" in line)
    subprocess.run(line, shell=True, check=True, cwd=place.parent)
    assert "2 * x" in (repo / "calc.py").read_text()


def test_a_patch_that_fails_its_test_is_not_offered(repo: Path, treadle: Command) -> None:
    out = treadle(*FIX, "--test", "false")[1]
    assert "look next: treadle trace" in out
    assert " apply " not in out


def test_a_file_of_ones_own_is_a_copy_of_that_in_the_runs_folder(repo: Path, treadle: Command) -> None:
    assert treadle(*FIX, "-o", "out.patch")[0] == 0
    first = (repo.parent / "out.patch").read_bytes()
    assert kept(repo).read_bytes() == first
    assert treadle(*FIX, "-o", "out.patch")[0] == 0
    assert (repo.parent / "out.patch").read_bytes() == first


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("issue.md", "is the issue itself"),
        ("./issue.md", "is the issue itself"),
        ("link.md", "is the issue itself"),
        ("repo/calc.py", "holds no patch"),
        ("/proc/no.patch", "cannot be written"),
        ("repo", "is a folder"),
        ("no/such.patch", "does not exist"),
    ],
)
def test_a_file_that_is_something_else_is_refused(repo: Path, treadle: Command, output: str, said: str) -> None:
    (repo.parent / "link.md").symlink_to("issue.md")
    before = sorted(repo.parent.iterdir())
    code, out, err = treadle(*FIX, "-o", output)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())
    assert "double is wrong" in (repo.parent / "issue.md").read_text()
    assert sorted(repo.parent.iterdir()) == before


def test_nothing_is_lost_where_the_file_cannot_be_written_in_the_end(repo: Path, treadle: Command) -> None:
    (repo.parent / "later").mkdir()
    (repo.parent / "removing_workers.py").write_text(
        "import shutil\n"
        "async def remove(assignment, workspace, run):\n"
        "    await workspace.shell(\"sed -i 's/x + 1/2 * x/' calc.py\", run)\n"
        "    shutil.rmtree('later', ignore_errors=True)\n"
        "    return 'done'\n"
    )
    code, out, err = treadle(*FIX, "-o", "later/out.patch", "--worker", "removing_workers:remove", "--json")
    document = json.loads(out)
    assert (code, document["status"], document["approved"]) == (2, "patched", True)
    assert document["patch_file"] == str(kept(repo))
    assert f"-o later/out.patch cannot be written: No such file or directory; the patch is in {kept(repo)}" in err
