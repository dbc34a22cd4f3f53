"""``treadle run``: one question, one answer, with its trace."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from treadle.cli.help import add
from treadle.cli.options import Asking
from treadle.errors import UserError

if TYPE_CHECKING:
    from treadle.ledger.session import Session

_EXAMPLE = """treadle run 'self-consistency?n=5' "What is 17 * 23?" --model weak
treadle run cot - --model weak < question.txt"""


def run(
    workflow: Annotated[str, typer.Argument(metavar="WORKFLOW", help="Such as cot or module:function.")],
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question; - reads it from stdin.")],
    options: Asking,
) -> int:
    """Answer one question.

    Prints the answer on stdout, and below it what was called and what it cost.
    """
    from treadle.cli.running import in_session

    text = sys.stdin.read() if question == "-" else question
    if not text.strip():
        raise UserError("the question is empty; write it in quotes after the workflow, or - to read it from stdin")
    return in_session(
        options.config,
        lambda session: _run(session, workflow, text, options),
        keyless=options.dry_run,
        sandbox=options.sandbox,
    )


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "run", run, _EXAMPLE)


async def _run(session: Session, workflow: str, question: str, options: Asking) -> int:
    from treadle.cli.codes import exit_code, explained
    from treadle.cli.output import print_json, print_text
    from treadle.cli.simulation import called, is_simulated
    from treadle.evaluation.ask import ask

    if options.dry_run:
        from treadle.cli.dry_run import dry_answer
        from treadle.tasks.base import Sample

        return await dry_answer(session, options, workflow, Sample("question", question))
    answer = await ask(session, workflow, question, **options.asking())
    if options.as_json:
        print_json(answer.document())
    else:
        from treadle.cli import trace_tree

        simulated = is_simulated(session, called(answer.trace))
        print_text(trace_tree.answered(answer.document(), answer.message, simulated=simulated))
    code = exit_code(answer.ended_by, usable=answer.status == "ok")
    if answer.ended_by in ("done", "infra"):
        return explained(code, "done", f"{answer.status}: {answer.message}", as_json=options.as_json)
    return explained(code, answer.ended_by, answer.message, as_json=options.as_json)
