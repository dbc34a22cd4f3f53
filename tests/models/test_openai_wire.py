"""The OpenAI protocol as values: accounting and streams hold whatever a server sends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.models.base import Completion, Message, Request
from treadle.models.failures import Endpoint, retry_after, shown
from treadle.models.openai_stream import read_stream
from treadle.models.openai_wire import body_of, completion_of, reply_of

counts = st.none() | st.integers(-5, 10**9) | st.floats(0, 1e9)
details = st.none() | st.fixed_dictionaries({}, optional={"cached_tokens": counts, "reasoning_tokens": counts})
usages = st.fixed_dictionaries(
    {},
    optional={
        "prompt_tokens": counts,
        "completion_tokens": counts,
        "total_tokens": counts,
        "prompt_tokens_details": details,
        "completion_tokens_details": details,
        "something_else": st.text(),
    },
)


def read(body: bytes) -> Completion:
    reply = reply_of(body)
    assert reply.choices
    assert reply.choices[0].message is not None
    return completion_of(reply.choices[0].message, reply.choices[0].finish_reason, reply.usage)


@given(usages)
def test_parts_of_a_usage_never_exceed_the_whole(usage: dict[str, Any]) -> None:
    body = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": usage}
    normal = read(msgspec.json.encode(body)).usage
    if normal is None:
        assert usage.get("prompt_tokens") is None
        assert usage.get("completion_tokens") is None
        return
    assert min(normal.input, normal.cached_input, normal.cache_write, normal.output, normal.reasoning) >= 0
    assert normal.cached_input + normal.cache_write <= normal.input
    assert normal.reasoning <= normal.output
    assert normal.output >= int(usage.get("completion_tokens") or 0)


@given(st.text(), st.lists(st.text(max_size=20), max_size=4))
def test_every_text_can_be_sent_and_what_is_whole_arrives_as_it_is(text: str, stops: list[str]) -> None:
    request = Request("any", (Message("user", text),), {"stop": stops, "max_tokens": 5})
    body = msgspec.json.decode(body_of("any", request, "max_tokens"))
    assert body["messages"][0]["content"] == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert body["max_tokens"] == 5


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), max_size=5), st.data())
@settings(max_examples=60)
async def test_a_stream_may_be_cut_anywhere(texts: list[str], data: st.DataObject) -> None:
    events: list[Mapping[str, Any]] = [{"choices": [{"delta": {"content": text}}]} for text in texts]
    events.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    events.append({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}})
    ending = data.draw(st.sampled_from(["\n", "\r\n"]))
    lines = [f"data: {msgspec.json.encode(event).decode()}{ending}{ending}" for event in events]
    body = "".join([*lines, f"data: [DONE]{ending}"]).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=12)))

    async def pieces() -> AsyncIterator[bytes]:
        for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True):
            yield body[start:end]

    completion = await read_stream(pieces(), Endpoint("any"))
    assert completion.text == "".join(texts)
    assert completion.finish_reason == "stop"
    assert completion.usage is not None
    assert completion.usage.total == 7


@given(st.text(), st.sampled_from(["sk-abc-12345", "pass", "ключ-секрет"]))
def test_a_key_in_use_is_never_shown(text: str, key: str) -> None:
    said = shown(f"{text}{key}{text} Bearer {key}", (key,))
    assert key not in said
    assert len(said) <= 301


@given(st.text(max_size=30))
def test_any_retry_after_is_a_wait_or_none(text: str) -> None:
    wait = retry_after({"Retry-After": text, "retry-after-ms": text})
    assert wait is None or 0 <= wait < float("inf")
