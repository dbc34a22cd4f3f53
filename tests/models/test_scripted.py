"""Models played by a function or a file."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

from treadle.errors import CallTimeoutError, ConfigError, ProviderError, RateLimitError, ServerError
from treadle.models.base import Completion, Message, Request, ToolCall, Usage
from treadle.models.scripted import ReplyFunction, ScriptedModel, load_script


def asked(text: str = "What is 2 + 2?", draw: int = 0) -> Request:
    return Request("m", (Message("system", "Be brief."), Message("user", text)), {"temperature": 0.5}, draw=draw)


async def answer(reply: ReplyFunction) -> Completion:
    return await ScriptedModel(reply).complete(asked())


def script(folder: Path, text: str) -> Path:
    path = folder / "script.py"
    path.write_text(text)
    return path


async def test_a_text_is_a_reply_whose_tokens_are_counted_from_its_characters() -> None:
    completion = await answer(lambda request: "four!")
    read = len("Be brief.") + len("What is 2 + 2?")
    assert completion == Completion("four!", Usage(input=math.ceil(read / 4), output=2))


async def test_the_function_sees_model_messages_settings_and_draw(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        "def reply(request):\n"
        "    last = request.messages[-1]\n"
        "    return f'{request.model} {last.role} {last.content} {request.settings[\"temperature\"]} '"
        " f'{request.draw} {request.sample}'\n",
    )
    completion = await load_script(path).complete(asked(draw=3))
    assert completion.text == "m user What is 2 + 2? 0.5 3 3"


async def test_a_dict_says_everything() -> None:
    usage = {"input": 100, "cached_input": 40, "cache_write": 10, "output": 20, "reasoning": 5}
    completion = await answer(lambda request: {"text": "four", "usage": usage, "finish_reason": "length"})
    assert completion == Completion("four", Usage(100, 40, 10, 20, 5), "length")


async def test_a_dict_may_play_a_provider_that_does_not_say_its_usage() -> None:
    assert (await answer(lambda request: {"text": "four", "usage": None})).usage is None


@pytest.mark.parametrize(
    "call",
    [
        {"id": "c1", "name": "add", "arguments": '{"a":1}'},
        {"id": "c1", "name": "add", "arguments": {"a": 1}},
        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}},
        ToolCall("c1", "add", '{"a":1}'),
    ],
)
async def test_tool_calls_come_in_any_usual_shape(call: object) -> None:
    completion = await answer(lambda request: {"tool_calls": [call]})
    assert completion.tool_calls == (ToolCall("c1", "add", '{"a":1}'),)
    assert completion.finish_reason == "tool_calls"


async def test_a_delay_lets_others_go_on_and_can_be_cancelled() -> None:
    model = ScriptedModel(lambda request: {"text": "late", "delay_s": 3600.0})
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await model.complete(asked())


async def test_an_async_function_works_as_well(tmp_path: Path) -> None:
    path = script(tmp_path, "async def reply(request):\n    return 'four'\n")
    assert (await load_script(path).complete(asked())).text == "four"


class TestFailures:
    async def test_what_it_raises_is_a_provider_failure_that_names_the_line(self, tmp_path: Path) -> None:
        path = script(tmp_path, "def reply(request):\n    return 1 / 0\n")
        with pytest.raises(ProviderError, match=r"script\.py, line 2, raised ZeroDivisionError") as caught:
            await load_script(path).complete(asked())
        assert type(caught.value) is ProviderError
        assert not caught.value.retryable

    @pytest.mark.parametrize(
        ("raised", "kind"),
        [
            (TimeoutError("slow"), CallTimeoutError),
            (ConnectionResetError("gone"), ServerError),
            (RateLimitError("wait", retry_after=2.0), RateLimitError),
        ],
    )
    async def test_passing_trouble_can_be_tried_again(self, raised: Exception, kind: type[ProviderError]) -> None:
        def reply(request: Request) -> str:
            raise raised

        with pytest.raises(kind) as caught:
            await answer(reply)
        assert caught.value.retryable

    async def test_even_an_exit_is_only_a_failed_call(self) -> None:
        def reply(request: Request) -> str:
            raise SystemExit(3)

        with pytest.raises(ProviderError, match="SystemExit"):
            await answer(reply)

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (None, "str or a dict"),
            (12, "str or a dict"),
            ({"txt": "four"}, "did you mean text"),
            ({"text": 4}, "text must be a str"),
            ({"text": "x", "usage": {"inputs": 3}}, "did you mean input"),
            ({"text": "x", "usage": {"input": -3}}, "whole number"),
            ({"text": "x", "finish_reason": "done"}, "finish_reason"),
            ({"text": "x", "delay_s": float("nan")}, "delay_s"),
        ],
    )
    async def test_a_reply_that_is_none_says_what_is_wrong(self, given: Any, words: str) -> None:
        with pytest.raises(ProviderError, match=words):
            await answer(lambda request: given)


class TestFiles:
    def test_a_missing_file_is_found_before_any_call(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"nothing\.py"):
            load_script(tmp_path / "nothing.py")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("x = 1\ndef reply(request:\n    return ''\n", "line 2"),
            ("import os\nraise RuntimeError('no')\n", "line 2, raised RuntimeError: no"),
            ("def replies(request):\n    return ''\n", r"no function reply"),
            ("reply = 3\n", r"no function reply"),
        ],
    )
    def test_a_broken_file_is_found_before_any_call(self, tmp_path: Path, text: str, words: str) -> None:
        with pytest.raises(ConfigError, match=words) as caught:
            load_script(script(tmp_path, text))
        assert "script.py" in str(caught.value)

    async def test_a_changed_script_is_another_model_at_once(self, tmp_path: Path) -> None:
        first = load_script(script(tmp_path, "def reply(request):\n    return 'a'\n"))
        second = load_script(script(tmp_path, "def reply(request):\n    return 'b'\n"))
        assert (await second.complete(asked())).text == "b"
        assert first.identity != second.identity
        assert first.identity.name == second.identity.name == "script.py"

    def test_loading_leaves_nothing_behind(self, tmp_path: Path) -> None:
        load_script(script(tmp_path, "def reply(request):\n    return 'a'\n"))
        assert [path.name for path in tmp_path.iterdir()] == ["script.py"]

    async def test_a_script_may_define_dataclasses(self, tmp_path: Path) -> None:
        text = (
            "from __future__ import annotations\nfrom dataclasses import dataclass\n"
            "@dataclass\nclass Answer:\n    text: str\n"
            "def reply(request):\n    return Answer('a').text\n"
        )
        assert (await load_script(script(tmp_path, text)).complete(asked())).text == "a"
