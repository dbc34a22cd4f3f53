"""``treadle trace``: what happened in a run, question by question."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treadle.cli.help import add
from treadle.cli.options import Common
from treadle.errors import UnknownNameError

if TYPE_CHECKING:
    from treadle.ledger.session import Session
    from treadle.store.base import SampleRecord

_EXAMPLE = """treadle trace RUN --failed
treadle trace 'RUN/self-consistency?n=5' --sample q17 --full"""
_RIGHT = 0.5


def trace(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run, or RUN/WORKFLOW for one of its rows.")],
    options: Common,
    sample: Annotated[
        list[str] | None, typer.Option("--sample", metavar="ID", help="Only this one; repeatable.", show_default=False)
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only those that failed or are answered wrong.")] = False,
    flipped: Annotated[
        str | None,
        typer.Option(
            "--flipped",
            metavar="RUN2",
            help="Only those that one of the two runs has right and the other wrong.",
            show_default=False,
        ),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="With prompts and replies.")] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Samples on the screen.")] = 20,
) -> int:
    """Look at what happened in a run.

    Operators and calls in program order, with tokens, dollars and seconds.
    """
    from treadle.cli.running import in_session

    wanted = _Wanted(sample, failed, flipped)
    return in_session(options.config, lambda session: _trace(session, run, wanted, full, limit, options))


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "trace", trace, _EXAMPLE)


class _Wanted:
    """Which samples of a run were asked for."""

    def __init__(self, ids: Sequence[str] | None, failed: bool, flipped: str | None) -> None:
        self.ids = ids
        self.failed = failed
        self.flipped = flipped

    def of(self, samples: Sequence[dict[str, Any]], run: str) -> list[dict[str, Any]]:
        """The samples that were asked for.

        Raises:
            UnknownNameError: When an id is none of the run's.
        """
        known = {sample["id"] for sample in samples}
        for id in self.ids or ():
            if id not in known:
                raise UnknownNameError(f"sample of {run}", id, known)
        return [
            sample
            for sample in samples
            if (not self.ids or sample["id"] in self.ids) and (not self.failed or not is_right(sample))
        ]


def is_right(sample: Mapping[str, Any]) -> bool:
    """Whether a sample was answered, and more right than wrong."""
    return sample["status"] == "ok" and (sample["score"] is None or sample["score"] >= _RIGHT)


async def _trace(session: Session, address: str, wanted: _Wanted, full: bool, limit: int, options: Common) -> int:
    from treadle.cli.output import print_json, print_text

    samples = wanted.of(await _samples(session, address), address)
    if wanted.flipped is not None:
        samples = await _flipped(session, address, wanted.flipped, samples)
    shown = samples if options.as_json else samples[:limit]
    if full:
        from treadle.cli.conversation import add_texts

        await add_texts(session, [sample["trace"] for sample in shown])
    document = {"run": address.partition("/")[0], "samples": samples}
    if options.as_json:
        print_json(document)
        return 0
    from treadle.cli import trace_tree

    print_text(trace_tree.traced(document, shown, full=full))
    return 0


async def _samples(session: Session, address: str) -> list[dict[str, Any]]:
    from treadle.evaluation.measured import find_run

    run, _, workflow = address.partition("/")
    record = await session.journal.read(lambda store: find_run(store, run))
    samples = await session.journal.read(lambda store: store.samples(run))
    scores = await session.journal.read(lambda store: store.scores(run))
    steps = await _unfinished(session, run, {sample.sample for sample in samples})
    rows = {sample.workflow for sample in samples} | {each["workflow"] for each in steps}
    if workflow and workflow not in rows:
        raise UnknownNameError(f"row of run {run} ({record.command})", workflow, rows)
    values = {(score.workflow, score.sample, score.repeat): score.value for score in scores}
    documents = [_document(sample, values.get((sample.workflow, sample.sample, sample.repeat))) for sample in samples]
    return [each for each in (*documents, *steps) if not workflow or each["workflow"] == workflow]


async def _unfinished(session: Session, run: str, known: Collection[str]) -> list[dict[str, Any]]:
    """The questions of a killed run that left steps behind and no answer: what they did until then."""
    from treadle.ledger.scope import STEP
    from treadle.store.text import decode

    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for event in await session.journal.read(lambda store: store.events(STEP, None, run)):
        if event.subject in known:
            continue
        step: dict[str, Any] = decode(event.payload)
        question, workflow = step.pop("question"), step.pop("subject").rpartition("|")[0]
        document = {"id": event.subject, "workflow": workflow, "repeat": 0, "score": None, "status": "unfinished"}
        sample = found.setdefault((event.subject, workflow, question), {**document, "answer": "", "trace": []})
        sample["trace"].append(step)
    return list(found.values())


def _document(sample: SampleRecord, score: float | None) -> dict[str, Any]:
    from treadle.store.text import decode

    return {
        "id": sample.sample,
        "workflow": sample.workflow,
        "repeat": sample.repeat,
        "score": score,
        "status": sample.status,
        "answer": sample.answer,
        "trace": decode(sample.trace),
    }


async def _flipped(session: Session, a: str, b: str, samples: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The samples that flipped, each with what came of it there."""
    from treadle.api import compare

    found = await compare(a, b, session=session)
    flipped = set(found.flipped)
    there = {(sample["id"], sample["repeat"]): sample for sample in await _samples(session, found.b)}
    mine = found.a.partition("/")[2]
    return [
        {**sample, "against": there.get((sample["id"], sample["repeat"]))}
        for sample in samples
        if sample["id"] in flipped and sample["workflow"] == mine
    ]
