"""Running workflow code that a model wrote: an async function in Monty that calls functions of the host."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from treadle.sandbox.base import MIB, Limits
from treadle.sandbox.monty.calls import Call, HostCalls
from treadle.sandbox.monty.check import TypeFault, check_code
from treadle.sandbox.monty.faults import ending, time_is_up
from treadle.sandbox.monty.pool import MontyPool
from treadle.sandbox.monty.session import OutOfTime, Session, WorkerLost
from treadle.sandbox.monty.values import NotPlainError, plain
from treadle.sandbox.output import Kept

FaultKind = Literal["type", "syntax", "unsupported", "raised", "timed_out", "out_of_memory", "crashed"]
CODE_LIMITS = Limits(seconds=10.0, memory=64 * MIB)
"""What workflow code may take: it waits for models, and as many as fit wait at one time."""

_GIVEN = "treadle_given_"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class HostFunction:
    """A function of the host that code may call.

    Attributes:
        name: The name that code calls it by.
        call: What it does: takes its arguments by keyword and gives a plain value. A TreadleError or a cancellation
            that it raises ends the code; any other error is raised in the code.
        stub: Its declaration, such as ``async def ask(prompt: str, *, draw: int = 0) -> str: ...``.
        signature: The parameters that the stub declares.
    """

    name: str
    call: Callable[..., Awaitable[object]]
    stub: str
    signature: inspect.Signature = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", _signature(self.name, self.stub))


@dataclass(frozen=True, slots=True)
class CodeFault:
    """Why code gave no value.

    Attributes:
        kind: ``type``, ``syntax`` and ``unsupported`` are mostly known before anything has run; a value that is not
            plain is a ``type`` too.
        message: What was wrong, in words for whoever wrote the code.
        line: Line of the source, counted from 1, where it is known.
    """

    kind: FaultKind
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class CodeOutcome:
    """What became of code.

    Attributes:
        value: What the function gave; None where there is a fault.
        fault: Why it gave nothing.
        seconds: Its own running time; waiting for functions of the host is not in it.
        printed: What it printed, both streams in one; of a longer text head and tail.
    """

    value: object = None
    fault: CodeFault | None = None
    seconds: float = 0.0
    printed: str = ""


async def run_code(
    pool: MontyPool,
    source: str,
    *,
    entry: str,
    inputs: Mapping[str, object],
    functions: Sequence[HostFunction],
    stubs: str = "",
    limits: Limits = CODE_LIMITS,
) -> CodeOutcome:
    """Check code, and if nothing is wrong with it run its function.

    Args:
        pool: Where its worker comes from; the worker is held until the function is done.
        source: The code: it defines an async function with the name ``entry``.
        entry: The function that is awaited.
        inputs: Its arguments by keyword; plain values.
        functions: What the code may call; calls that it starts together run together.
        stubs: Further declarations that the checker needs: types that functions take and give.
        limits: ``seconds`` of its own running time, ``memory`` and ``output_bytes`` hold.

    Raises:
        TreadleError: A function of the host raised it: the very same object; so is a cancellation.
        SandboxError: Monty is not there, or the pool is closed.
        NotPlainError: An input is not a plain value.
    """
    if not all(name.isidentifier() for name in (entry, *inputs)):
        raise ValueError("the function and its arguments are called by their names: those must be identifiers")
    given = {f"{_GIVEN}{name}": plain(value, f"the input {name}") for name, value in inputs.items()}
    call = f"await {entry}({', '.join(f'{name}={_GIVEN}{name}' for name in inputs)})"
    faults = await check_code(pool, source, _declarations(given, functions, stubs), call=call)
    if faults:
        return CodeOutcome(fault=_first(faults))
    calls = {function.name: _call(function) for function in functions}
    async with pool.checkout(limits) as session:
        return await _run(session, f"{source}\n{call}", given, calls, limits)


async def _run(
    session: Session, source: str, given: Mapping[str, object], calls: Mapping[str, Call], limits: Limits
) -> CodeOutcome:
    from pydantic_monty import MontyError

    kept = Kept(limits.output_bytes)

    def printed(_stream: str, text: str) -> None:
        kept.add(text.encode(errors="replace"))

    value, fault = None, None
    try:
        snapshot = await session.start(source, printed, given)
        value = plain(await HostCalls(session, calls).answer(snapshot), "what the code gives")
    except MontyError as error:
        end = ending(error, lines=source.count("\n"), memory=limits.memory, seconds=session.seconds)
        fault = CodeFault(end.kind, end.message, end.line)
    except NotPlainError as error:
        fault = CodeFault("type", str(error))
    except OutOfTime:
        fault = CodeFault("timed_out", time_is_up(session.seconds))
    except WorkerLost:
        fault = CodeFault("crashed", "the pool was closed while the code ran")
    return CodeOutcome(value, fault, session.used, kept.text())


def _call(function: HostFunction) -> Call:
    async def call(positional: tuple[object, ...], keywords: dict[str, object]) -> object:
        try:
            bound = function.signature.bind(*positional, **keywords)
            arguments = {name: plain(value, f"the argument {name}") for name, value in bound.arguments.items()}
        except TypeError as error:
            raise TypeError(f"{function.name}(): {error}") from None
        value = await function.call(**arguments)
        try:
            return plain(value, "what it gives")
        except NotPlainError as error:
            raise TypeError(f"{function.name}(): {error}") from None

    return call


def _signature(name: str, stub: str) -> inspect.Signature:
    try:
        (declared,) = ast.parse(stub).body
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"the stub of {name} is not one declaration: {stub!r}") from error
    if not isinstance(declared, ast.AsyncFunctionDef) or declared.name != name:
        raise ValueError(f"the stub of {name} does not declare `async def {name}(…)`: {stub!r}")
    arguments = declared.args
    if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
        raise ValueError(f"every parameter of {name} needs a name to be called by: {stub!r}")
    required = len(arguments.args) - len(arguments.defaults)
    optional = [place >= required for place in range(len(arguments.args))]
    named = [default is not None for default in arguments.kw_defaults]
    return inspect.Signature(
        [
            inspect.Parameter(one.arg, kind, default=None if has else inspect.Parameter.empty)
            for kind, ones, defaults in (
                (inspect.Parameter.POSITIONAL_OR_KEYWORD, arguments.args, optional),
                (inspect.Parameter.KEYWORD_ONLY, arguments.kwonlyargs, named),
            )
            for one, has in zip(ones, defaults, strict=True)
        ]
    )


def _declarations(given: Mapping[str, object], functions: Sequence[HostFunction], stubs: str) -> str:
    inputs = "\n".join(f"{name}: {_annotation(value)}" for name, value in given.items())
    return "\n".join(("from typing import Any", stubs, *(function.stub for function in functions), inputs, ""))


def _annotation(value: object) -> str:
    if value is None or isinstance(value, bool | int | float | str):
        return "None" if value is None else type(value).__name__
    return "list[Any]" if isinstance(value, list) else "dict[str, Any]"


def _first(faults: Sequence[TypeFault]) -> CodeFault:
    told = [fault.message if fault.line is None else f"line {fault.line}: {fault.message}" for fault in faults]
    if len(told) == 1:
        return CodeFault(faults[0].kind, faults[0].message, faults[0].line)
    more = f"\nand {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return CodeFault(faults[0].kind, "\n".join(told[:_SHOWN]) + more, faults[0].line)
