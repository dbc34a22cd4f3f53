"""Content addresses: what makes two calls, or two executions, one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from treadle.models.base import Message, ModelIdentity, Request
from treadle.sandbox.base import Command, Limits, Program, Surroundings
from treadle.store.text import canonical

REPEAT_BLOCK = 10_007
"""Draws a repeat may use. Prime, so that a script that looks at ``draw % k`` differs between repeats."""
MAX_REPEATS = 1_009
PHASES = 3
_NOT_IN_KEY = frozenset({"stream"})


def draw_base(repeat: int, fresh: int = 0, phase: int = 0) -> int:
    """The first draw of a repeat's own block.

    Args:
        repeat: Which repeat, from 0.
        fresh: Which disjoint family of draws, from 0.
        phase: 0 for measuring and searching, 1 for selection, 2 for the test part of a search, so that a winner is
            never tested on draws that anything has seen.
    """
    return ((fresh * PHASES + phase) * MAX_REPEATS + repeat) * REPEAT_BLOCK


def normal_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in one spelling: unset ones left out, whole floats as integers."""
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in settings.items()
        if value is not None
    }


class RequestAddress:
    """The content address of a request, computed once for all of its draws.

    Attributes:
        body: The request as JSON.
        base: What all draws of the request have in common.
        size: Bytes of messages, tools and schema: no tokeniser makes more tokens of them.
    """

    __slots__ = ("_hash", "base", "body", "size")

    def __init__(self, identity: ModelIdentity, request: Request) -> None:
        sent: dict[str, Any] = {"messages": [_turn(message) for message in request.messages]}
        if request.schema is not None:
            sent["schema"] = request.schema
        if request.tools:
            sent["tools"] = request.tools
        content = canonical(sent)
        settings = {k: v for k, v in request.settings.items() if k not in _NOT_IN_KEY}
        asked = canonical({"model": [identity.provider, identity.name, identity.endpoint], "settings": settings})
        self.size = len(content)
        self.body = b"%b,%b" % (content[:-1], asked[1:])
        self._hash = hashlib.sha256(self.body)
        self.base = self._hash.digest()

    def key(self, draw: int) -> str:
        """The address of one draw."""
        digest = self._hash.copy()
        digest.update(b"#%d" % draw)
        return digest.hexdigest()


class ExecutionAddress:
    """The content address of an execution, computed once for all of its draws.

    Attributes:
        base: What all draws of the execution have in common.
    """

    __slots__ = ("_hash", "base")

    def __init__(
        self,
        identity: str,
        work: Program | Command,
        files: Mapping[str, bytes],
        stdin: bytes,
        limits: Limits,
        surroundings: Surroundings,
    ) -> None:
        content = {
            "sandbox": identity,
            "work": {"program": work.source} if isinstance(work, Program) else {"command": work.argv},
            "files": {path: hashlib.sha256(each).hexdigest() for path, each in files.items()},
            "stdin": hashlib.sha256(stdin).hexdigest(),
            "limits": normal_settings(asdict(limits)),
            "env": surroundings.env,
            "network": surroundings.network,
            "writable": surroundings.writable,
        }
        self._hash = hashlib.sha256(canonical(content))
        self.base = self._hash.digest()

    def key(self, draw: int) -> str:
        """The address of one draw."""
        digest = self._hash.copy()
        digest.update(b"#%d" % draw)
        return digest.hexdigest()


def _turn(message: Message) -> Message | dict[str, str]:
    if message.tool_calls or message.tool_call_id is not None:
        return message
    return {"role": message.role, "content": message.content}
