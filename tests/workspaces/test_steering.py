"""Which files of a tree steer a test run, and what a patch of them can say."""

from __future__ import annotations

from pathlib import Path

import pytest
from repositories import repository, running

from treadle.workspaces.base import Repository
from treadle.workspaces.checkout import open_checkout
from treadle.workspaces.steering import first_folders, steering_files


def test_what_steers_a_test_run(tmp_path: Path) -> None:
    steering = [
        "conftest.py",
        "a/b/conftest.py",
        "pytest.ini",
        "src/x.egg-info/entry_points.txt",
        "json.py",
        "sitecustomize.py",
    ]
    others = ["a/json.py", "calc.py", "docs/conf.py", "a/pytest.py", ".git/conftest.py"]
    for each in (*steering, *others):
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text("")
    (tmp_path / "y.egg-info").symlink_to("a")
    (tmp_path / "_pytest").mkdir()
    assert steering_files(tmp_path) == {*steering, "_pytest", "y.egg-info"}


@pytest.mark.parametrize(
    ("command", "folders"),
    [
        ("python -m pytest", {""}),
        ("cd back && python -m pytest", {"", "back"}),
        ("(cd back; make) && cd /repo/front/app && pytest", {"", "back", "front/app"}),
        ("cd a && cd b && pytest", {"", "a", "b", "a/b"}),
        ("sh -c 'cd back && pytest'", {"", "back"}),
        ("PYTHONPATH=src:lib/x python -m pytest", {"", "src", "lib/x"}),
        ("env PYTHONPATH=/elsewhere:. pytest; cd ..; cd", {""}),
        ("cd back && pytest 'unclosed", {"", "back"}),
        ("python tools/check.py && cd back && python deep/check.py", {"", "tools", "back", "deep", "back/deep"}),
    ],
)
def test_where_modules_are_looked_for_first(command: str, folders: set[str]) -> None:
    assert first_folders(command, Path("/repo")) == folders


def test_what_stands_before_other_modules_there(tmp_path: Path) -> None:
    for each in ("back/pytest.py", "back/deep/json.py", "other/pytest.py"):
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text("")
    assert steering_files(tmp_path) == set()
    assert steering_files(tmp_path, {"", "back"}) == {"back/pytest.py"}


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("python3 -m calc_test", "json.py"),
        ("cd back && python3 -m calc_test", "back/json.py"),
        ("PYTHONPATH=src:back python3 -m calc_test", "src/json.py"),
        ("PYTHONPATH=. python3 back/calc_test.py", "back/json.py"),
    ],
)
async def test_a_module_put_before_another_decides_nothing(tmp_path: Path, command: str, file: str) -> None:
    test = b"import json\nimport calc\nassert calc.double(2) == 4\n"
    broken = b"def double(x):\n    return x + 1\n"
    files = {f"{at}{name}.py": text for at in ("", "back/") for name, text in (("calc", broken), ("calc_test", test))}
    source = Repository(repository(tmp_path / "r", files), test=command)
    async with running() as run, open_checkout(source, tmp_path / "aside", run) as checkout:
        cheat = checkout.workspace.folder / file
        cheat.parent.mkdir(exist_ok=True)
        cheat.write_text("raise SystemExit(0)\n")
        tested = await checkout.test(await checkout.patch(), run)
    assert not tested.passed
    assert tested.steering == (file,)
