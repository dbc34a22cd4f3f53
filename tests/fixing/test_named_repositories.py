"""What a command line names as a repository and as an issue, and what becomes readable for its commands."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from treadle.errors import UserError
from treadle.fixing.repositories import ISSUE_BYTES, issue_text, named_repository, read_issue
from treadle.sandbox.base import Surroundings
from treadle.sandbox.places import fault_of_surroundings
from treadle.workspaces.base import Repository


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a neighbour in a home of its own."""
    home = tmp_path / "home"
    (home / "repo").mkdir(parents=True)
    (home / "repo" / "run.sh").touch(0o755)
    (home / "private").mkdir()
    (home / "private" / "notes.txt").write_text("mine")
    monkeypatch.setenv("HOME", str(home))
    return home / "repo"


def environment(root: Path, home: Path) -> Path:
    """A virtual environment that was made from an interpreter in a folder."""
    (root / "bin").mkdir(parents=True)
    (root / "pyvenv.cfg").write_text(f"home = {home}\n")
    (root / "bin" / "python").touch(0o755)
    (root / "bin" / "activate").touch()
    return root


def interpreter(root: Path) -> Path:
    """An interpreter in a prefix."""
    (root / "bin").mkdir(parents=True, exist_ok=True)
    (root / "lib" / "python3.11").mkdir(parents=True)
    (root / "bin" / "python3").touch(0o755)
    return root


def readable(repo: Path, command: str) -> set[Path]:
    return set(named_repository(Repository(repo, test=command)).readable)


@pytest.mark.parametrize(
    "command", ["{0}/bin/python -m pytest", "FOO={0}/bin/python x", ". {0}/bin/activate && pytest"]
)
def test_an_environment_that_a_command_names_is_readable(repo: Path, tmp_path: Path, command: str) -> None:
    base = interpreter(tmp_path / "base")
    env = environment(tmp_path / "env", base / "bin")
    assert readable(repo, command.format(env)) == {env, base}
    assert set(named_repository(Repository(repo, setup=command.format(env))).readable) == {env, base}


def test_another_executable_is_readable_and_nothing_around_it(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "check").touch(0o755)
    assert readable(repo, f"{tmp_path}/tools/check .") == {tmp_path / "tools" / "check"}


@pytest.mark.parametrize(
    "command",
    [
        "sh t.sh > /dev/null",
        "cd ~/private; ls ~/",
        "ls ..",
        "ls ../ ../private/notes.txt",
        "find / -name x",
        "pytest --rootdir=/",
        "cp -r . /tmp && x",
        "nproc </proc/cpuinfo",
        "~nobody-of-that-name/x/y",
        "./run.sh sub/../run.sh",
        "echo 'an open quote ~/private",
        "/a\0b/c",
    ],
)
def test_other_words_make_nothing_readable(repo: Path, command: str) -> None:
    assert readable(repo, command) == set()


def test_a_prefix_around_the_home_or_the_repository_is_shown_in_parts(repo: Path, tmp_path: Path) -> None:
    interpreter(repo.parent)
    assert readable(repo, "~/bin/python3 x") == {repo.parent / "bin", repo.parent / "lib" / "python3.11"}
    around = environment(tmp_path, interpreter(tmp_path / "base") / "bin")
    assert readable(repo, f"{around}/bin/python x") == {around / "bin", around / "pyvenv.cfg", tmp_path / "base"}


def test_an_environment_cannot_name_any_folder_as_its_interpreters(repo: Path, tmp_path: Path) -> None:
    env = environment(tmp_path / "env", repo.parent / "private")
    assert readable(repo, f"{env}/bin/python x") == {env}


def test_a_linked_repository_goes_by_its_real_name(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repo)
    given = named_repository(Repository(tmp_path / "link", test=f"cd {repo} && ./run.sh"))
    assert (given.path, given.readable) == (repo, ())
    for test in (f"cd {tmp_path}/link; ./run.sh", f"{tmp_path}/link/run.sh"):
        for name in (tmp_path / "link", repo):
            with pytest.raises(UserError, match=f"commands see the copy at {repo}"):
                named_repository(Repository(name, test=test))


def test_a_command_elsewhere_may_be_a_link_into_the_repository(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "run").symlink_to(repo / "run.sh")
    assert readable(repo, f"{tmp_path}/run") == set()


def test_a_link_of_the_sandbox_s_own_is_not_shown(repo: Path) -> None:
    assert Path("/proc/self/exe") not in readable(repo, "/proc/self/exe -V")


def test_words_are_relative_to_where_the_copy_is_seen(repo: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "tool").touch(0o755)
    assert named_repository(Repository(repo, place=place, test=f"{place}/bin/tool; bin/tool")).readable == ()
    with pytest.raises(UserError, match=f"copy at {place}"):
        named_repository(Repository(repo, place=place, test=f"{repo}/run.sh"))


@pytest.mark.parametrize("name", ["/", "/dev/null", "/no/such/folder", "relative"])
def test_what_no_sandbox_shows_is_refused_before_anything_is_paid(repo: Path, name: str) -> None:
    with pytest.raises(UserError, match="--readable"):
        named_repository(Repository(repo, readable=(Path(name),)))


def test_what_is_named_is_kept_once_and_can_be_shown(repo: Path, tmp_path: Path) -> None:
    base = interpreter(tmp_path / "base")
    command = f"{environment(tmp_path / 'env', base / 'bin')}/bin/python; {base}/bin/python3"
    given = named_repository(Repository(repo, test=command, setup=command, readable=(base,)))
    assert given.readable == (base, tmp_path / "env")
    assert named_repository(given) == given
    assert not fault_of_surroundings(Surroundings(repo, place=repo, readable=given.readable))


@pytest.mark.parametrize(("name", "words"), [("no", "does not exist"), ("repo/run.sh", "is a file")])
def test_a_repository_that_is_none_is_refused(repo: Path, name: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        named_repository(Repository(repo.parent / name))


def test_a_home_in_the_name_is_this_user_s(repo: Path) -> None:
    assert named_repository(Repository(Path("~/repo"))).path == repo


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"it is broken\n", "it is broken\n"),
        (b"\xef\xbb\xbfmarked", "marked"),
        (b"caf\xe9 \0 x", "caf\N{REPLACEMENT CHARACTER} \N{REPLACEMENT CHARACTER} x"),
    ],
)
def test_an_issue_is_read_whatever_its_bytes_are(tmp_path: Path, content: bytes, text: str) -> None:
    (tmp_path / "issue.md").write_bytes(content)
    assert read_issue(tmp_path / "issue.md") == text
    assert issue_text(content, "stdin") == text


def empty(file: Path) -> None:
    file.write_bytes(b" \n\t\n")


def huge(file: Path) -> None:
    file.touch()
    os.truncate(file, ISSUE_BYTES + 1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (empty, "empty"),
        (huge, "larger than 16 MiB"),
        (Path.mkdir, "cannot be read"),
        (Path.exists, "cannot be read"),
    ],
    ids=["empty", "huge", "folder", "missing"],
)
def test_an_issue_that_says_nothing_is_refused(tmp_path: Path, make: Callable[[Path], object], words: str) -> None:
    make(tmp_path / "issue.md")
    with pytest.raises(UserError, match=f"--issue .*issue.md .*{words}"):
        read_issue(tmp_path / "issue.md")


def test_an_issue_in_utf16_is_read_and_one_that_is_no_text_is_refused() -> None:
    assert issue_text("Größe falsch".encode("utf-16"), "it") == "Größe falsch"
    with pytest.raises(UserError, match="it is no text"):
        issue_text(bytes(range(128, 256)) * 20, "it")
