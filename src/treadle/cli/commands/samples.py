"""``treadle samples``: how many samples a difference needs, or what a number of them can show."""

from __future__ import annotations

from typing import Annotated

import typer

from treadle.cli.given import given_options, refuse
from treadle.cli.help import add
from treadle.cli.options import Common
from treadle.errors import UserError

_EXAMPLE = """treadle samples --effect 5
treadle samples --n 200 --base 0.6"""


def samples(
    context: typer.Context,
    options: Common,
    effect: Annotated[
        float | None,
        typer.Option(
            "--effect", metavar="POINTS", min=0, max=100, help="The true difference to find.", show_default=False
        ),
    ] = None,
    n: Annotated[
        int | None, typer.Option("--n", metavar="N", min=1, help="Samples there are.", show_default=False)
    ] = None,
    power: Annotated[float, typer.Option("--power", metavar="P", help="Chance to find it, 0 to 1.")] = 0.8,
    base: Annotated[
        float, typer.Option("--base", metavar="S", min=0, max=1, help="Score of the weaker side, 0 to 1.")
    ] = 0.7,
) -> int:
    """Say how many samples a difference of that many points needs.

    With --n, what so many samples can show; with both, the chance that they show it. The two sides are taken to fail
    independently, which is the cautious assumption.
    """
    from treadle.cli.running import check_config
    from treadle.evaluation.statistics import power as planning

    check_config(options.config)
    if effect is not None and n is not None:
        refuse(given_options(context), ("power",), "with --effect and --n, the chance is what comes out")
        return _chance(effect, n, base, options)
    if effect is not None:
        n = planning.samples_needed(effect, base=base, power=power)
        line = f"a difference of {effect:g} points needs {n:,} samples"
    elif n is not None:
        effect = planning.detectable_difference(n, base=base, power=power)
        shown = "no difference at all" if effect is None else f"a difference of {effect:.1f} points or more"
        line = f"{n:,} samples show {shown}"
    else:
        raise UserError("say what to plan for: --effect POINTS, such as --effect 5, or --n SAMPLES")
    line += f" (chance {100 * power:g} %, base {100 * base:g} %, two-sided 5 %, paired)"
    return _show({"effect": effect, "n": n, "power": power}, line, options)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "samples", samples, _EXAMPLE)


def _chance(effect: float, n: int, base: float, options: Common) -> int:
    from treadle.evaluation.statistics import power as planning

    points = effect / 100.0
    chance = planning.mcnemar_power(n, points, planning.independent_discordance(points, base))
    line = f"{n} samples find a difference of {effect:g} points with a chance of {100 * chance:.0f} %"
    return _show({"effect": effect, "n": n, "power": chance}, line, options)


def _show(document: dict[str, float | int | None], line: str, options: Common) -> int:
    from treadle.cli.output import print_json, write

    if options.as_json:
        print_json(document)
    else:
        write(f"{line}\n")
    return 0
