"""Where a sandbox cannot show a copy in the original's place: what would run the original, and proves nothing."""

from __future__ import annotations

import sys
import venv
from pathlib import Path

import pytest
from repositories import checkout_of, repository, running

from treadle.errors import SandboxError, UserError
from treadle.workspaces.base import Patch, Repository
from treadle.workspaces.checkout import open_checkout
from treadle.workspaces.originals import installed_from, original_used

MARK = {
    "own.pth": "{place}/src\n",
    "own.egg-link": "{place}\n.",
    "__editable___own_finder.py": "MAPPING = {{'own': '{place}/src/own'}}\n",
    "own-1.dist-info/direct_url.json": '{{"url": "file://{place}", "dir_info": {{"editable": true}}}}',
}
"""What installers write, by the name of the file."""


def environment(folder: Path, name: str = "", content: str = "") -> Path:
    venv.create(folder, symlinks=True)
    if name:
        (site,) = folder.glob("lib/python*/site-packages")
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text(content)
    return folder / "bin/python"


def used(test: str, original: Path, setup: str = "", env: dict[str, str] | None = None) -> str:
    return original_used(test, setup, env or {}, original, original.parent, places=(original,), apart=(".venv",))


@pytest.mark.parametrize("name", MARK)
def test_every_way_to_install_in_editable_form_is_seen(tmp_path: Path, name: str) -> None:
    original, other = tmp_path / "r", tmp_path / "r2"
    python = environment(tmp_path / "venv", name, MARK[name].format(place=original))
    assert installed_from(python, original)
    assert not installed_from(python, other)
    assert not installed_from(environment(tmp_path / "longer", name, MARK[name].format(place=other)), original)


def test_a_copy_that_was_installed_is_no_editable_install(tmp_path: Path) -> None:
    url = f'{{"url": "file://{tmp_path}/r", "dir_info": {{}}}}'
    assert not installed_from(environment(tmp_path / "venv", "own-1.dist-info/direct_url.json", url), tmp_path / "r")


def test_interpreters_are_found_however_a_command_names_them(tmp_path: Path) -> None:
    original = tmp_path / "r"
    python = environment(tmp_path / "venv", "own.pth", f"{original}\n")
    environment(original / ".venv", "own.pth", f"{original}\n")
    script = tmp_path / "bin/own-tests"
    script.parent.mkdir()
    script.write_text(f"#!{python}\n")
    script.chmod(0o755)
    for test in (
        f"{python} -m pytest",
        f"cd tests && '{python}' run.py",
        f"PYTHON={python} make test",
        f'sh -c "{python} -m pytest"',
        f". {python.parent}/activate; pytest",
        f"{script}",
        f"echo 'unbalanced; {python} -m pytest",
        "../venv/bin/python -m pytest",
        f"{original}/.venv/bin/python -m pytest",
    ):
        assert "imports from" in used(test, original), test
    assert "imports from" in used("make test", original, setup=f"{python} build.py")
    assert "imports from" in used("python -m pytest", original, env={"PATH": str(python.parent)})
    assert "is not in it" in used(".venv/bin/python -m pytest", original)
    plain = environment(tmp_path / "plain")
    assert used(f"{plain} -m pytest | tail -3 > /dev/null", original) == ""
    assert used(f"{sys.executable} -m pytest", original) == ""


def test_the_original_named_in_full_is_the_original(tmp_path: Path) -> None:
    original = tmp_path / "r"
    for test in (f"cd {original} && make", f"PYTHONPATH={original}/src make"):
        assert "names" in used(test, original)
    assert "names" in used("make", original, env={"PYTHONPATH": f"/x:{original}/src"})
    assert used(f"ls {original}2", original) == ""


async def test_nothing_is_claimed_where_the_test_would_run_the_original(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {"src/own.py": b"VALUE = 1\n"})
    python = environment(tmp_path / "venv", "own.pth", f"{source}/src\n")
    test = f"{python} -c 'import own; assert own.VALUE == 1'"
    async with running() as run, open_checkout(Repository(source, test=test), tmp_path / "aside", run) as checkout:
        assert "imports from" in checkout.untestable
        assert checkout.untestable in checkout.remarks
        with pytest.raises(SandboxError, match="imports from"):
            await checkout.test(Patch(), run)
    async with (
        running("auto") as run,
        open_checkout(
            Repository(source, test=test, readable=(tmp_path / "venv", Path(sys.base_prefix))), tmp_path / "aside", run
        ) as checkout,
    ):
        if not run.sandbox.traits.places:
            pytest.skip(f"{run.sandbox.name} shows folders where they are")
        assert not checkout.untestable
        (checkout.workspace.folder / "src/own.py").write_bytes(b"VALUE = 2\n")
        assert "AssertionError" in (await checkout.test(await checkout.patch(), run)).output


async def test_an_interpreter_that_is_not_in_the_copy_says_nothing_of_it(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {"own.py": b"VALUE = 1\n", ".gitignore": b".venv\n"})
    environment(source / ".venv")
    for test, untestable in ((".venv/bin/python -c 1", True), (f"{source}/.venv/bin/python -c 1", False)):
        async with running() as run, open_checkout(Repository(source, test=test), tmp_path / "aside", run) as checkout:
            assert bool(checkout.untestable) == untestable
            assert untestable or (await checkout.test(Patch(), run)).passed
    given = Repository(source, setup=f"{sys.executable} -m venv --without-pip .venv", test=".venv/bin/python -c 1")
    async with running() as run, open_checkout(given, tmp_path / "aside", run) as checkout:
        assert (await checkout.test(Patch(), run)).passed


async def test_what_the_setup_installs_in_editable_form_is_not_what_is_tested(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {"own.py": b"VALUE = 1\n"})
    site = f".venv/lib/python3.{sys.version_info.minor}/site-packages"
    setup = f"{sys.executable} -m venv --without-pip .venv; mkdir -p {site}; pwd > {site}/own.pth"
    given = Repository(source, setup=setup, test=".venv/bin/python -c 1")
    async with checkout_of(given, tmp_path / "aside") as checkout:
        assert "imports from" in checkout.untestable


async def test_a_sandbox_without_places_says_so(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {"own.py": b"VALUE = 1\n"})
    async with checkout_of(Repository(source, test="true"), tmp_path / "aside") as checkout:
        assert any(f"not at {source}" in each for each in checkout.remarks)
        assert not checkout.untestable


async def test_a_sandbox_that_runs_nothing_is_found_out_at_once(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {"own.py": b"VALUE = 1\n"})
    with pytest.raises(UserError, match=r"no command runs.*/nowhere"):
        async with checkout_of(Repository(source, readable=(Path("/nowhere"),)), tmp_path / "aside"):
            pass
    assert not (tmp_path / "aside").exists()


async def test_those_who_only_look_cannot_change_the_workers_files(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {"own.py": b"VALUE = 1\n"})
    for sandbox in ("none", "auto"):
        async with running(sandbox) as run, open_checkout(Repository(source), tmp_path / "aside", run) as checkout:
            async with checkout.look() as first, checkout.look() as second:
                await first.shell("echo hacked > own.py; echo x > new.py", run)
                assert (await second.shell("cat own.py; ls", run)).stdout == "VALUE = 1\nown.py\n"
            assert await checkout.patch() == Patch()
            assert sorted(each.name for each in (tmp_path / "aside").iterdir() if "trial" in each.name) == []
