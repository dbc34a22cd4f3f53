"""The documentation holds: links resolve, examples run, commands parse, and every name that it documents exists."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer

import treadle
from markdown_pages import PAGES, ROOT, Fence, anchors, fences, headings, inline_code, links
from treadle.cli.app import app
from treadle.config import settings_from

RUNNABLE = 'title="run"'
TREADLE: Any = typer.main.get_command(app)
SCRIPT = '''\
import re

def reply(request):
    """Doubles the first number of the question; every third draw is wrong."""
    numbers = re.findall(r"\\d+", request.messages[-1].content)
    value = 2 * int(numbers[0]) + (request.draw % 3 == 2) if numbers else 0
    return f'{{"answer": "{value}"}}' if request.schema else f"Answer: {value}"
'''
CONFIG = """\
[models.small]
model = "scripted:model.py"
price = { input = 1.0, output = 2.0 }
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that CONTRIBUTING.md promises to examples."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "treadle.toml").write_text(CONFIG)
    (tmp_path / "model.py").write_text(SCRIPT)
    rows = [f'{{"id": "q{n}", "input": "What is {n} + {n}?", "target": {2 * n}}}\n' for n in range(1, 31)]
    (tmp_path / "questions.jsonl").write_text("".join(rows))
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} leads nowhere"
        assert target.is_relative_to(ROOT), f"{link} leaves the project"
        assert not anchor or anchor in anchors(target), f"{link}: there is no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_shows_a_folder_of_the_machine_it_was_written_on(page: Path) -> None:
    assert re.findall(r"(?<![\w.])/(?:root|work|tmp|Users|home/(?!you/))\S*", page.read_text()) == []


@pytest.mark.parametrize("example", [each for each in fences("python") if each.marks == RUNNABLE], ids=str)
def test_examples_run(example: Fence, place: Path) -> None:
    file = place / "example.py"
    file.write_text(example.text)
    runpy.run_path(str(file), run_name="example")


def test_other_examples_are_at_least_python() -> None:
    others = [each for each in fences("python") if each.marks != RUNNABLE]
    for example in others:
        compile(example.text, str(example), "exec")
        assert not example.marks, f"{example}: {example.marks} means nothing here"


def test_every_toml_example_loads(tmp_path: Path) -> None:
    examples = fences("toml")
    assert examples
    for example in examples:
        settings_from(tomllib.loads(example.text), tmp_path / f"{example.page.stem}-{example.line}.toml")


def test_every_json_example_is_json() -> None:
    for example in fences("json"):
        try:
            msgspec.json.decode(example.text)
        except msgspec.DecodeError:
            assert [msgspec.json.decode(line) for line in example.text.splitlines()], str(example)


def commands() -> Iterator[tuple[str, list[str]]]:
    """Every command line that a page shows, with where it stands: words up to a pipe or a redirection."""
    for fence in fences("console", "sh"):
        begin = r"\$ treadle" if fence.language == "console" else "treadle"
        for found in re.finditer(rf"^{begin} +(.+)$", fence.text, re.MULTILINE):
            words = shlex.split(found[1], comments=True)
            ends = [place for place, word in enumerate(words) if word in ("|", ">", "&&", ";", "<")]
            yield f"{fence}: {found[0]}", words[: ends[0]] if ends else words


def find_command(words: list[str]) -> tuple[Any, list[str]]:
    """The command that some words begin with, and the rest of them."""
    command, rest = TREADLE, list(words)
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    return command, rest


def test_every_command_line_parses() -> None:
    seen = 0
    for where, words in commands():
        command, rest = find_command(words)
        assert command is not TREADLE or rest == ["--version"], f"{where}: there is no such command"
        try:
            command.make_context(command.name, rest)
        except typer.TyperException as error:
            pytest.fail(f"{where}: {error.format_message()}")
        seen += 1
    assert seen > 30


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_running_text_exist_with_their_options(page: Path) -> None:
    for code in inline_code(page):
        if code == "treadle" or not code.startswith("treadle "):
            continue
        command, rest = find_command(code.split()[1:])
        assert command is not TREADLE or rest[:1] in (["--help"], ["--version"], ["COMMAND"], ["…"]), code
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        options = {word for word in rest if word.startswith("--")} - {"--help"}
        assert command.hidden or options <= known, code


def test_the_readme_names_how_to_test_and_to_demonstrate() -> None:
    shown = "\n".join(fence.text for fence in fences("sh") if fence.page.name == "README.md")
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for target in ("test", "demo"):
        assert f"make {target}" in shown
        assert target in targets


def test_make_targets_that_pages_name_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {name for page in PAGES for code in inline_code(page) for name in re.findall(r"^make ([a-z-]+)$", code)}
    named |= {name for fence in fences("sh") for name in re.findall(r"^make ([a-z-]+)", fence.text, re.MULTILINE)}
    assert named
    assert named <= targets


def test_the_names_documented_for_python_are_the_public_ones() -> None:
    documented = [
        name for title in headings(ROOT / "docs/reference/python.md") for name in re.findall(r"`treadle\.(\w+)`", title)
    ]
    assert sorted(documented) == sorted(treadle.__all__)
