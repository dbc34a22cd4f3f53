"""The conversation with a worker's model: linear, and only added to; where the window is full, old outputs shrink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import msgspec

from treadle.agents.prompts import LEFT_OUT
from treadle.models.base import Message, Tool, ToolCall

BYTES_PER_TOKEN = 3
"""Most texts have more bytes to a token; this errs on the side of a prompt that fits."""
TOKENS_PER_TURN = 8


@dataclass(slots=True)
class Conversation:
    """The turns so far.

    Attributes:
        turns: All of them, as the model reads them.
        room: Tokens that they may have; ``None`` where nobody knows.
        tools: The tools that are declared beside them.
    """

    turns: list[Message]
    room: int | None = None
    tools: Sequence[Tool] = ()
    _observations: list[int] = field(default_factory=list[int])
    _ids: set[str] = field(default_factory=set[str])

    def own_ids(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """Tool calls with ids that no other call of the conversation has."""
        named: list[ToolCall] = []
        for call in calls:
            id = call.id if call.id and call.id not in self._ids else f"call-{len(self._ids) + 1}"
            while id in self._ids:
                id += "x"
            self._ids.add(id)
            named.append(replace(call, id=id))
        return tuple(named)

    def reply(self, text: str, calls: Sequence[ToolCall]) -> None:
        """Add what the model said."""
        self.turns.append(Message("assistant", text, tuple(calls)))

    def observe(self, text: str, call: ToolCall | None) -> None:
        """Add what came of it."""
        self._observations.append(len(self.turns))
        self.turns.append(Message("user", text) if call is None else Message("tool", text, (), call.id))

    def fit(self) -> int:
        """Shorten the oldest observations, never the last, until the turns have room; how many were shortened."""
        if self.room is None:
            return 0
        over = tokens(self.turns, self.tools) - self.room
        shortened = 0
        for place in self._observations[:-1]:
            if over <= 0:
                break
            turn = self.turns[place]
            line = LEFT_OUT.format(count=len(turn.content))
            gain = _tokens(turn.content) - _tokens(line)
            if gain > 0 and not turn.content.startswith(_MARK):
                self.turns[place] = replace(turn, content=line)
                over -= gain
                shortened += 1
        return shortened


_MARK = LEFT_OUT.partition("{")[0]


def tokens(turns: Sequence[Message], tools: Sequence[Tool] = ()) -> int:
    """An estimate on the safe side of the tokens of a prompt: bytes / 3, and 8 a turn.

    Args:
        turns: The prompt; its tool calls count.
        tools: The tools declared beside it.
    """
    calls = sum(_tokens(call.name + call.arguments) + TOKENS_PER_TURN for turn in turns for call in turn.tool_calls)
    declared = _size_of(tools) if tools else 0
    return declared + calls + sum(_tokens(turn.content) + TOKENS_PER_TURN for turn in turns)


def _size_of(tools: Sequence[Tool]) -> int:
    return -(-len(msgspec.json.encode(list(tools))) // BYTES_PER_TOKEN)


def _tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)
