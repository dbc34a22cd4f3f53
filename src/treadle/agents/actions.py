"""What a reply wants done: tool calls, or one fenced command; else it is the end, or a format error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from treadle.agents import prompts
from treadle.agents.tools.base import WorkerTool
from treadle.agents.tools.shell import SHELL
from treadle.models.base import Completion, ToolCall
from treadle.parsing.fences import blocks
from treadle.parsing.thinking import without_thinking

MOST_CALLS = 20
"""So many calls of one reply are done."""
_SHELLS = ("bash", "sh", "shell")
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Action:
    """Something to do, or what cannot be done.

    Attributes:
        words: What it is, for the trace.
        tool: What does it; ``None`` where ``fault`` says why nothing does.
        arguments: What the tool is given; they follow its schema.
        fault: Why it is no action, for the model.
        call: The tool call that is answered; ``None`` for a fenced command.
    """

    words: str
    tool: WorkerTool | None = None
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    fault: str = ""
    call: ToolCall | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A reply as it was understood.

    Attributes:
        text: What it says, without thoughts.
        actions: What is to be done, in order; none where it ends the work.
    """

    text: str
    actions: tuple[Action, ...] = ()


def wanted(completion: Completion, tools: Mapping[str, WorkerTool], calls: Sequence[ToolCall]) -> Wanted:
    """Read a reply; tool calls win over a fenced command.

    Args:
        completion: The reply.
        tools: The tools that there are, by name.
        calls: Its tool calls, with ids of their own.
    """
    cut = completion.finish_reason == "length"
    said = without_thinking(completion.text).strip()
    if calls:
        beyond = (_no_action(prompts.TOO_MANY.format(most=MOST_CALLS), call) for call in calls[MOST_CALLS:])
        return Wanted(said, (*(_called(call, tools, cut) for call in calls[:MOST_CALLS]), *beyond))
    if cut:
        return Wanted(said, (_no_action(prompts.CUT),))
    commands = [block.code for block in blocks(said) if block.language in _SHELLS]
    if len(commands) > 1:
        return Wanted(said, (_no_action(prompts.SEVERAL.format(count=len(commands))),))
    if commands and not commands[0].strip():
        return Wanted(said, (_no_action(prompts.EMPTY_COMMAND),))
    if commands:
        return Wanted(said, (Action(commands[0].strip("\n"), SHELL, {"command": commands[0]}),))
    return Wanted(said) if said else Wanted(said, (_no_action(prompts.EMPTY),))


def _no_action(fault: str, call: ToolCall | None = None) -> Action:
    return Action(_words(call) if call else "", fault=fault, call=call)


def _words(call: ToolCall) -> str:
    return f"{call.name} {call.arguments}"


def _called(call: ToolCall, tools: Mapping[str, WorkerTool], cut: bool) -> Action:
    words = _words(call)
    tool = tools.get(call.name)
    if tool is None:
        fault = prompts.NO_TOOL.format(tool=call.name[:60], tools=", ".join(tools))
        return Action(words, fault=fault, call=call)
    try:
        arguments: Any = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        template = prompts.CUT_CALL if cut else prompts.NO_JSON
        return Action(words, fault=template.format(tool=call.name, reason=str(error)[:_SHOWN]), call=call)
    fault = _fault(arguments, tool)
    if fault:
        fault = prompts.WRONG_ARGUMENTS.format(tool=call.name, reason=fault)
        return Action(words, fault=fault, call=call)
    return Action(arguments["command"] if tool is SHELL else words, tool, arguments, call=call)


def _fault(arguments: Any, tool: WorkerTool) -> str:
    from jsonschema import Draft202012Validator

    validator: Any = Draft202012Validator(dict(tool.declaration.parameters))
    error = next(iter(validator.iter_errors(arguments)), None)
    return "" if error is None else f"{error.message[:_SHOWN]} at {error.json_path}"
