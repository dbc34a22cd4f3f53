"""Models that a Python function plays: for tests, dry work and demonstrations; a user's own code, run as it is."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import inspect
import math
import sys
import traceback
import types
from collections.abc import Awaitable, Callable, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, cast, get_args

import msgspec

from treadle.errors import CallTimeoutError, ConfigError, ProviderError, ServerError, UnknownNameError
from treadle.models.base import Completion, FinishReason, ModelIdentity, Request, ToolCall, Usage
from treadle.models.failures import shown

Scripted = str | Mapping[str, Any] | Completion
ReplyFunction = Callable[[Request], Scripted | Awaitable[Scripted]]

_FIELDS = ("text", "usage", "finish_reason", "delay_s", "tool_calls")
_USAGE_FIELDS = ("input", "cached_input", "cache_write", "output", "reasoning")
_CHARACTERS_PER_TOKEN = 4


class ScriptedModel:
    """A model whose replies a function gives.

    The function takes the request and returns (or, if it is async, resolves to) a text or a mapping with any of
    ``text``, ``usage``, ``finish_reason``, ``delay_s`` and ``tool_calls``. Where it says nothing of usage, tokens are
    counted as characters / 4, rounded up, of all messages and of the text; ``"usage": None`` plays a provider that
    does not say. What it raises is a provider failure that is not tried again, except `TimeoutError` and
    `ConnectionError`, which are; errors of `treadle.errors` pass as they are.

    Args:
        reply: The function.
        name: The name in the identity.
        version: What else tells this function from another of that name, such as a hash of its source.
    """

    def __init__(self, reply: ReplyFunction, name: str = "scripted", version: str = "") -> None:
        self._reply = reply
        self._identity = ModelIdentity("scripted", name, version)
        self._file = getattr(inspect.unwrap(reply), "__code__", None)

    def __repr__(self) -> str:
        return f"ScriptedModel({str(self._identity)!r})"

    @property
    def identity(self) -> ModelIdentity:
        """The script's name and, where it came from a file, the hash of its text."""
        return self._identity

    async def complete(self, request: Request) -> Completion:
        """Ask the function once.

        Raises:
            ProviderError: The function raised, or returned something that is no reply.
        """
        try:
            given = self._reply(request)
            if inspect.isawaitable(given):
                given = await given
        except ProviderError:
            raise
        except TimeoutError as error:
            raise CallTimeoutError(self._raised(error)) from error
        except ConnectionError as error:
            raise ServerError(self._raised(error)) from error
        except (Exception, SystemExit) as error:
            raise ProviderError(self._raised(error)) from error
        if isinstance(given, Completion):
            return given
        if isinstance(given, str):
            return Completion(str(given), _counted(request, given))
        try:
            completion, delay_s = _completion(request, given)
        except (UnknownNameError, TypeError, ValueError) as error:
            raise ProviderError(f"{self._identity.name}: its reply cannot be used: {shown(str(error))}") from error
        if delay_s:
            await asyncio.sleep(delay_s)
        return completion

    async def aclose(self) -> None:
        """There is nothing to free."""

    def _raised(self, error: BaseException) -> str:
        where = _line(error, self._file.co_filename if self._file is not None else "")
        return f"{self._identity.name}{where} raised {type(error).__name__}: {shown(str(error))}"


def load_script(path: Path) -> ScriptedModel:
    """Load a file that defines ``reply(request)``.

    Args:
        path: A Python file; its text becomes part of the model's identity, so that a changed script is asked anew.

    Raises:
        ConfigError: The file is missing, does not run, or has no ``reply``; the text names file and line.
    """
    try:
        source = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"the script {path} cannot be read: {error.strerror}") from None
    version = "sha256:" + hashlib.sha256(source).hexdigest()[:16]
    reply = getattr(_module(path, version), "reply", None)
    if not callable(reply):
        raise ConfigError(f"the script {path} has no function reply(request); define one that returns a str or a dict")
    return ScriptedModel(cast("ReplyFunction", reply), path.name, version)


class _Loader(SourceFileLoader):
    """Compiles the file as it is now: a bytecode cache can be stale within the same second, and is litter."""

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _module(path: Path, version: str) -> types.ModuleType:
    file = str(path.resolve())
    name = "treadle_script_" + hashlib.sha256(f"{file}\0{version}".encode()).hexdigest()[:12]
    spec = importlib.util.spec_from_loader(name, _Loader(name, file))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        del sys.modules[name]
        raise ConfigError(f"the script {path}, line {error.lineno}: {error.msg}") from None
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        where = _line(error, file)
        raise ConfigError(f"the script {path}{where} raised {type(error).__name__}: {shown(str(error))}") from error
    return module


def _line(error: BaseException, file: str) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f", line {lines[-1]}," if lines else ""


def _counted(request: Request, text: str) -> Usage:
    read = sum(len(message.content) for message in request.messages)
    return Usage(input=-(-read // _CHARACTERS_PER_TOKEN), output=-(-len(text) // _CHARACTERS_PER_TOKEN))


def _completion(request: Request, given: object) -> tuple[Completion, float]:
    if not isinstance(given, Mapping):
        raise TypeError(f"reply() must return a str or a dict, not {type(given).__name__}")
    fields = cast("Mapping[str, Any]", given)
    _known(fields, _FIELDS, "field of a scripted reply")
    text = fields.get("text", "")
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}")
    calls = tuple(_tool_call(call, index) for index, call in enumerate(fields.get("tool_calls") or ()))
    finish = fields.get("finish_reason") or ("tool_calls" if calls else "stop")
    if finish not in get_args(FinishReason):
        raise ValueError(f"finish_reason {finish!r} is none of {', '.join(get_args(FinishReason))}")
    delay_s = float(fields.get("delay_s") or 0.0)
    if not (math.isfinite(delay_s) and delay_s >= 0):
        raise ValueError(f"delay_s must be a number of seconds, not {delay_s}")
    usage = _usage(fields["usage"]) if "usage" in fields else _counted(request, text)
    return Completion(text, usage, finish, calls), delay_s


def _usage(given: object) -> Usage | None:
    if given is None or isinstance(given, Usage):
        return given
    if not isinstance(given, Mapping):
        raise TypeError(f"usage must be a dict or None, not {type(given).__name__}")
    counts = cast("Mapping[str, Any]", given)
    _known(counts, _USAGE_FIELDS, "field of usage")
    for name, count in counts.items():
        if not isinstance(count, int) or count < 0:
            raise ValueError(f"usage: {name} must be a whole number of tokens, not {count!r}")
    return Usage(**counts)


def _known(given: Mapping[str, Any], known: tuple[str, ...], kind: str) -> None:
    for name in given:
        if name not in known:
            raise UnknownNameError(kind, str(name), known)


def _tool_call(given: Any, index: int) -> ToolCall:
    if isinstance(given, ToolCall):
        return given
    call: Any = given.get("function", given)
    arguments: Any = call.get("arguments", "{}")
    text = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
    return ToolCall(str(given.get("id", f"call-{index}")), str(call["name"]), text)
