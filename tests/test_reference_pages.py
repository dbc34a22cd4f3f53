"""The reference names exactly what exists: commands, options, settings, tasks, scorers, errors, fields of documents."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer

from markdown_pages import PAGES, ROOT, first_column, inline_code, sections
from treadle import errors
from treadle.cli.app import app
from treadle.cli.commands.later import NAMES as LATER
from treadle.cli.main import main
from treadle.config import ROLES, SANDBOX_KINDS, BudgetSettings, SandboxSettings, StoreSettings
from treadle.config_models import ModelSettings, PriceSettings
from treadle.errors import FAILURE_CLASSES
from treadle.models.registry import OPENAI_COMPATIBLE, VENDORS
from treadle.models.simulated import Ability
from treadle.tasks.open import TASK_NAMES
from treadle.tasks.scorers.open import SCORER_NAMES

REFERENCE = ROOT / "docs" / "reference"
COMMAND_LINE = sections(REFERENCE / "command-line.md")
CONFIGURATION = sections(REFERENCE / "configuration.md")
SHARED = {title.lower().replace(" ", "-"): COMMAND_LINE[title] for title in ("Every command", "Models", "Budgets")} | {
    title.lower(): COMMAND_LINE[title] for title in ("Draws", "Programs", "Measuring")
}


def all_commands() -> dict[str, Any]:
    """Every command that the help lists, by its words."""
    top: Any = typer.main.get_command(app)
    found: dict[str, Any] = {}
    for name, command in top.commands.items():
        if not command.hidden:
            found[f"treadle {name}"] = command
            found |= {f"treadle {name} {sub}": each for sub, each in getattr(command, "commands", {}).items()}
    return found


def options_in(text: str) -> set[str]:
    """The options in the first column of a section's tables."""
    return {span.split()[0] for span in first_column(text) if span.startswith("--")}


def test_every_command_has_a_section() -> None:
    documented = {title.strip("`") for title in COMMAND_LINE if title.startswith("`treadle ")}
    assert documented == set(all_commands())
    kept_free = COMMAND_LINE["Names that are kept free"]
    assert set(re.findall(r"`([a-z]+)`", kept_free)) == set(LATER)


@pytest.mark.parametrize("name", all_commands())
def test_every_option_is_documented_and_no_other(name: str) -> None:
    section = COMMAND_LINE[f"`{name}`"]
    documented = options_in(section)
    for group in re.findall(r"\]\(#([a-z-]+)\)", section):
        documented |= options_in(SHARED[group])
    real = {
        option
        for parameter in all_commands()[name].params
        if parameter.param_type_name == "option"
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option.startswith("--")
    }
    assert documented - {"--help"} == real - {"--help"}


def test_every_key_of_the_configuration_is_documented() -> None:
    def names(kind: Any) -> set[str]:
        return {each.name for each in fields(kind)}

    models = CONFIGURATION["`[models.<alias>]`"]
    assert set(first_column(models)) == names(ModelSettings)
    assert all(f"`{name}`" in models for name in names(PriceSettings))
    assert set(first_column(CONFIGURATION["`[store]`"])) == names(StoreSettings)
    assert set(first_column(CONFIGURATION["`[budget]`"])) == names(BudgetSettings)
    sandbox = CONFIGURATION["`[sandbox]`"]
    assert set(first_column(sandbox)) == {*names(SandboxSettings), *SANDBOX_KINDS}
    assert all(f"`{role}`" in CONFIGURATION["`[roles]`"] for role in ROLES)
    assert set(first_column(CONFIGURATION["Simulated models"])) == names(Ability)


def test_the_defaults_of_the_configuration_are_the_real_ones() -> None:
    written = dict(re.findall(r"^\| `(\w+)` \|[^|]*\| ([\d.]+) \|$", CONFIGURATION["Simulated models"], re.MULTILINE))
    real = Ability()
    assert {name: float(value) for name, value in written.items()} == {
        each.name: float(getattr(real, each.name)) for each in fields(Ability)
    }
    models = CONFIGURATION["`[models.<alias>]`"]
    for name in ("timeout_s", "retries"):
        row = next(line for line in models.splitlines() if line.startswith(f"| `{name}`"))
        assert row.endswith(f"| {getattr(ModelSettings('x:y'), name):g} |")
    sandbox = dict(re.findall(r"^\| `(\w+)` \|[^|]*\| (\S+) \|$", CONFIGURATION["`[sandbox]`"], re.MULTILINE))
    default = SandboxSettings()
    assert sandbox == {
        each.name: f"`{value}`" if isinstance(value := getattr(default, each.name), str) else f"{value:g}"
        for each in fields(SandboxSettings)
    }


def test_every_provider_is_documented() -> None:
    assert set(first_column(CONFIGURATION["Providers"])) == {
        *OPENAI_COMPATIBLE,
        *VENDORS,
        "local",
        "scripted",
        "simulated",
    }


def test_every_task_and_scorer_is_documented() -> None:
    page = sections(REFERENCE / "tasks-and-scorers.md")
    tasks = {name.partition(":")[0] for name in first_column(page["Tasks"])}
    assert tasks == {*TASK_NAMES, "module"}
    assert {name.partition(":")[0] for name in first_column(page["Scorers"])} == {*SCORER_NAMES, "module"}


def test_every_error_is_documented() -> None:
    tree = {name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Exception)}
    assert set(first_column(sections(REFERENCE / "errors.md")["Errors"])) == tree
    classes = first_column(sections(ROOT / "docs" / "design" / "failures.md")["Classes"])
    assert classes == [*FAILURE_CLASSES, "unfinished"]


def test_every_dotted_name_that_a_page_shows_exists() -> None:
    shown = {code for page in PAGES for code in inline_code(page) if re.fullmatch(r"treadle(\.\w+)+", code)}
    assert "treadle.search.settings.SearchSettings" in shown
    for name in shown - {"treadle.toml"}:
        pkgutil.resolve_name(name)


def test_the_exit_codes_are_the_real_ones() -> None:
    from treadle.cli import codes

    documented = re.findall(r"^\| (\d+) \|", (REFERENCE / "exit-codes.md").read_text(), re.MULTILINE)
    real = {codes.DONE, codes.UNUSABLE, codes.MISTAKE, codes.LIMITED, codes.INTERRUPTED}
    assert {int(code) for code in documented} == real


Command = Callable[..., Any]


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Gives the JSON document of a command line, in a folder with a scripted model and a task."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(
        "def reply(request):\n    return f'Answer: {len(request.messages[-1].content) % 7 + request.draw % 2}'\n"
    )
    (tmp_path / "treadle.toml").write_text(
        '[models.small]\nmodel = "scripted:model.py"\nprice = { input = 1.0, output = 2.0 }\n'
    )
    rows = [f'{{"id": "q{n}", "input": "What is {"1 + " * (n % 5)}1?", "target": {n % 5 + 1}}}\n' for n in range(30)]
    (tmp_path / "questions.jsonl").write_text("".join(rows))

    def run(*words: str) -> Any:
        capsys.readouterr()
        assert main([*words, "--json"]) == 0, capsys.readouterr().err
        return msgspec.json.decode(capsys.readouterr().out)

    return run


def example(title: str) -> Any:
    """The document that the reference shows under a heading."""
    section = sections(REFERENCE / "json.md")[f"`{title}`"]
    return msgspec.json.decode(section.partition("```json\n")[2].partition("```")[0])


def assert_same_fields(shown: Any, real: Any, where: str = "document") -> None:
    """The same names at every place; lists are compared by their first elements."""
    if isinstance(shown, dict) and isinstance(real, dict):
        assert list(shown) == list(real), where  # pyright: ignore[reportUnknownArgumentType]
        for name in shown:  # pyright: ignore[reportUnknownVariableType]
            assert_same_fields(shown[name], real[name], f"{where}.{name}")
    elif isinstance(shown, list) and isinstance(real, list) and shown and real:
        assert_same_fields(shown[0], real[0], f"{where}[0]")


TASK = ("--task", "jsonl:questions.jsonl")


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("eval", ("eval", "single", *TASK)),
        ("compare", ("compare", "cot", "single", *TASK)),
        ("ablate", ("ablate", "archon:3g > r1", *TASK, "--margin", "100")),
        ("run", ("run", "self-consistency?n=3", "What is 1 + 1?")),
        ("search", ("search", "--space", "workflows:single,cot,self-consistency?n=3", *TASK)),
        ("--dry-run", ("eval", "single", *TASK, "--dry-run")),
        ("models", ("models",)),
        ("doctor", ("doctor",)),
        ("samples", ("samples", "--effect", "5", "--n", "200")),
    ],
)
def test_documents_have_the_fields_that_the_reference_shows(
    document: Command, title: str, words: tuple[str, ...]
) -> None:
    assert_same_fields(example(title), document(*words))


def test_the_document_of_baseline_is_that_of_eval_and_two_fields(document: Command) -> None:
    real = document("baseline", "--repeat", "2", *TASK)
    assert list(real) == [*example("eval"), *example("baseline")]
    assert_same_fields(example("baseline")["comparisons"], real["comparisons"])


def test_runs_and_traces_have_the_fields_that_the_reference_shows(document: Command) -> None:
    run = document("eval", "single", *TASK)["run"]
    assert_same_fields(example("runs"), document("runs"))
    assert_same_fields(example("trace"), document("trace", run))
