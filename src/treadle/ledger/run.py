"""A run: what a workflow is handed to reach models, tools, time and chance."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from treadle.errors import FormatError, SampleFailure, TruncatedError
from treadle.ledger.branches import alone, outcome_of, start
from treadle.ledger.executing import RunSandbox
from treadle.ledger.keys import RequestAddress, normal_settings
from treadle.ledger.problem import Problem
from treadle.ledger.scope import Scope
from treadle.ledger.spent import Spent, spent_by_role
from treadle.ledger.strand import Strand
from treadle.ledger.trace import CallEntry, NoteEntry, Span
from treadle.models.base import Completion, Message, ModelIdentity, Request, Tool
from treadle.parsing.json_text import read_json

T = TypeVar("T")
_REPLY_SHARE = 4
Prompt = str | Sequence[Message]


def _turns(prompt: Prompt) -> tuple[Message, ...]:
    if isinstance(prompt, Problem):
        return prompt.messages
    if isinstance(prompt, str):
        return (Message("user", prompt),)
    return tuple(prompt)


class Run:
    """The only door from a workflow to models, tools, time and chance.

    Workflows are handed one; operators ask for a `child` so that their calls stand together in the trace.
    """

    __slots__ = ("_name", "_rng", "_scope", "_span")

    def __init__(self, scope: Scope, span: Span | None = None, name: str = "") -> None:
        self._scope = scope
        self._span = span or scope.span
        self._name = name
        self._rng: dict[tuple[int, ...], Random] = {}

    @property
    def rng(self) -> Random:
        """A seeded source of chance of this strand of code: the same on every replay, whatever runs beside it."""
        path = self._scope.strand().path
        if path not in self._rng:
            self._rng[path] = Random(f"{self._scope.seed}/{self._name}/{path}")
        return self._rng[path]

    @property
    def models(self) -> tuple[str, ...]:
        """The models that the command was given, the strong one first."""
        return self._scope.recording.models

    def named(self, role: str) -> str | None:
        """The model that the command or the file names for a role; ``None`` where whoever is given plays it."""
        return self._scope.recording.named(role)

    def player(self, role: str | None = None) -> str:
        """The model that plays a role, by the name that people call it.

        Args:
            role: A role, or ``None`` for whoever answers where nothing is said.

        Raises:
            UserError: When nobody is given.
        """
        return self._scope.recording.endpoint(role).alias

    def identity(self, role: str | None = None) -> ModelIdentity:
        """What makes the model that plays a role the same as another, whatever people call it."""
        return self._scope.recording.endpoint(role).identity

    def calls_tools(self, role: str | None = None, model: str | None = None) -> bool:
        """Whether the model that plays a role calls the tools it is given, as far as that is known."""
        return self._scope.recording.endpoint(role, model).calls_tools

    @property
    def folder(self) -> Path:
        """Where files of this question belong: a folder of the command's run; made by whoever needs it."""
        return self._scope.folder

    def spent_by_role(self, *, paid: bool = False) -> dict[str, Spent]:
        """What the asks of this part of the run cost so far, by role; ``""`` where none was named.

        Args:
            paid: Count only what was not there already.
        """
        return spent_by_role(self._span, paid=paid)

    def room(self, role: str | None, model: str | None, settings: Mapping[str, Any]) -> int | None:
        """Tokens that a prompt may have so that its reply still fits into the model's context window.

        For the reply ``max_tokens`` are left, but no more than a quarter of the window.

        Args:
            role: As in `ask`, like the others.
            model: A model named.
            settings: Sampling settings; ``max_tokens`` counts.

        Returns:
            ``None`` where nobody says how large the window is.
        """
        endpoint = self._scope.recording.endpoint(role, model)
        if endpoint.context_window is None:
            return None
        reply = settings.get("max_tokens", endpoint.settings["max_tokens"])
        return endpoint.context_window - min(int(reply), endpoint.context_window // _REPLY_SHARE)

    @property
    def sandbox(self) -> RunSandbox:
        """Where untrusted code runs; opened by the first execution."""
        return RunSandbox(self._scope, self._span)

    async def ask(
        self,
        prompt: Prompt,
        *,
        role: str | None = None,
        model: str | None = None,
        draw: int | None = None,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
        keep_truncated: bool = False,
        **settings: Any,
    ) -> Completion:
        """Ask a model once.

        Args:
            prompt: A problem (its chat turns are sent), a text (one user turn), or chat turns.
            role: Which role answers, such as ``"judge"``; the command says which model that is.
            model: An alias or ``provider:model``, instead of a role.
            draw: Which of the independent draws of this request, from 0. Without it the k-th same ask of this strand
                of code is draw k; branches of `gather` take turns in their order.
            schema: A JSON schema that the reply must follow; ``parsed`` is then filled, after one repair ask.
            tools: Tools that the model may call.
            keep_truncated: Return a reply that was cut by its token limit instead of raising.
            settings: Sampling settings such as ``temperature``; they win over the model's own.

        Raises:
            TruncatedError: When the reply was cut by its token limit.
            FormatError: When a schema was given and the repaired reply does not follow it either.
            ProviderError: When the provider failed for good.
            SampleBudgetError: When this question's cap is spent.
            RunLimitError: When the run's budget is spent.
        """
        completion, request = await self._complete(_turns(prompt), role, model, draw, schema, tuple(tools), settings)
        if completion.finish_reason == "length" and not keep_truncated:
            raise TruncatedError(
                f"{request.model}: the reply was cut at {request.max_tokens} tokens; a higher max_tokens lets it end",
                completion.text,
            )
        if schema is None:
            return completion
        try:
            return replace(completion, parsed=_parsed(completion.text, schema))
        except FormatError as error:
            self.note("repair", reason=str(error))
            turns = (
                *request.messages,
                Message("assistant", completion.text),
                Message("user", f"That reply cannot be used: {error}. Reply again with the JSON only."),
            )
        repaired, _ = await self._complete(turns, role, model, draw, schema, tuple(tools), settings)
        return replace(repaired, parsed=_parsed(repaired.text, schema))

    async def _complete(
        self,
        turns: tuple[Message, ...],
        role: str | None,
        model: str | None,
        draw: int | None,
        schema: Mapping[str, Any] | None,
        tools: tuple[Tool, ...],
        settings: Mapping[str, Any],
    ) -> tuple[Completion, Request]:
        scope = self._scope
        endpoint = scope.recording.endpoint(role, model)
        merged = normal_settings({**endpoint.settings, **settings}) if settings else endpoint.settings
        request = Request(endpoint.alias, turns, merged, schema, tools)
        address = RequestAddress(endpoint.identity, request)
        strand = scope.strand()
        number = scope.draw(strand, address.base, draw)
        request = Request(endpoint.alias, turns, merged, schema, tools, scope.draw_base + number)
        place = strand.next_place()
        try:
            completion = await scope.answer(endpoint, address, request)
        except SampleFailure as error:
            self._enter(strand, place, request, role, address, None, str(error))
            raise
        self._enter(strand, place, request, role, address, completion, None)
        return completion, request

    def _enter(
        self,
        strand: Strand,
        place: tuple[int, ...],
        request: Request,
        role: str | None,
        address: RequestAddress,
        completion: Completion | None,
        error: str | None,
    ) -> None:
        seconds = completion.seconds if completion else 0.0
        entry = CallEntry(
            place,
            request.model,
            role,
            request.draw,
            address.key(request.draw),
            completion.usage if completion else None,
            completion.usd if completion else None,
            strand.elapsed,
            seconds,
            completion.cached if completion else False,
            completion.finish_reason if completion else "error",
            error,
        )
        strand.elapsed += seconds
        self._span.entries.append(entry)

    async def gather(self, branches: Iterable[Awaitable[T]]) -> list[T]:
        """Run branches at once and return their results in order.

        All branches end, whatever happens to one of them; then the first failure in their order is raised. When the
        caller is cancelled, so is every branch.
        """
        results = await self._branches(branches)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return results  # pyright: ignore[reportReturnType]

    async def settle(self, branches: Iterable[Awaitable[T]]) -> list[T | SampleFailure]:
        """Like `gather`, but a branch that failed stands in the results as its failure."""
        results = await self._branches(branches)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, SampleFailure):
                raise result
        return results  # pyright: ignore[reportReturnType]

    async def _branches(self, branches: Iterable[Awaitable[T]]) -> list[T | BaseException]:
        work = list(branches)
        parent = self._scope.strand()
        strands = parent.branches(len(work))
        if len(work) == 1:
            return [await alone(work[0], strands[0], parent)]
        tasks = [start(branch, strand) for branch, strand in zip(work, strands, strict=True)]
        if not tasks:
            return []
        try:
            await asyncio.wait(tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for branch in work:
                if asyncio.iscoroutine(branch):
                    branch.close()
            parent.join(strands)
        return [outcome_of(task) for task in tasks]

    def child(self, name: str) -> Run:
        """A named part of this run, such as an operator: its calls and notes stand together in the trace."""
        place = self._scope.strand().next_place()
        span = Span(place, name)
        self._span.entries.append(span)
        return Run(self._scope, span, f"{self._name}/{name}@{'.'.join(map(str, place))}")

    def note(self, kind: str, **details: Any) -> None:
        """Write something down in the trace: a fallback that was taken, a tie, a second ask."""
        self._span.entries.append(NoteEntry(self._scope.strand().next_place(), kind, details))

    async def keep(self, kind: str, **details: Any) -> None:
        """Write something down in the trace that even a killed process leaves behind, such as a step of an agent.

        Args:
            kind: What it is.
            details: JSON values.
        """
        self.note(kind, **details)
        await self._scope.keep({"note": kind, "part": self._name, **details})


def _parsed(text: str, schema: Mapping[str, Any]) -> Any:
    from jsonschema import Draft202012Validator

    value = read_json(text)
    validator: Any = Draft202012Validator(dict(schema))
    error = next(iter(validator.iter_errors(value)), None)
    if error is not None:
        raise FormatError(f"{error.message} at {error.json_path}")
    return value
