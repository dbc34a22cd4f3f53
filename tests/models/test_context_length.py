"""A prompt that does not fit the model's context is an error of its own, whoever's words say so."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from treadle.errors import ContextLengthError, EndpointError, ProviderError, RateLimitError, RejectedError
from treadle.models.base import Request
from treadle.models.failures import Endpoint, failure_of
from treadle.models.scripted import Scripted
from treadle.testing.sessions import recording_run

# Nothing in a model's name or address may pass for the server's words.
ENDPOINT = Endpoint("openai:maximum-context-length at https://context.example/v1", "KEY")


def refused(status: int, error: dict[str, Any] | str) -> ProviderError:
    """What a server's error comes to."""
    return failure_of(status, msgspec.json.encode({"error": error}), {}, ENDPOINT)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"message": "too much", "type": "invalid_request_error", "code": "context_length_exceeded"}),
        (400, {"message": "This model's maximum context length is 8192 tokens. However, you requested 9000."}),
        (400, {"message": "Your input exceeds the context window of this model."}),
        (400, {"message": "prompt is too long: 208310 tokens > 200000 maximum", "type": "invalid_request_error"}),
        (413, {"message": "Prompt is too long", "type": "request_too_large"}),
        (400, {"message": "input length and `max_tokens` exceed context limit: 178902 + 32000 > 200000"}),
        (400, {"message": "9000 tokens", "type": "exceed_context_size_error", "code": 400}),
        (500, {"message": "the request exceeds the available context size, try increasing it", "code": 500}),
        (500, {"message": "in a stream", "code": "context_length_exceeded"}),
        (400, {"message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575)."}),
        (400, {"message": "This model's maximum prompt length is 131072 but the request contains 140000 tokens."}),
        (400, {"message": "Input is too long for requested model."}),
        (400, {"message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"}),
        (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096"),
        (400, {"message": "The number of tokens to keep from the prompt is greater than the context length"}),
        (400, {"message": "Input tokens exceed the configured limit of 272000 tokens."}),
    ],
)
def test_every_providers_words_for_a_full_context_are_understood(status: int, error: dict[str, Any] | str) -> None:
    failure = refused(status, error)
    assert isinstance(failure, ContextLengthError)
    assert not failure.retryable
    assert "longer than the model's context" in str(failure)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"message": "Unrecognized request argument supplied: context_length", "code": "unknown_parameter"}),
        (400, {"message": "max_tokens is too large: 9000. This model supports at most 4096 completion tokens"}),
        (413, {"message": "Request too large on tokens per minute (TPM): Limit 6000", "code": "rate_limit_exceeded"}),
        (401, {"message": "wrong key"}),
        (404, {"message": "the model 'context-window' does not exist"}),
    ],
)
def test_other_refusals_are_none(status: int, error: dict[str, Any]) -> None:
    assert type(refused(status, error)) is RejectedError


def test_a_limit_a_minute_stays_one() -> None:
    assert isinstance(refused(429, {"message": "maximum context length of all requests a minute"}), RateLimitError)


@pytest.mark.parametrize("status", [400, 413, 500])
async def test_a_first_prompt_too_long_is_no_mistake_in_the_configuration(status: int) -> None:
    def refuse(request: Request) -> Scripted:
        raise refused(status, {"message": "no", "code": "context_length_exceeded"})

    async with recording_run(refuse) as (run, _):
        with pytest.raises(ContextLengthError) as raised:
            await run.ask("much", role="worker")
    assert not isinstance(raised.value, EndpointError)
