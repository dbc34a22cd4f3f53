"""Vendors with protocols of their own (Anthropic, Google and others), through pydantic-ai's direct model requests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import msgspec
from pydantic_ai import exceptions, messages
from pydantic_ai.direct import model_request
from pydantic_ai.models import Model as PydanticModel
from pydantic_ai.models import ModelRequestParameters, infer_model
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from treadle.errors import (
    CallTimeoutError,
    ProviderError,
    RejectedError,
    ServerError,
    UnknownNameError,
    UnreachableError,
    UserError,
)
from treadle.models.base import Completion, FinishReason, Message, ModelIdentity, Request, ToolCall, Usage
from treadle.models.failures import Endpoint, failure_of, shown
from treadle.models.openai_wire import sent_seed, whole

_RENAMED = {"max_completion_tokens": "max_tokens", "stop": "stop_sequences", "reasoning_effort": "thinking"}
_TAKEN = frozenset(
    {
        "temperature",
        "top_p",
        "top_k",
        "presence_penalty",
        "frequency_penalty",
        "logit_bias",
        "parallel_tool_calls",
        "thinking",
        "service_tier",
        "stop_sequences",
    }
)
_SENT_OTHERWISE = frozenset({"max_tokens", "max_completion_tokens", "seed", "n", "stream"})
_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content_filter",
    "tool_call": "tool_calls",
    "error": "error",
}
_IN_EXTRA = frozenset({"anthropic", "google"})
# The SDK refuses long replies that are not streamed unless it is told how long it may wait; the ledger ends calls.
_ANTHROPIC_TIMEOUT_S = 24 * 3600.0


class VendorModel:
    """A model behind a vendor's own API.

    Settings have their OpenAI names; those that begin with ``anthropic_`` or ``google_`` go to that vendor as they
    are. What a vendor does not know (a seed at Anthropic) is left out. Streaming makes no difference here.

    Args:
        provider: pydantic-ai's name of the provider, such as ``anthropic`` or ``google``.
        name: The model's name there.
        api_key: Never shown, never part of the identity; without one the vendor's SDK looks for credentials itself.
        key_name: The environment variable the key came from, for error messages.
        base_url: Another address of the same protocol.
        own_address: The vendor's own, stated so that no variable of its SDK can name another one unseen.

    Raises:
        UserError: The provider's SDK is not installed, or finds no credentials.
    """

    def __init__(
        self,
        provider: str,
        name: str,
        *,
        api_key: str | None = None,
        key_name: str | None = None,
        base_url: str | None = None,
        own_address: str | None = None,
    ) -> None:
        self._provider = provider
        self._name = name
        self._options = {"api_key": api_key, "base_url": base_url or own_address}
        self._identity = ModelIdentity(provider, name, base_url or "")
        self._endpoint = Endpoint(str(self._identity), key_name, (api_key,) if api_key else ())
        self._models: dict[asyncio.AbstractEventLoop, PydanticModel] = {}
        # Built at once, so that what is missing shows before a call; the first event loop takes it.
        self._unused: PydanticModel | None = self._built()
        self._profile = self._unused.profile

    def __repr__(self) -> str:
        return f"VendorModel({str(self._identity)!r})"

    @property
    def identity(self) -> ModelIdentity:
        """Provider, name and, where it is not the vendor's own, address."""
        return self._identity

    async def complete(self, request: Request) -> Completion:
        """Make one attempt.

        Raises:
            ProviderError: The subclass says whether asking again can help; the text names the remedy.
        """
        try:
            response = await model_request(
                await self._model(),
                _turns(request.messages),
                model_settings=self._settings(request),
                model_request_parameters=self._parameters(request),
                instrument=False,
            )
        except exceptions.ContentFilterError as error:
            return Completion(shown(str(error)), None, "content_filter")
        except exceptions.ModelHTTPError as error:
            raise self._refusal(error) from None
        except (exceptions.ModelTimeoutError, exceptions.ModelRequestTimeout) as error:
            raise CallTimeoutError(f"{self._endpoint.label} did not answer in time: {self._why(error)}") from None
        except exceptions.ModelConnectionError as error:
            raise UnreachableError(f"{self._endpoint.label} cannot be reached: {self._why(error)}") from None
        except exceptions.UserError as error:
            raise RejectedError(f"{self._endpoint.label}: {self._why(error)}") from None
        except (exceptions.AgentRunError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise ServerError(f"{self._endpoint.label} answered what is not its protocol: {self._why(error)}") from None
        return _completion(response)

    async def aclose(self) -> None:
        """Close every connection."""
        models, self._models = self._models, {}
        for loop, model in models.items():
            if loop is asyncio.get_running_loop():
                await model.__aexit__(None, None, None)

    def _built(self) -> PydanticModel:
        try:
            return infer_model(f"{self._provider}:{self._name}", self._client)
        except ImportError as error:
            package = "treadle[vendors]" if self._provider in _IN_EXTRA else f"pydantic-ai-slim[{self._provider}]"
            raise UserError(
                f"{self._provider}: models need one more package: pip install '{package}' ({shown(str(error))})"
            ) from None
        except (exceptions.UserError, ValueError) as error:
            raise UserError(f"{self._identity}: {self._why(error)}") from None

    def _client(self, provider: str) -> Provider[Any]:
        given = {name: value for name, value in self._options.items() if value is not None}
        make: Any = infer_provider_class(provider)
        try:
            return make(**given)
        except TypeError as error:
            raise UserError(f"{provider}: takes no key or address of its own here: {shown(str(error))}") from None

    async def _model(self) -> PydanticModel:
        loop = asyncio.get_running_loop()
        model = self._models.get(loop)
        if model is None:
            model = self._models[loop] = self._unused or self._built()
            self._unused = None
            await model.__aenter__()
        return model

    def _settings(self, request: Request) -> ModelSettings:
        settings: dict[str, Any] = {"max_tokens": request.max_tokens, "max_retries": 0}
        if request.settings.get("n", 1) not in (1, None):
            raise RejectedError("the setting n is not supported: ask for several draws instead")
        if request.settings.get("seed") is not None:
            settings["seed"] = sent_seed(request)
        for given, value in request.settings.items():
            name = _RENAMED.get(given, given)
            if given in _SENT_OTHERWISE or value is None:
                continue
            if name not in _TAKEN and not name.startswith((f"{self._provider}_", "extra_")):
                raise RejectedError(
                    str(UnknownNameError(f"setting for {self._provider}:", given, _TAKEN | {*_RENAMED}))
                )
            settings[name] = [value] if name == "stop_sequences" and isinstance(value, str) else value
        if self._provider == "anthropic":
            settings["timeout"] = _ANTHROPIC_TIMEOUT_S
        return cast("ModelSettings", settings)

    def _parameters(self, request: Request) -> ModelRequestParameters:
        tools = [
            ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters))
            for tool in request.tools
        ]
        if request.schema is None:
            return ModelRequestParameters(function_tools=tools)
        schema = OutputObjectDefinition(json_schema=msgspec.to_builtins(request.schema), name="reply")
        native = self._profile.get("supports_json_schema_output", False)
        return ModelRequestParameters(
            function_tools=tools, output_mode="native" if native else "prompted", output_object=schema
        )

    def _refusal(self, error: exceptions.ModelHTTPError) -> ProviderError:
        body = error.body if isinstance(error.body, str) else msgspec.json.encode(error.body, enc_hook=str).decode()
        failure = failure_of(error.status_code, body.encode("utf-8", "replace"), error.headers or {}, self._endpoint)
        if failure.retry_after is None and error.retry_after is not None and failure.retryable:
            failure.retry_after = error.retry_after
        return failure

    def _why(self, error: Exception) -> str:
        return shown(str(error) or type(error).__name__, self._endpoint.secrets)


def _turns(turns: Sequence[Message]) -> list[messages.ModelMessage]:
    made: list[messages.ModelMessage] = []
    names = {call.id: call.name for turn in turns for call in turn.tool_calls}
    for turn in turns:
        text: str = whole(str(turn.content))
        if turn.role == "assistant":
            calls = [messages.ToolCallPart(call.name, call.arguments, tool_call_id=call.id) for call in turn.tool_calls]
            made.append(messages.ModelResponse(parts=[*([messages.TextPart(text)] if text else []), *calls]))
            continue
        part: messages.ModelRequestPart
        if turn.role == "system":
            part = messages.SystemPromptPart(text)
        elif turn.role == "tool":
            call = turn.tool_call_id or ""
            part = messages.ToolReturnPart(names.get(call, "unknown"), text, tool_call_id=call)
        else:
            part = messages.UserPromptPart(text)
        last = made[-1] if made else None
        if isinstance(last, messages.ModelRequest):
            last.parts = [*last.parts, part]
        else:
            made.append(messages.ModelRequest(parts=[part]))
    return made


def _completion(response: messages.ModelResponse) -> Completion:
    text = "".join(part.content for part in response.parts if isinstance(part, messages.TextPart))
    calls = tuple(
        ToolCall(part.tool_call_id, part.tool_name, part.args_as_json_str())
        for part in response.parts
        if isinstance(part, messages.ToolCallPart)
    )
    finish = _FINISH.get(response.finish_reason or "", "unknown")
    return Completion(whole(text), _usage(response.usage), finish, calls)


def _usage(usage: RequestUsage) -> Usage | None:
    """The counts as they are: here input includes cache reads and writes, and output includes reasoning."""
    if usage.unmeasured_requests or not usage.has_values():
        return None
    reasoning = min(usage.output_reasoning_tokens, usage.output_tokens)
    return Usage(usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens, reasoning)
