"""The OpenAI-compatible client against a real server on loopback."""

from __future__ import annotations

import asyncio
import email.utils
import threading
import time
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
from treadle.models.openai_api import OpenAIModel
from treadle.testing.servers import HTML, MALFORMED, Body, Drip, Events, Hang, ModelServer, Reply, Reset, Script, Status

KEY = "sk-test-123"


def asked(text: str = "What is 2 + 2?", **settings: Any) -> Request:
    return Request("any", (Message("user", text),), settings)


async def answer(script: Script, request: Request | None = None) -> Completion:
    async with ModelServer(script) as server:
        model = OpenAIModel("any", base_url=server.base_url, api_key=KEY, key_name="MY_KEY")
        try:
            return await model.complete(request or asked())
        finally:
            await model.aclose()


async def failure(script: Script, request: Request | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await answer(script, request)
    assert KEY not in str(caught.value)
    return caught.value


async def sent(request: Request) -> dict[str, Any]:
    async with ModelServer() as server:
        model = OpenAIModel("any", base_url=server.base_url)
        await model.complete(request)
        await model.aclose()
        return server.requests[0].body


async def test_a_reply_comes_back_with_text_usage_and_finish_reason() -> None:
    reply = Reply("four", Usage(1000, 800, 0, 50, 30), "length")
    completion = await answer(reply)
    assert completion == Completion("four", Usage(1000, 800, 0, 50, 30), "length")


async def test_cached_tokens_are_billed_once_at_their_own_rate() -> None:
    completion = await answer(Reply("", Usage(1000, 800, 0, 0)))
    assert completion.usage is not None
    assert Price(input=2.0, cached_input=0.5, output=8.0).usd(completion.usage) == pytest.approx(0.0008)


async def test_reasoning_left_out_of_the_completion_tokens_is_counted_from_the_total() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 45}
    usage["completion_tokens_details"] = {"reasoning_tokens": 30}  # pyright: ignore[reportArgumentType]
    body = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": usage}
    completion = await answer(Body(msgspec.json.encode(body)))
    assert completion.usage == Usage(10, 0, 0, 35, 30)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_calls", "tool_calls"),
        ("content_filter", "content_filter"),
        ("function_call", "tool_calls"),
        ("eos", "stop"),
        ("something new", "unknown"),
    ],
)
async def test_finish_reasons_are_mapped(theirs: str, ours: str) -> None:
    assert (await answer(Reply(finish_reason=theirs))).finish_reason == ours


async def test_the_request_carries_key_settings_and_always_a_limit() -> None:
    async with ModelServer() as server:
        model = OpenAIModel("llama", base_url=server.base_url + "/", api_key=KEY)
        await model.complete(asked(temperature=0.5, stop=["\n"], top_p=None))
        await model.aclose()
    received = server.requests[0]
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.body == {
        "model": "llama",
        "messages": [{"role": "user", "content": "What is 2 + 2?"}],
        "temperature": 0.5,
        "stop": ["\n"],
        "max_tokens": 4096,
    }


async def test_max_completion_tokens_is_sent_under_that_name_when_asked_for() -> None:
    body = await sent(asked(max_completion_tokens=50))
    assert body["max_completion_tokens"] == 50
    assert "max_tokens" not in body


async def test_a_seed_moves_with_the_draw() -> None:
    request = asked(seed=7)
    bodies = [await sent(Request("any", request.messages, request.settings, draw=draw)) for draw in (0, 1)]
    assert [body["seed"] for body in bodies] == [7, 8]


async def test_several_choices_in_one_call_are_refused_before_anything_is_sent() -> None:
    async with ModelServer() as server:
        model = OpenAIModel("any", base_url=server.base_url)
        with pytest.raises(RejectedError, match="several draws"):
            await model.complete(asked(n=5))
    assert server.requests == []


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, False),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "integer"}},
                "required": ["a"],
                "additionalProperties": False,
            },
            True,
        ),
    ],
)
async def test_a_schema_is_sent_strict_only_where_strict_mode_can_take_it(schema: dict[str, Any], strict: bool) -> None:
    body = await sent(Request("any", (Message("user", "?"),), schema=schema))
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": schema, "strict": strict},
    }


async def test_tools_and_their_results_travel_both_ways() -> None:
    call = ToolCall("c1", "add", '{"a": 1}')
    tool = Tool("add", "adds", {"type": "object", "properties": {"a": {"type": "integer"}}})
    messages = (
        Message("user", "add"),
        Message("assistant", "", (call,)),
        Message("tool", "2", tool_call_id="c1"),
    )
    async with ModelServer(Reply("", finish_reason="tool_calls", tool_calls=(call,))) as server:
        model = OpenAIModel("any", base_url=server.base_url)
        completion = await model.complete(Request("any", messages, tools=(tool,)))
        await model.aclose()
    assert completion.text == ""
    assert completion.tool_calls == (call,)
    assert completion.finish_reason == "tool_calls"
    body = server.requests[0].body
    assert body["tools"][0]["function"]["name"] == "add"
    assert body["messages"][1]["content"] is None
    assert body["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"a": 1}'
    assert body["messages"][2] == {"role": "tool", "content": "2", "tool_call_id": "c1"}


async def test_lone_surrogates_are_replaced_by_rule_in_both_directions() -> None:
    async with ModelServer(
        Body(b'{"choices": [{"message": {"content": "a\\ud800b"}, "finish_reason": "stop"}]}')
    ) as server:
        model = OpenAIModel("any", base_url=server.base_url)
        completion = await model.complete(asked("x\ud800y \ud83d\ude00"))
        await model.aclose()
    assert server.requests[0].body["messages"][0]["content"] == "x\ufffdy \U0001f600"
    assert completion.text == "a\ufffdb"


async def test_bytes_that_are_not_utf8_do_not_lose_a_paid_reply() -> None:
    completion = await answer(Body(b'{"choices": [{"message": {"content": "caf\xe9"}, "finish_reason": "stop"}]}'))
    assert completion.text == "caf\ufffd"


async def test_a_refusal_is_filtered_content() -> None:
    message = {"content": None, "refusal": "I cannot help with that"}
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    completion = await answer(Body(msgspec.json.encode(body)))
    assert (completion.text, completion.finish_reason) == ("I cannot help with that", "content_filter")


class TestStreams:
    async def test_pieces_are_put_together_and_the_last_usage_counts(self) -> None:
        call = ToolCall("c1", "add", '{"a": 1, "b": 2}')
        reply = Reply("The answer is four", Usage(10, 4, 0, 6), "tool_calls", (call,))
        assert await answer(reply, asked(stream=True)) == await answer(reply)

    async def test_a_stream_without_usage_has_unknown_usage(self) -> None:
        assert (await answer(Reply("four", None), asked(stream=True))).usage is None

    async def test_usage_is_asked_for(self) -> None:
        assert (await sent(asked(stream=True)))["stream_options"] == {"include_usage": True}

    async def test_comments_and_unknown_lines_are_passed_over(self) -> None:
        events = (": keep-alive", "event: x", {"choices": [{"delta": {"content": "é"}, "finish_reason": "stop"}]})
        assert (await answer(Events(events), asked(stream=True))).text == "é"

    async def test_a_stream_that_breaks_off_is_a_failed_connection(self) -> None:
        half = Events(({"choices": [{"delta": {"content": "The answ"}}]},), done=False)
        assert isinstance(await failure(half, asked(stream=True)), ConnectionFailedError)

    async def test_an_error_inside_a_stream_is_the_error_it_stands_for(self) -> None:
        script = Events(({"error": {"message": "slow down", "code": 429}},))
        assert isinstance(await failure(script, asked(stream=True)), RateLimitError)

    async def test_a_malformed_event_is_a_server_error(self) -> None:
        assert isinstance(await failure(Events(('data: {"choi',)), asked(stream=True)), ServerError)

    async def test_a_server_that_does_not_stream_is_read_as_it_answers(self) -> None:
        body = msgspec.json.encode({"choices": [{"message": {"content": "four"}, "finish_reason": "stop"}]})
        assert (await answer(Body(body), asked(stream=True))).text == "four"


class TestFailures:
    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({"Retry-After": "7"}, 7.0),
            ({"Retry-After": "0.5"}, 0.5),
            ({"retry-after-ms": "250", "Retry-After": "7"}, 0.25),
            ({"Retry-After": "soon"}, None),
            ({"Retry-After": "nan"}, None),
            ({"Retry-After": "-3"}, None),
            ({}, None),
        ],
    )
    async def test_a_rate_limit_keeps_the_wait_asked_for(self, headers: dict[str, str], seconds: float | None) -> None:
        error = await failure(Status(429, {"error": {"message": "too many"}}, headers))
        assert isinstance(error, RateLimitError)
        assert error.retry_after == seconds
        assert error.retryable

    async def test_a_wait_may_be_an_http_date(self) -> None:
        date = email.utils.formatdate(time.time() + 30, usegmt=True)
        error = await failure(Status(503, {}, {"Retry-After": date}))
        assert isinstance(error, ServerError)
        assert error.retry_after == pytest.approx(30, abs=3)

    @pytest.mark.parametrize(
        "script",
        [
            Status(429, {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}),
            Status(429, {"error": {"type": "billing_hard_limit_reached", "message": "x"}}),
            Status(402, {"error": {"message": "Insufficient Balance"}}),
        ],
    )
    async def test_an_empty_account_is_not_a_rate_limit(self, script: Status) -> None:
        error = await failure(script)
        assert isinstance(error, QuotaError)
        assert not error.retryable
        assert "top it up" in str(error)

    @pytest.mark.parametrize(
        ("status", "kind", "words"),
        [
            (400, RejectedError, "asking again would not help"),
            (401, RejectedError, "environment variable MY_KEY"),
            (403, RejectedError, "may not use this model"),
            (404, RejectedError, "base_url"),
            (405, RejectedError, "asking again would not help"),
            (422, RejectedError, "asking again would not help"),
            (408, ServerError, "the server's"),
            (409, ServerError, "the server's"),
            (500, ServerError, "the server's"),
            (502, ServerError, "the server's"),
            (529, ServerError, "the server's"),
        ],
    )
    async def test_each_status_has_its_error_and_its_remedy(
        self, status: int, kind: type[ProviderError], words: str
    ) -> None:
        error = await failure(Status(status, {"error": {"message": "the server said so"}}))
        assert type(error) is kind
        assert error.status == status
        for part in (words, "the server said so", "127.0.0.1", str(status)):
            assert part in str(error)

    async def test_a_prompt_too_long_names_the_context(self) -> None:
        said = {
            "error": {"code": 400, "type": "exceed_context_size_error", "message": "5031 tokens exceed 2048 tokens"}
        }
        error = await failure(Status(400, said))
        assert isinstance(error, RejectedError)
        assert "2048" in str(error)
        assert "context" in str(error)

    async def test_an_echoed_key_is_never_shown(self) -> None:
        echo = {"error": {"message": f"Incorrect API key provided: {KEY} in Authorization: Bearer {KEY}"}}
        error = await failure(Status(401, echo))
        assert "[redacted]" in str(error)
        assert KEY not in repr(error)
        assert error.__cause__ is None

    async def test_what_a_server_says_is_bounded_and_on_one_line(self) -> None:
        error = await failure(Status(400, {"error": {"message": "long\n\x1b[31m" * 10_000}}))
        assert len(str(error)) < 800
        assert "\n" not in str(error)
        assert "\x1b" not in str(error)

    @pytest.mark.parametrize("script", [HTML, Body(b"Hello!", "text/plain"), Body(b"[1, 2]")])
    async def test_a_page_instead_of_an_api_says_to_check_the_address(self, script: Body) -> None:
        error = await failure(script)
        assert isinstance(error, RejectedError)
        assert "not an OpenAI-compatible endpoint" in str(error)
        assert "/v1" in str(error)

    @pytest.mark.parametrize(
        "script",
        [
            MALFORMED,
            Body(b""),
            Body(b"{}"),
            Body(b'{"choices": []}'),
            Body(b'{"choices": [{"finish_reason": "stop"}]}'),
            Body(b'{"choices": 3}'),
            Body(b'{"choices": null, "error": {"message": "upstream failed"}}'),
        ],
    )
    async def test_a_broken_reply_is_the_servers_fault(self, script: Body) -> None:
        assert isinstance(await failure(script), ServerError)

    async def test_an_error_inside_a_good_status_is_the_error_it_stands_for(self) -> None:
        error = await failure(Body(b'{"error": {"code": 429, "message": "upstream is busy"}}'))
        assert isinstance(error, RateLimitError)

    async def test_a_redirect_is_not_followed_with_the_key(self) -> None:
        error = await failure(Status(308, "", {"Location": "http://127.0.0.1:1/elsewhere"}))
        assert isinstance(error, RejectedError)
        assert "base_url" in str(error)

    @pytest.mark.parametrize("halfway", [False, True])
    async def test_a_reset_connection_can_be_tried_again(self, halfway: bool) -> None:
        error = await failure(Reset(halfway))
        assert isinstance(error, ConnectionFailedError)
        assert error.retryable

    async def test_nobody_listening_says_where_it_looked(self) -> None:
        async with ModelServer() as server:
            address = server.base_url
        model = OpenAIModel("any", base_url=address)
        with pytest.raises(ConnectionFailedError, match="cannot be reached") as caught:
            await model.complete(asked())
        assert address in str(caught.value)
        await model.aclose()

    async def test_a_name_that_does_not_resolve_is_a_failed_connection(self) -> None:
        model = OpenAIModel("any", base_url="http://no-such-host.invalid/v1")
        with pytest.raises(ConnectionFailedError):
            await model.complete(asked())
        await model.aclose()

    async def test_a_body_without_end_is_cut_off(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("treadle.models.openai_api.MAX_BODY_BYTES", 2**20)
        error = await failure(Body(b"{" + b" " * (2**20 + 1)))
        assert isinstance(error, ServerError)
        assert "more than" in str(error)


class TestCancellation:
    @pytest.mark.parametrize(
        "script", [Hang(), Hang(after_headers=True), Drip(0.05), Events(("x",) * 99, delay_s=0.05)]
    )
    async def test_a_cancelled_call_ends_at_once_and_lets_go_of_the_server(self, script: Script) -> None:
        async with ModelServer(script) as server:
            model = OpenAIModel("any", base_url=server.base_url)
            began = time.monotonic()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await model.complete(asked(stream=isinstance(script, Events)))
            assert time.monotonic() - began < 1.0
            await server.until(lambda: server.cut_off == 1)
            await model.aclose()

    async def test_others_go_on_when_one_hangs(self) -> None:
        async with ModelServer([Hang(), Reply("fine")]) as server:
            model = OpenAIModel("any", base_url=server.base_url)
            hung = asyncio.create_task(model.complete(asked()))
            await server.until(lambda: len(server.requests) == 1)
            assert (await model.complete(asked())).text == "fine"
            hung.cancel()
            await model.aclose()


class TestConnections:
    async def test_connections_are_kept_and_bounded(self) -> None:
        async with ModelServer(Reply(delay_s=0.02)) as server:
            model = OpenAIModel("any", base_url=server.base_url, max_concurrency=5)
            await asyncio.gather(*[model.complete(asked(str(i))) for i in range(20)])
            await model.aclose()
            await model.aclose()
        assert server.peak == 5

    def test_one_model_serves_one_event_loop_after_another(self) -> None:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        server = asyncio.run_coroutine_threadsafe(ModelServer(Reply("fine")).__aenter__(), loop).result()
        model = OpenAIModel("any", base_url=server.base_url)

        async def once() -> str:
            completion = await model.complete(asked())
            await model.aclose()
            return completion.text

        try:
            assert [asyncio.run(once()) for _ in range(2)] == ["fine", "fine"]
        finally:
            asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


class TestIdentity:
    def test_it_names_the_endpoint_and_never_the_key(self) -> None:
        model = OpenAIModel("any", base_url="http://127.0.0.1:1/v1/", api_key=KEY)
        assert str(model.identity) == "openai:any at http://127.0.0.1:1/v1"
        assert KEY not in repr(model)
        assert KEY not in repr(vars(model))

    def test_the_full_address_of_the_call_is_taken_as_well(self) -> None:
        model = OpenAIModel("any", base_url="http://127.0.0.1:1/v1/chat/completions")
        assert model.identity.endpoint == "http://127.0.0.1:1/v1"

    @pytest.mark.parametrize(
        "address", ["localhost:8000/v1", "ftp://host/v1", "http://", "http://user:pass@host/v1", "http://host/v1?key=x"]
    )
    def test_an_address_that_cannot_be_one_is_refused(self, address: str) -> None:
        with pytest.raises(UserError) as caught:
            OpenAIModel("any", base_url=address)
        assert "pass" not in str(caught.value)
