"""Where the repositories of SWE-bench's instances are: laid out with interpreters, or clones that hold a commit."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from treadle.errors import UserError
from treadle.parsing.test_logs import LogStyle
from treadle.tasks.swe_rows import Instance
from treadle.workspaces.base import Repository

T = TypeVar("T")
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
_SHIM_SECONDS = 20
_AUTHOR = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "base"), ("EMAIL", "base@localhost"), ("DATE", "1000000000 +0000"))
}
_layout_lock = threading.Lock()
COMMANDS: Mapping[LogStyle, str] = {
    "pytest": "{python} -m pytest -rA --tb=no -p no:cacheprovider {files}",
    "django": "{python} tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1 {files}",
    "sympy": "PYTHONWARNINGS='ignore::UserWarning,ignore::SyntaxWarning' {python} bin/test -C --verbose {files}",
}
"""The test command of each style, where none is given."""


@dataclass(frozen=True, slots=True)
class Clone:
    """A commit of a repository that is laid out when it is first needed.

    Attributes:
        objects: The folder of the repository's objects.
        commit: The commit.
        target: Where its files are laid out, as a repository of one commit.
    """

    objects: Path
    commit: str
    target: Path


@dataclass(frozen=True, slots=True)
class Layout:
    """An instance's repository, and how it is tested.

    Attributes:
        repository: What a workflow works on.
        python: The interpreter of its tests.
        command: The test command, with ``{python}`` and ``{files}``.
        style: How its log is read.
        clone: What is laid out first; ``None`` where the repository is there.
    """

    repository: Repository
    python: Path
    command: str
    style: LogStyle
    clone: Clone | None = None

    def ready(self) -> Repository:
        """The repository, laid out.

        Raises:
            UserError: It cannot be laid out.
        """
        if self.clone is not None and not self.clone.target.is_dir():
            with _layout_lock:
                if not self.clone.target.is_dir():
                    _finished(_lay_out(self.clone))
        return self.repository


@dataclass(frozen=True, slots=True)
class Found:
    """Where an instance's repository is, and what it has to be tested with."""

    path: Path
    python: Path | None = None
    clone: Clone | None = None


def find_repositories(folder: Path, instances: Iterable[Instance], below: Path) -> dict[str, Found]:
    """Where the repository of each instance is.

    Args:
        folder: Holds ``<instance id>/repo`` with ``<instance id>/venv`` beside it, or clones named ``<owner>__<name>``,
            ``<owner>/<name>`` or ``<name>``.
        instances: The instances.
        below: Where commits of clones are laid out.

    Raises:
        UserError: A repository is missing, or lacks the commit.
    """
    found: dict[str, Found] = {}
    wanted: dict[Path, list[Instance]] = {}
    for instance in instances:
        home = folder / instance.id
        if (home / "repo").is_dir():
            python = home / "venv/bin/python"
            found[instance.id] = Found(home / "repo", python if python.exists() else None)
            continue
        objects = _objects(folder, instance)
        target = below / f"{instance.id}-{instance.base_commit[:12]}"
        found[instance.id] = Found(target, clone=Clone(objects, instance.base_commit, target))
        wanted.setdefault(objects, []).append(instance)
    for objects, its in wanted.items():
        missing = _finished(_missing(objects, [each.base_commit for each in its]))
        if missing:
            lacking = next(each for each in its if each.base_commit == missing[0])
            raise UserError(
                f"{objects.parent} lacks {len(missing)} of the commits, the first {missing[0][:12]} of {lacking.id}: "
                "fetch them (a shallow clone lacks most), or name another folder with ?repos="
            )
    return found


def interpreter(named: str, folder: Path) -> Path:
    """The interpreter that a name means: a path, or a command of the ``PATH``.

    Raises:
        UserError: There is none.
    """
    program = shutil.which(named) if "/" not in named else str(folder / Path(named).expanduser())
    if program is None or not os.access(program, os.X_OK):
        raise UserError(f"?python={named}: there is no such interpreter; name one that can run the tests")
    program = _behind_shim(program)
    return Path(os.path.abspath(program))  # noqa: PTH100  a link stays one: it is what makes it a virtual environment's


def _behind_shim(program: str) -> str:
    """The interpreter that a script such as pyenv's starts, for the script itself does not work elsewhere."""
    with Path(program).open("rb") as file:
        if file.read(2) != b"#!":
            return program
    asked = [program, "-c", "import sys; print(sys.executable)"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=_SHIM_SECONDS).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return program
    return told or program


def with_interpreter(repository: Repository, python: Path) -> Repository:
    """A repository whose commands find an interpreter as ``python`` and may read what it needs.

    Args:
        repository: As it is otherwise.
        python: The interpreter.
    """
    from treadle.sandbox.interpreters import readable_for

    env = {**repository.env, "PATH": f"{python.parent}:{_SYSTEM_PATH}"}
    if (python.parent.parent / "pyvenv.cfg").is_file():
        env["VIRTUAL_ENV"] = str(python.parent.parent)
    readable = tuple(dict.fromkeys((*repository.readable, *readable_for(python))))
    return replace(repository, env=env, readable=readable)


def _objects(folder: Path, instance: Instance) -> Path:
    from treadle.workspaces.git_folder import find_git_folder

    owner, name = instance.repo.split("/")
    for place in (folder / f"{owner}__{name}", folder / owner / name, folder / name):
        for bare in (place, place.with_name(f"{place.name}.git")):
            if (bare / "objects").is_dir() and (bare / "HEAD").is_file():
                return bare.resolve() / "objects"
        source = find_git_folder(place) if place.is_dir() else None
        if source is not None:
            return source.common / "objects"
    raise UserError(
        f"{folder}: no repository for {instance.id}: neither {instance.id}/repo nor a clone of {instance.repo} called "
        f"{owner}__{name}, {owner}/{name} or {name}; name the folder that holds it with ?repos="
    )


async def _missing(objects: Path, commits: list[str]) -> list[str]:
    """The commits that a repository has not."""
    from treadle.workspaces.git import Git, make_git_directory

    with tempfile.TemporaryDirectory(prefix="treadle-") as aside:
        view = Path(aside) / "view.git"
        make_git_directory(view, objects=objects)
        asked = "".join(f"{each}^{{commit}}\n" for each in commits).encode()
        lines = (await Git(view).output("cat-file", "--batch-check", stdin=asked)).decode().splitlines()
    return [commit for commit, line in zip(commits, lines, strict=True) if " commit " not in line]


async def _lay_out(clone: Clone) -> None:
    from treadle.workspaces.git import Git, make_git_directory

    clone.target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".laying-out-", dir=clone.target.parent) as aside:
        view, tree = Path(aside) / "view.git", Path(aside) / "repo"
        tree.mkdir()
        make_git_directory(view, objects=clone.objects)
        source = Git(view, tree=tree)
        await source.output("read-tree", clone.commit)
        await source.output("checkout-index", "-a")
        make_git_directory(tree / ".git", bare=False)
        own = Git(tree / ".git", tree=tree, env=_AUTHOR)
        await own.output("add", "-A", "-f", ".")
        files = (await own.output("write-tree")).decode().strip()
        commit = (await own.output("commit-tree", files, "-m", "base")).decode().strip()
        await own.output("update-ref", "refs/heads/main", commit)
        try:
            tree.rename(clone.target)
        except OSError:
            # Another process has laid out the same meanwhile.
            if not clone.target.is_dir():
                raise


def _finished(work: Coroutine[Any, Any, T]) -> T:
    """What comes of work that is asynchronous where nothing can wait for it: it has a loop of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(work)).result()
