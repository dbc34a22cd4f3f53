"""Help: an example everywhere, nothing heavy loaded for it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

Command = Callable[..., tuple[int, str, str]]
COMMANDS = ("init", "doctor", "models", "run", "eval", "baseline", "compare", "samples", "search", "runs", "trace")
HEAVY = ("numpy", "scipy", "aiohttp", "sqlalchemy", "rich", "math_verify", "jsonschema", "genai_prices")


@pytest.mark.parametrize("words", [*((name,) for name in COMMANDS), ("models", "pull")])
def test_every_command_has_help_with_an_example(treadle: Command, words: tuple[str, ...]) -> None:
    code, out, err = treadle(*words, "--help")
    assert (code, err) == (0, "")
    assert f"  Example:\n    treadle {' '.join(words)}" in out
    assert "--json" in out
    assert "--config FILE" in out


@pytest.mark.parametrize("name", ["run", "eval", "baseline", "compare", "search"])
def test_every_command_that_asks_models_has_the_shared_options(treadle: Command, name: str) -> None:
    out = treadle(name, "--help")[1]
    caps = [f"--budget-{unit}" for unit in ("usd", "calls", "tokens", "seconds")]
    caps += [f"--max-{unit}-per-sample" for unit in ("calls", "usd", "seconds")]
    for option in (*caps, "--dry-run", "--model", "--models", "--role", "--seed", "--fresh"):
        assert f"  {option} " in out, option


def test_the_list_of_commands_is_in_the_order_in_which_they_are_met(treadle: Command) -> None:
    code, out, _ = treadle("--help")
    assert code == 0
    listed = out.partition("Commands:")[2]
    places = [listed.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)
    assert treadle()[1] == out
    assert "Later: classify" in out


def test_the_version_is_the_package_s(treadle: Command) -> None:
    from importlib.metadata import version

    assert treadle("--version") == (0, f"treadle {version('treadle')}\n", "")


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom treadle.cli.main import main\nmain(['--help'])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
