"""Vendors with protocols of their own: pydantic-ai's real clients against doubles of the real protocols."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from treadle.errors import (
    ConnectionFailedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RejectedError,
    ServerError,
    UserError,
)
from treadle.models.base import Completion, Message, Price, Request, Tool, ToolCall, Usage
from treadle.models.vendor import VendorModel
from treadle.testing.servers import HTML, MALFORMED, Body, Hang, ModelServer, Reset, Script, Status

# The vendor's SDK warns of models that will be switched off; these tests never reach one.
pytestmark = pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")

KEY = "sk-test-123"
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}},
    "required": ["answer"],
    "additionalProperties": False,
}
ADD = Tool("add", "adds", {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})


def claude_says(*content: dict[str, Any], stop: str = "end_turn", **usage: int) -> Body:
    return Body(
        msgspec.json.encode(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
                "content": content or ({"type": "text", "text": "four"},),
                "stop_reason": stop,
                "stop_sequence": None,
                "usage": {"input_tokens": 10, "output_tokens": 5, **usage},
            }
        )
    )


def gemini_says(*parts: dict[str, Any], finish: str = "STOP", **usage: int) -> Body:
    content = {"role": "model", "parts": parts or ({"text": "four"},)}
    counts = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15, **usage}
    return Body(
        msgspec.json.encode({"candidates": [{"content": content, "finishReason": finish}], "usageMetadata": counts})
    )


def claude(server: ModelServer) -> VendorModel:
    return VendorModel(
        "anthropic", "claude-sonnet-4-5", api_key=KEY, key_name="ANTHROPIC_API_KEY", base_url=server.origin
    )


def gemini(server: ModelServer) -> VendorModel:
    return VendorModel("google", "gemini-2.5-flash", api_key=KEY, key_name="GOOGLE_API_KEY", base_url=server.origin)


Build = Callable[[ModelServer], VendorModel]
both = pytest.mark.parametrize("build", [claude, gemini])


def asked(text: str = "What is 2 + 2?", **settings: Any) -> Request:
    return Request("any", (Message("system", "Be brief."), Message("user", text)), settings)


async def answer(build: Build, script: Script, request: Request | None = None) -> tuple[Completion, dict[str, Any]]:
    async with ModelServer(script) as server:
        model = build(server)
        try:
            completion = await model.complete(request or asked())
        finally:
            await model.aclose()
        assert len(server.requests) == 1
        return completion, server.requests[0].body


async def finishes(build: Build, replies: list[Body]) -> list[str]:
    async with ModelServer(tuple(replies)) as server:
        model = build(server)
        reasons = [(await model.complete(asked())).finish_reason for _ in replies]
        await model.aclose()
    return [str(reason) for reason in reasons]


async def failure(build: Build, script: Script) -> ProviderError:
    async with ModelServer(script) as server:
        model = build(server)
        with pytest.raises(ProviderError) as caught:
            await model.complete(asked())
        await model.aclose()
        assert len(server.requests) == 1, "one attempt is one attempt"
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    return caught.value


class TestAnthropic:
    async def test_cache_reads_and_writes_are_part_of_the_input_and_billed_at_their_own_rates(self) -> None:
        reply = claude_says(cache_creation_input_tokens=2000, cache_read_input_tokens=500, output_tokens=0)
        completion, _ = await answer(claude, reply)
        usage = completion.usage
        assert usage is not None
        assert usage == Usage(input=2510, cached_input=500, cache_write=2000, output=0)
        price = Price(input=4.0, output=20.0, cached_input=0.4, cache_write=5.0)
        assert price.usd(usage) == pytest.approx(0.01024)

    async def test_settings_reach_it_by_its_own_names(self) -> None:
        request = asked(temperature=0.5, stop="END", max_tokens=77, seed=3, stream=True)
        completion, body = await answer(claude, claude_says(), request)
        assert completion == Completion("four", Usage(10, 0, 0, 5), "stop")
        assert body["max_tokens"] == 77
        assert body["temperature"] == 0.5
        assert body["stop_sequences"] == ["END"]
        assert "seed" not in body
        assert body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "What is 2 + 2?"}]}]
        assert "Be brief." in str(body["system"])

    async def test_a_limit_is_always_sent(self) -> None:
        _, body = await answer(claude, claude_says(), asked(max_tokens=60_000))
        assert body["max_tokens"] == 60_000
        _, body = await answer(claude, claude_says(), asked())
        assert body["max_tokens"] == 4096

    async def test_stop_reasons_are_mapped(self) -> None:
        pairs = {"end_turn": "stop", "max_tokens": "length", "stop_sequence": "stop", "refusal": "content_filter"}
        assert await finishes(claude, [claude_says(stop=theirs) for theirs in pairs]) == list(pairs.values())

    async def test_tools_travel_both_ways(self) -> None:
        messages = (
            Message("user", "add 1"),
            Message("assistant", "", (ToolCall("c1", "add", '{"a": 1}'),)),
            Message("tool", "2", tool_call_id="c1"),
        )
        reply = claude_says({"type": "tool_use", "id": "c2", "name": "add", "input": {"a": 2}}, stop="tool_use")
        completion, body = await answer(claude, reply, Request("any", messages, tools=(ADD,)))
        assert completion.tool_calls == (ToolCall("c2", "add", '{"a":2}'),)
        assert completion.finish_reason == "tool_calls"
        assert body["tools"][0]["name"] == "add"
        assert body["messages"][1]["content"][0]["type"] == "tool_use"
        assert body["messages"][2]["content"][0]["tool_use_id"] == "c1"

    async def test_a_schema_is_enforced_by_the_vendor(self) -> None:
        reply = claude_says({"type": "text", "text": '{"answer": 4}'})
        completion, body = await answer(claude, reply, Request("any", (Message("user", "?"),), schema=SCHEMA))
        assert completion.text == '{"answer": 4}'
        assert "json_schema" in str(body["output_config"])

    async def test_an_empty_account_is_no_bad_request(self) -> None:
        said = {"type": "invalid_request_error", "message": "Your credit balance is too low to access the API"}
        error = await failure(claude, Status(400, {"type": "error", "error": said}))
        assert isinstance(error, QuotaError)

    async def test_an_overloaded_vendor_can_be_asked_again(self) -> None:
        said = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        error = await failure(claude, Status(529, said, {"retry-after": "3"}))
        assert isinstance(error, ServerError)
        assert error.retry_after == 3.0


class TestGoogle:
    async def test_reasoning_is_part_of_the_output_and_the_cache_of_the_input(self) -> None:
        reply = gemini_says(thoughtsTokenCount=20, cachedContentTokenCount=4, totalTokenCount=35)
        completion, _ = await answer(gemini, reply)
        assert completion.text == "four"
        assert completion.usage == Usage(input=10, cached_input=4, output=25, reasoning=20)

    async def test_settings_reach_it_by_its_own_names(self) -> None:
        request = asked(temperature=0.5, stop=["END"], max_tokens=77, seed=3)
        _, body = await answer(gemini, gemini_says(), request)
        sent = body["generationConfig"]
        assert sent["maxOutputTokens"] == 77
        assert sent["temperature"] == 0.5
        assert sent["stopSequences"] == ["END"]
        assert sent["seed"] == 3

    async def test_finish_reasons_are_mapped(self) -> None:
        pairs = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter"}
        assert await finishes(gemini, [gemini_says(finish=theirs) for theirs in pairs]) == list(pairs.values())

    async def test_tools_and_schemas_travel(self) -> None:
        reply = gemini_says({"functionCall": {"name": "add", "args": {"a": 2}}})
        completion, body = await answer(gemini, reply, Request("any", (Message("user", "add"),), tools=(ADD,)))
        assert [(call.name, call.arguments) for call in completion.tool_calls] == [("add", '{"a":2}')]
        assert "add" in str(body["tools"])
        reply = gemini_says({"text": '{"answer": 4}'})
        _, body = await answer(gemini, reply, Request("any", (Message("user", "?"),), schema=SCHEMA))
        assert body["generationConfig"]["responseMimeType"] == "application/json"

    async def test_a_stated_wait_is_kept(self) -> None:
        details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}]
        said = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota per minute", "details": details}
        error = await failure(gemini, Status(429, {"error": said}))
        assert isinstance(error, RateLimitError)
        assert error.retry_after == 7.0


class TestBoth:
    @both
    async def test_each_status_has_its_error(self, build: Build) -> None:
        kinds = {
            400: RejectedError,
            401: RejectedError,
            403: RejectedError,
            404: RejectedError,
            429: RateLimitError,
            500: ServerError,
            503: ServerError,
        }
        said = {"error": {"type": "some_error", "message": f"no, and you sent {KEY}"}}
        async with ModelServer([Status(status, said) for status in kinds]) as server:
            model = build(server)
            for number, (status, kind) in enumerate(kinds.items(), start=1):
                with pytest.raises(ProviderError, match="no, and you sent") as caught:
                    await model.complete(asked())
                assert type(caught.value) is kind
                assert caught.value.status == status
                assert KEY not in str(caught.value)
                assert len(server.requests) == number, "one attempt is one attempt"
            await model.aclose()

    @both
    @pytest.mark.parametrize("script", [HTML, MALFORMED])
    async def test_what_is_not_the_protocol_is_a_typed_error(self, build: Build, script: Body) -> None:
        assert isinstance(await failure(build, script), ServerError)

    @both
    async def test_a_reset_connection_can_be_tried_again(self, build: Build) -> None:
        assert isinstance(await failure(build, Reset()), ConnectionFailedError)

    @both
    async def test_a_hung_call_is_cancelled_at_once(self, build: Build) -> None:
        async with ModelServer(Hang()) as server:
            model = build(server)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await model.complete(asked())
            await server.until(lambda: server.cut_off == 1)
            await model.aclose()

    @both
    async def test_an_unknown_setting_is_named_and_nothing_sent(self, build: Build) -> None:
        async with ModelServer() as server:
            model = build(server)
            with pytest.raises(RejectedError, match="did you mean temperature"):
                await model.complete(asked(temperatur=1))
            with pytest.raises(RejectedError, match="several draws"):
                await model.complete(asked(n=3))
            await model.aclose()
        assert server.requests == []

    @both
    async def test_lone_surrogates_are_replaced(self, build: Build) -> None:
        reply = claude_says() if build is claude else gemini_says()
        _, body = await answer(build, reply, asked("x\ud800y"))
        assert "x\ufffdy" in str(body)

    @both
    async def test_the_key_is_nowhere_to_be_seen(self, build: Build) -> None:
        async with ModelServer() as server:
            model = build(server)
            assert KEY not in repr(model)
            assert KEY not in str(model.identity)
            await model.aclose()


class TestBuilding:
    def test_a_provider_whose_package_is_missing_says_what_to_install(self) -> None:
        with pytest.raises(UserError, match=r"pip install 'pydantic-ai-slim\[cohere\]'"):
            VendorModel("cohere", "command-r", api_key=KEY)

    def test_a_provider_that_finds_no_credentials_says_so(self) -> None:
        with pytest.raises(UserError, match="ANTHROPIC_API_KEY"):
            VendorModel("anthropic", "claude-sonnet-4-5")
