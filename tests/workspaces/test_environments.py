"""Environments: those of the repository, those that a set-up makes, and those that a worker makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from repositories import checkout_of, repository, running, write

from treadle.errors import UserError
from treadle.workspaces import rules
from treadle.workspaces.base import Repository
from treadle.workspaces.checkout import open_checkout

MAKE = "mkdir -p .venv/lib/site node_modules/a && touch .venv/pyvenv.cfg .venv/lib/site/a.py node_modules/a/index.js"


async def test_what_is_installed_into_an_environment_of_the_setup_is_no_change(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {"calc.py": b"1\n", "tools/pyvenv.cfg": b"\n"})
    async with checkout_of(Repository(source, setup=MAKE), tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        write(work, {".venv/lib/site/a.py": b"c\n", ".venv/lib/site/new.py": b"n\n", "node_modules/b/index.js": b""})
        (work / "node_modules/a/index.js").unlink()
        write(work, {"calc.py": b"2\n", "own/pyvenv.cfg": b"\n", "own/lib.py": b"\n", "tools/new.py": b"\n"})
        patch = await checkout.patch()
        (work / ".venv/pyvenv.cfg").unlink()
        assert (await checkout.patch()).content == patch.content
    assert {each.path for each in patch.files} == {"calc.py", "tools/new.py"}
    assert {each.path: each.reason for each in patch.left_out} == dict.fromkeys(
        (".venv", "node_modules", "own"), rules.ENVIRONMENT
    )


async def test_a_setup_makes_what_the_repository_has_as_an_environment(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {"calc.py": b"1\n", ".gitignore": b".venv\nnode_modules\n"})
    write(source, {".venv/pyvenv.cfg": b"mine\n", "node_modules/a/index.js": b"mine\n"})
    test = "grep -q made .venv/pyvenv.cfg && grep -q mine node_modules/a/index.js"
    for setup, passed in (("echo made > .venv/pyvenv.cfg", True), ("rm -r .venv", False), ("true", False)):
        given = Repository(source, setup=setup, test=test)
        async with running("auto") as run, open_checkout(given, tmp_path / "aside", run) as checkout:
            if not run.sandbox.traits.places:
                pytest.skip(f"{run.sandbox.name} shows folders where they are")
            assert (await checkout.test(await checkout.patch(), run)).passed == passed
            assert (source / ".venv" in checkout.workspace.readable) == (setup == "true")
            assert any("read-only" in each and "node_modules" in each for each in checkout.remarks)
    assert (source / ".venv/pyvenv.cfg").read_bytes() == b"mine\n"


async def test_remarks_say_where_environments_are(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {"calc.py": b"1\n", ".gitignore": b".venv\n"})
    write(source, {".venv/pyvenv.cfg": b"mine\n"})
    async with checkout_of(source, tmp_path / "aside") as checkout:
        assert f"not copied, and not in the copy: .venv (they are in {source})" in checkout.remarks
    with pytest.raises(UserError, match=r"\.venv.*--readable"):
        async with checkout_of(Repository(source, setup=".venv/bin/pip install -e ."), tmp_path / "aside"):
            pass
