"""treadle.toml: what it gives, and what it is refused for."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.config import (
    SANDBOX_KINDS,
    BudgetSettings,
    SandboxSettings,
    Settings,
    StoreSettings,
    canonical_role,
    find_config,
    load_settings,
    secret_values,
    settings_from,
)
from treadle.config_models import ModelSettings, PriceSettings
from treadle.config_template import starter_config
from treadle.errors import ConfigError, UnknownNameError
from treadle.sandbox import choose

WHOLE = """
[models.weak]
model = "openai:gpt-5-mini"
base_url = "http://127.0.0.1:8000/v1/"
api_key_env = "MY_KEY"
timeout_s = 60
max_concurrency = 8
requests_per_minute = 600
tokens_per_minute = 2_000_000
retries = 0
price = { input = 0.25, cached_input = 0.025, cache_write = 0.3, output = 2 }
settings = { temperature = 0.7, max_tokens = 4096, stop = ["\\n"], stream = true }
[models.big]
model = "local:models/big.gguf"
[roles]
strong = "big"
weak = "weak"
judge = "anthropic:claude-sonnet-4-5"
optimizer = "given by a command"
[store]
url = "sqlite:///runs.db"
[budget]
usd = 5.0
calls = 1_000
tokens = 0
[sandbox]
kind = "landlock"
seconds = 2.5
memory_mb = 256
"""
WEAK = '[models.weak]\nmodel = "openai:gpt-5-mini"\n'
KEY = "sk-proj-4fJ2kd83LmQ0"


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "treadle.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(folder: Path, text: str | bytes) -> str:
    with pytest.raises(ConfigError) as caught:
        load_settings(write(folder, text))
    message = str(caught.value)
    assert message.startswith(f"{folder / 'treadle.toml'}: ")
    assert len(message.splitlines()) <= 2
    return message.removeprefix(f"{folder / 'treadle.toml'}: ")


def test_a_whole_file_becomes_typed_settings(tmp_path: Path) -> None:
    path = write(tmp_path, WHOLE)
    assert load_settings(path) == Settings(
        models={
            "weak": ModelSettings(
                model="openai:gpt-5-mini",
                base_url="http://127.0.0.1:8000/v1",
                api_key_env="MY_KEY",
                timeout_s=60.0,
                max_concurrency=8,
                requests_per_minute=600.0,
                tokens_per_minute=2e6,
                retries=0,
                price=PriceSettings(input=0.25, output=2.0, cached_input=0.025, cache_write=0.3),
                settings={"temperature": 0.7, "max_tokens": 4096, "stop": ["\n"], "stream": True},
            ),
            "big": ModelSettings("local:models/big.gguf"),
        },
        roles={
            "strong": "big",
            "weak": "weak",
            "judge": "anthropic:claude-sonnet-4-5",
            "optimiser": "given by a command",
        },
        store=StoreSettings("sqlite:///runs.db"),
        budget=BudgetSettings(usd=5.0, calls=1000, tokens=0),
        sandbox=SandboxSettings("landlock", seconds=2.5, memory_mb=256),
        folder=tmp_path,
        path=path,
    )


def test_without_a_file_every_default_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    defaults = load_settings(None)
    assert (defaults.models, defaults.roles, defaults.path) == ({}, {}, None)
    assert defaults.folder == tmp_path
    assert defaults.store.url == "sqlite:///.treadle/treadle.db"
    assert defaults.budget == BudgetSettings(usd=None, calls=None, tokens=None, seconds=None)
    assert load_settings(write(tmp_path, "")) == Settings(folder=tmp_path, path=tmp_path / "treadle.toml")


def test_the_kinds_of_sandbox_are_those_that_can_be_opened() -> None:
    assert set(SANDBOX_KINDS) == {"auto", *choose.OPENERS}


def test_the_starter_file_loads_and_each_of_its_commented_lines_would(tmp_path: Path) -> None:
    assert load_settings(write(tmp_path, starter_config())).models["practice"].model.startswith("simulated:")
    lines = [
        line.removeprefix("# ") if is_toml(line.removeprefix("# ")) else line for line in starter_config().split("\n")
    ]
    settings = load_settings(write(tmp_path, "\n".join(lines)))
    assert set(settings.models) == {"practice", "weak", "big", "server", "small"}
    assert settings.roles == {"strong": "practice", "weak": "weak", "judge": "big"}
    assert None not in (settings.budget.usd, settings.budget.calls, settings.budget.tokens, settings.budget.seconds)
    assert settings.models["weak"].price is not None


def is_toml(line: str) -> bool:
    try:
        return bool(tomllib.loads(line))
    except tomllib.TOMLDecodeError:
        return False


def test_the_nearest_file_upwards_is_found(tmp_path: Path) -> None:
    deep = tmp_path / "a/b/c"
    deep.mkdir(parents=True)
    (deep / "treadle.toml").mkdir()
    outer = write(tmp_path, "")
    assert find_config(deep) == outer
    inner = write(tmp_path / "a", "")
    assert find_config(deep) == inner
    assert find_config(tmp_path) == outer


def test_no_file_upwards_is_none(tmp_path: Path) -> None:
    found = find_config(tmp_path)
    assert found is None or found.parent not in (tmp_path, tmp_path.parent)


def test_a_file_found_from_a_relative_folder_has_an_absolute_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    write(tmp_path, WEAK)
    monkeypatch.chdir(tmp_path / "sub")
    assert find_config(Path()) == tmp_path / "treadle.toml"
    assert load_settings(Path("../treadle.toml")).folder.resolve() == tmp_path.resolve()


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.toml: there is no such file; `treadle init` writes one"):
        load_settings(tmp_path / "missing.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(tmp_path)


def test_what_is_not_toml_is_refused_with_its_line(tmp_path: Path) -> None:
    assert "line 3" in refusal(tmp_path, WEAK + "timeout_s = \n")
    assert "line 4 is not UTF-8" in refusal(tmp_path, b"\n" + WEAK.encode() + b"# caf\xe9\n")
    assert "twice" in refusal(tmp_path, WEAK + WEAK)
    assert "too deeply" in refusal(tmp_path, "a = " + "[" * 5000)
    assert "too deeply" in refusal(tmp_path, ".".join("a" * 5000) + " = 1")


def test_a_byte_order_mark_and_other_line_ends_are_no_mistake(tmp_path: Path) -> None:
    path = write(tmp_path, b"\xef\xbb\xbf" + WEAK.replace("\n", "\r\n").encode())
    assert load_settings(path).models["weak"].model == "openai:gpt-5-mini"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[model.weak]\n", "model is not a known key; did you mean models or model_names?"),
        (
            "[archon.models]\n",
            "archon is not a known key; known here: models, roles, model_names, store, budget, sandbox",
        ),
        (WEAK + "timout_s = 3", "models.weak.timout_s is not a known key; did you mean timeout_s?"),
        (WEAK + "price = { input = 1, output = 1, ouput = 2 }", "models.weak.price.ouput is not a known key; did you"),
        ("[budget]\ndollars = 5", "budget.dollars is not a known key; known here: usd, calls, tokens, seconds"),
        ("[store]\npath = 'x'", "store.path is not a known key"),
        (
            WEAK + "temperature = 1",
            "models.weak.temperature belongs one level deeper; write it under [models.weak.settings]",
        ),
        ('[roles]\nstorng = "weak"', "roles.storng is no role: unknown role 'storng'; did you mean strong?"),
    ],
)
def test_an_unknown_key_is_refused_with_a_near_one(tmp_path: Path, text: str, words: str) -> None:
    assert words in refusal(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("models = 3", "models must be a table, not a number; write [models]"),
        ("models.weak = 'openai:x'", "models.weak must be a table, not a text; write [models.weak]"),
        ("[models.weak]\n", 'models.weak.model is missing; write it as "provider:name"'),
        ("[models.weak]\nmodel = 5", "models.weak.model must be a text in quotes, as in model ="),
        ("[models.weak]\nmodel = ''", "models.weak.model is empty"),
        ("[models.weak]\nmodel = 'gpt-5'", 'models.weak.model must be "provider:name"'),
        ("[models.weak]\nmodel = ':x'", 'models.weak.model must be "provider:name"'),
        ("[models.weak]\nmodel = ' openai:x'", 'models.weak.model must be "provider:name"'),
        ("[models.'a,b']\nmodel = 'openai:x'", "models.a,b is no alias"),
        ("[models.auto]\nmodel = 'openai:x'", "models.auto is no alias"),
        (
            WEAK + "timeout_s = '60'",
            "models.weak.timeout_s must be a finite number above 0, not a text; write it without",
        ),
        (WEAK + "timeout_s = true", "models.weak.timeout_s must be a finite number above 0, not true or false"),
        (WEAK + "timeout_s = 0", "models.weak.timeout_s must be a finite number above 0, not 0"),
        (WEAK + "timeout_s = nan", "models.weak.timeout_s must be a finite number above 0, not nan"),
        (WEAK + "requests_per_minute = inf", "requests_per_minute must be a finite number above 0, not inf"),
        (WEAK + "tokens_per_minute = -1", "tokens_per_minute must be a finite number above 0, not -1"),
        (WEAK + "max_concurrency = 1.5", "max_concurrency must be a whole number above 0, not 1.5"),
        (WEAK + "max_concurrency = 0", "max_concurrency must be a whole number above 0, not 0"),
        (WEAK + "max_concurrency = [1]", "max_concurrency must be a whole number above 0, not a list"),
        (WEAK + "retries = -1", "retries must be a whole number from 0 on, not -1"),
        (WEAK + "api_key_env = 'MY KEY'", "api_key_env must be the name of an environment variable"),
        (WEAK + "base_url = 'localhost:8000/v1'", "base_url must be a plain address"),
        (WEAK + "base_url = 'ftp://host/v1'", "base_url must be a plain address"),
        (WEAK + "base_url = 'http://host:99999/v1'", "base_url must be a plain address"),
        (WEAK + "base_url = 'http://[::1/v1'", "base_url must be a plain address"),
        (WEAK + "base_url = 'http://host/v1?version=1'", "base_url must be a plain address"),
        (WEAK + "price = 3", "models.weak.price must be a table, not a number"),
        (WEAK + "price = { input = 1 }", "models.weak.price.output is missing"),
        (
            WEAK + "price = { input = 1, output = -2 }",
            "models.weak.price.output must be a finite number from 0 on, not -2",
        ),
        (WEAK + "settings = { temperature = 'hot' }", "settings.temperature must be a finite number from 0 on"),
        (WEAK + "settings = { max_tokens = 0 }", "settings.max_tokens must be a whole number above 0, not 0"),
        (WEAK + "settings = { n = 5 }", "settings.n is set by Treadle for each call"),
        (WEAK + "settings = { since = 2026-01-01 }", "settings.since must be a text, a finite number"),
        (WEAK + "settings = { bias = { a = [1, nan] } }", "settings.bias must be a text, a finite number"),
        ("[roles]\nstrong = 3", "roles.strong must be a text in quotes"),
        ("[roles]\noptimizer = 'a:b'\noptimiser = 'a:b'", "roles.optimiser is given twice"),
        ("[store]\nurl = 'runs.db'", "store.url must begin with a scheme"),
        (
            "[sandbox]\nkind = 'bubblewarp'",
            "sandbox.kind cannot be used: unknown sandbox 'bubblewarp'; did you mean bubble",
        ),
        ("[sandbox]\nseconds = 0", "sandbox.seconds must be a finite number above 0, not 0"),
        ("[sandbox]\nmemory_mb = 0.5", "sandbox.memory_mb must be a whole number above 0, not 0.5"),
        ("[sandbox]\nmemory = 5", "sandbox.memory is not a known key; did you mean memory_mb?"),
        ("[budget]\nusd = -1", "budget.usd must be a finite number from 0 on, not -1"),
        ("[budget]\nusd = 1" + "0" * 400, "budget.usd must be a finite number from 0 on, not one of that size"),
        ("[budget]\ncalls = 1e3", "budget.calls must be a whole number from 0 on, not 1000; write it without point"),
        ("[budget]\ntokens = 1" + "0" * 30, "budget.tokens must be a whole number from 0 on, not one of that size"),
        ("[budget]\nseconds = 2026-01-01", "budget.seconds must be a finite number from 0 on, not a date or time"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_key_and_a_remedy(tmp_path: Path, text: str, words: str) -> None:
    assert words in refusal(tmp_path, text)


@pytest.mark.parametrize(
    "line",
    [
        f"api_key = '{KEY}'",
        "api_key = 'no-shape-at-all'",
        f"token = ['{KEY}']",
        "password = 12345",
        f"api_key_env = '{KEY}'",
        "api_key_env = '4fj2kd83lmq04fj2kd83lmq0'",
        f"model = 'openai:{KEY}'",
        f"base_url = 'https://user:{KEY}@host/v1'",
        f"base_url = 'https://{KEY}@host/v1'",
        f"base_url = 'https://host/{KEY}/v1'",
        "base_url = 'https://host/v1?api-key=4fj2kd83'",
        f"settings = {{ headers = {{ x = 'Bearer {KEY}' }} }}",
        "settings = { extra_headers = { X-API-Key = '4fj2kd83' } }",
        "settings = { stop = ['AIzaSyD-4fJ2kd83LmQ04fJ2kd83LmQ0'] }",
        "settings = { a = 'hf_abcdefghijklmnopqrst', b = 1 }",
        f'"{KEY}" = 1',
        f"unknown = '{KEY}'",
    ],
)
def test_a_key_in_the_file_is_refused_and_not_repeated(tmp_path: Path, line: str) -> None:
    text = f"[models.weak]\n{line}\n" + ("" if line.startswith("model") else "model = 'openai:x'\n")
    message = refusal(tmp_path, text)
    assert "models.weak." in message
    for secret in (KEY, KEY.lower(), "no-shape", "12345", "4fj2kd83", "AIza", "hf_abc"):
        assert secret not in message
    assert "secret" in message
    assert "api_key_env" in message


def test_a_password_in_the_store_url_is_refused_with_where_to_put_it(tmp_path: Path) -> None:
    message = refusal(tmp_path, "[store]\nurl = 'postgresql://me:hunter2@host/db'")
    assert "PGPASSWORD" in message
    assert "hunter2" not in message
    assert load_settings(write(tmp_path, "[store]\nurl = 'postgresql://me@host/db'")).store.url.endswith("me@host/db")


def test_what_only_resembles_a_secret_is_let_through(tmp_path: Path) -> None:
    text = WEAK + (
        "base_url = 'https://sk-east-12.example.com/v1'\napi_key_env = 'Provider2_key_of_my_team'\n"
        "tokens_per_minute = 5\n"
        "settings = { max_tokens = 5, stop = ['risk-averse-answers', 'key:'], user = 'bearer of news' }\n"
    )
    with pytest.raises(ConfigError, match="api_key_env"):
        load_settings(write(tmp_path, text))
    settings = load_settings(write(tmp_path, text.replace("Provider2", "PROVIDER").replace("_key_of_my_team", "_KEY")))
    assert settings.models["weak"].api_key_env == "PROVIDER_KEY"


def test_the_values_to_hide_are_those_of_the_named_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(write(tmp_path, WHOLE))
    assert secret_values(settings) == frozenset()
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    monkeypatch.setenv("SOME_API_KEY", "another-real-key")
    monkeypatch.setenv("LOCAL_API_KEY", "not-needed")
    monkeypatch.setenv("SHORT_API_KEY", "EMPTY")
    monkeypatch.setenv("MY_OTHER_VALUE", "no secret here")
    assert secret_values(settings) == {KEY, "another-real-key"}
    assert KEY not in repr(settings)


def test_a_role_has_one_name() -> None:
    assert canonical_role("optimizer") == canonical_role("optimiser") == "optimiser"
    with pytest.raises(UnknownNameError, match="did you mean judge"):
        canonical_role("jugde")


toml_values = st.recursive(
    st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)


@given(
    toml_values,
    st.sampled_from(
        ["models", "models.weak", "models.weak.price", "models.weak.settings", "roles", "budget", "sandbox"]
    ),
)
def test_any_value_in_any_place_is_settings_or_a_config_error(value: Any, place: str) -> None:
    """What a parser could ever give either loads or is refused in words; nothing else escapes."""
    document: dict[str, Any] = {}
    inner = document
    *parents, last = place.split(".")
    for parent in parents:
        inner = inner.setdefault(parent, {})
    inner[last] = value
    try:
        outcome = settings_from(document, Path("treadle.toml"))
    except ConfigError as error:
        outcome = error
    assert isinstance(outcome, Settings) or str(outcome).startswith("treadle.toml: ")
