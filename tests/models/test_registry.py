"""From a name to a model, with every mistake found before a call."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from treadle.errors import ConfigError, UnknownNameError, UserError
from treadle.models.base import Message, Model, Request
from treadle.models.registry import build_model
from treadle.testing.servers import ModelServer


async def sent_key(**options: str) -> str | None:
    async with ModelServer() as server:
        model = build_model("openai:any", base_url=server.base_url, **options)  # pyright: ignore[reportArgumentType]
        await model.complete(Request("any", (Message("user", "hello"),)))
        await model.aclose()
        return server.requests[0].headers.get("authorization")


class TestKeys:
    def test_a_missing_key_names_its_variable(self) -> None:
        with pytest.raises(UserError, match="OPENAI_API_KEY"):
            build_model("openai:gpt-5-mini")
        with pytest.raises(UserError, match="MY_KEY"):
            build_model("openai:gpt-5-mini", base_url="http://127.0.0.1:1/v1", api_key_env="MY_KEY")
        with pytest.raises(UserError, match="GOOGLE_API_KEY or GEMINI_API_KEY"):
            build_model("google:gemini-2.5-flash")

    async def test_a_named_key_is_sent(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MY_KEY", " sk-test-123\n")
        assert await sent_key(api_key_env="MY_KEY") == "Bearer sk-test-123"

    async def test_no_key_goes_to_an_address_it_was_not_named_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-123")
        assert await sent_key() is None

    def test_a_broken_key_is_refused_and_not_shown(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-te\nst-123")
        with pytest.raises(UserError, match="OPENAI_API_KEY") as caught:
            build_model("openai:gpt-5-mini")
        assert "st-123" not in str(caught.value)


class TestNames:
    @pytest.mark.parametrize("spec", ["gpt-5-mini", "openai:", ":gpt", ""])
    def test_the_form_is_provider_and_model(self, spec: str) -> None:
        with pytest.raises(UserError, match="provider:model"):
            build_model(spec)

    def test_an_unknown_provider_has_near_matches(self) -> None:
        with pytest.raises(UnknownNameError, match="did you mean anthropic"):
            build_model("antropic:claude")

    @pytest.mark.parametrize("spec", ["scripted:model.py", "simulated:llm"])
    def test_what_has_no_address_takes_none(self, spec: str) -> None:
        with pytest.raises(UserError, match="takes no base_url"):
            build_model(spec, base_url="http://127.0.0.1:1/v1")

    def test_a_model_name_may_hold_colons(self) -> None:
        model = build_model("ollama:qwen2.5:7b")
        assert str(model.identity) == "ollama:qwen2.5:7b at http://127.0.0.1:11434/v1"
        assert isinstance(model, Model)

    def test_a_script_is_found_from_the_folder_that_names_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "there").mkdir()
        (tmp_path / "here").mkdir()
        (tmp_path / "there" / "model.py").write_text("def reply(request):\n    return 'there'\n")
        (tmp_path / "here" / "other.py").write_text("def reply(request):\n    return 'here'\n")
        monkeypatch.chdir(tmp_path / "here")
        assert build_model("scripted:model.py", folder=tmp_path / "there").identity.name == "model.py"
        assert build_model("scripted:other.py", folder=tmp_path / "there").identity.name == "other.py"
        with pytest.raises(ConfigError, match=r"nowhere\.py"):
            build_model("scripted:nowhere.py", folder=tmp_path / "there")

    def test_a_simulated_model_says_so(self) -> None:
        assert str(build_model("simulated:llm?skill=0.8").identity) == ("simulated:llm?skill=0.8&correlation=0&seed=1")

    def test_vendors_take_another_address_without_a_key(self) -> None:
        model = build_model("anthropic:claude-sonnet-4-5", base_url="http://127.0.0.1:1")
        assert model.identity.endpoint == "http://127.0.0.1:1"


def test_no_kind_is_imported_before_it_is_named() -> None:
    heavy = ["aiohttp", "pydantic_ai", "xllamacpp", "treadle.models.scripted", "statistics"]
    program = f"import sys, treadle.models.registry; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
