"""``treadle ablate``: takes the parts of a workflow out one by one."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treadle.cli.help import add
from treadle.cli.options import REPEATS, Measuring, Tasks
from treadle.errors import UserError

if TYPE_CHECKING:
    from treadle.evaluation.ablation_report import AblationReport
    from treadle.ledger.cast import Cast
    from treadle.ledger.session import Session
    from treadle.workflows.base import Workflow

_EXAMPLE = """treadle ablate archon:reasoning --task gsm8k:test.jsonl --models big,weak --dry-run
treadle ablate archon:reasoning --task gsm8k:test.jsonl --models big,weak -o lean.json
treadle ablate 'self-consistency?n=9' --task gsm8k:test.jsonl --model weak --margin 4"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AblateOptions(Measuring):
    """Options of ``treadle ablate``."""

    repeat: Annotated[
        int, typer.Option("--repeat", metavar="R", min=1, max=REPEATS, help="Answer every question so often.")
    ] = 1
    margin: Annotated[float, typer.Option("--margin", metavar="POINTS", min=0, help="Points that do not matter.")] = 2.0
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the lean structure there, as JSON.", show_default=False
        ),
    ] = None


def ablate(
    workflow: Annotated[str, typer.Argument(metavar="WORKFLOW", help="Such as archon:general or debate?rounds=3.")],
    task: Tasks,
    options: AblateOptions,
) -> int:
    """Take the parts of a workflow out one by one, and say which are dead weight.

    Every part is measured by its absence, on the same samples; what is dead goes, and what is left is the lean one.
    """
    from treadle.cli.running import in_session

    if options.output is not None:
        _check_output(options.output)
    return in_session(
        options.config,
        lambda session: _ablate(session, workflow, task, options),
        keyless=options.dry_run,
        sandbox=options.sandbox,
    )


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "ablate", ablate, _EXAMPLE)


def _check_output(path: Path) -> None:
    if path.is_dir():
        raise UserError(f"-o {path} is a folder; name a file in it, such as {path / 'lean.json'}")
    if not path.parent.is_dir():
        raise UserError(f"-o {path}: there is no folder {path.parent}; make it first, or name another")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UserError(f"-o {path} may not be written; name a file elsewhere")


async def _ablate(session: Session, name: str, task: list[str], options: AblateOptions) -> int:
    from treadle.api import ablate as ablated
    from treadle.cli.progress import progress_bar
    from treadle.evaluation.found import prepare_measured
    from treadle.workflows.weakening import structure_of

    (workflow,), cast = await prepare_measured(session, [name], task, options.cast(), options.roles())
    if options.output is not None and structure_of(workflow) is None:
        raise UserError(f"-o writes Archon structures; what is left of {workflow.name} has a name, which is printed")
    if options.dry_run:
        return await _estimate(session, workflow, cast, task, options)
    with progress_bar("ablate") as watch:
        report = await ablated(
            name,
            task=task,
            session=session,
            repeat=options.repeat,
            margin=options.margin,
            watch=watch,
            **options.measuring(),
        )
    written = _write(report, options.output)
    return _show(session, report, task, options, written=written)


async def _estimate(session: Session, workflow: Workflow, cast: Cast, task: list[str], options: AblateOptions) -> int:
    from treadle.cli.output import print_json, print_text
    from treadle.cli.programs import say_programs
    from treadle.evaluation.ablation import measured_by
    from treadle.evaluation.ablation_estimate import estimate_ablation
    from treadle.evaluation.evaluate import begin
    from treadle.evaluation.preparing import prepare_task
    from treadle.workflows.weakening import divide

    divided = divide(workflow)
    opened = await prepare_task(session, task, limit=options.limit, drop_bad_gold=options.drop_bad_gold)
    recording = await session.record("ablate", cast=cast, budget=options.budget(), fresh=options.fresh)
    begin(recording, options.caps(), opened, measured_by(divided))
    say_programs(session, opened, measured_by(divided))
    document = estimate_ablation(divided, opened, recording, options.repeat).document()
    if options.as_json:
        print_json(document)
    else:
        from treadle.cli import ablation_tables

        print_text(ablation_tables.estimated_ablation(document, opened.name, options.margin))
    return 0


def _write(report: AblationReport, path: Path | None) -> bool:
    """Write the lean structure, and say so; whether everything asked for is done."""
    from treadle.cli.output import say

    if path is None:
        if report.lean is not None and not report.lean.reopens:
            say("the lean structure has prompts of its own, which no name holds: run it again with -o lean.json")
        return True
    structure = report.lean.structure if report.lean is not None else None
    if structure is None:
        say(f"there is no lean structure, so {path} is not written")
        return True
    import msgspec

    from treadle.workflows.archon.json_form import structure_document

    text = msgspec.json.format(msgspec.json.encode(structure_document(structure)), indent=2)
    try:
        path.write_bytes(text + b"\n")
    except OSError as error:
        say(f"{path} could not be written: {error.strerror}; the document's lean.structure is what it would hold")
        return False
    say(f"the lean structure is in {path}; name it archon:{path}")
    return True


def _show(session: Session, report: AblationReport, task: list[str], options: AblateOptions, *, written: bool) -> int:
    from treadle.cli.codes import exit_code, explained
    from treadle.cli.output import print_json, print_text
    from treadle.cli.simulation import is_simulated, named

    document = report.document()
    if options.as_json:
        print_json(document)
    else:
        from treadle.cli import ablation_tables

        simulated = is_simulated(session, [*task, *named(session, options)])
        steps = _next_steps(report, task, options)
        print_text(ablation_tables.ablated(document, steps, simulated=simulated, message=report.message))
    code = exit_code(report.ended_by, usable=report.usable and written)
    return explained(code, report.ended_by, report.message or _reason(document), as_json=options.as_json)


def _reason(document: dict[str, Any]) -> str:
    measured = sum(part["difference"] is not None for part in document["parts"])
    return f"{measured} of {len(document['parts'])} parts measured"


def _next_steps(report: AblationReport, task: Sequence[str], options: AblateOptions) -> list[str]:
    """How to see what the most valuable part does, and how to test the lean workflow on fresh draws."""
    steps: list[str] = []
    known = [
        (found.comparison.difference, found) for found in report.parts if found.without == "worse" and found.comparison
    ]
    if known:
        _, best = min(known, key=lambda pair: pair[0])
        sides = (f"{report.run}/{name}" for name in (report.whole.workflow, best.part.left.name))
        steps.append(f"treadle trace {' --flipped '.join(map(shlex.quote, sides))}")
    lean = report.lean
    if lean is not None:
        name = lean.row.workflow
        if not lean.reopens:
            name = f"archon:{options.output or 'lean.json'}"
        words = ["treadle", "compare", name, report.whole.workflow]
        words += [word for each in task for word in ("--task", each)]
        words += ["--model", options.model] if options.model else []
        words += ["--models", options.models] if options.models else []
        words += [word for each in options.role for word in ("--role", each)]
        words += ["--limit", str(options.limit)] if options.limit else []
        words += ["--config", str(options.config)] if options.config else []
        words += ["--fresh", str(options.fresh + 1)]
        steps.append(shlex.join(words))
    return steps
