"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

UNPRICED = "unpriced"
NOTHING = "–"


def money(usd: float | None) -> str:
    """Dollars: cents and more with two decimals, less with two digits that count; ``None`` is unpriced."""
    if usd is None:
        return UNPRICED
    if usd == 0:
        return "$0"
    if usd >= 1:
        return f"${usd:,.2f}"
    decimals = max(2, 1 - math.floor(math.log10(usd)))
    return f"${usd:.{decimals}f}" if decimals <= 10 else "<$0.0000000001"


def count(number: float | None) -> str:
    """A number of things: whole where it is, short where it is large."""
    if number is None:
        return NOTHING
    if number >= 10_000_000:
        return f"{number / 1e6:,.1f} M"
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.0f}" if float(number).is_integer() else f"{number:.1f}"


def tokens(number: float | None) -> str:
    """Tokens of a question, to the whole one."""
    return NOTHING if number is None else count(round(number))


def seconds(value: float | None) -> str:
    """A duration with its unit."""
    if value is None:
        return NOTHING
    if value == 0:
        return "0 s"
    if value < 0.00005:
        return "<0.1 ms"
    if value < 0.0095:
        return f"{value * 1000:.1f} ms"
    if value < 0.995:
        return f"{value * 1000:.0f} ms"
    if value < 59.95:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def percent(fraction: float | None) -> str:
    """A score as a percentage."""
    return NOTHING if fraction is None else f"{100 * fraction:.1f}"


def score(value: float | None, ci95: Any) -> str:
    """A score with its interval, in per cent."""
    if value is None:
        return NOTHING
    return percent(value) if ci95 is None else f"{percent(value)} [{percent(ci95[0])}–{percent(ci95[1])}]"


def points(value: float | None) -> str:
    """A difference in points, with its sign."""
    return NOTHING if value is None else f"{value:+.1f}"


def points_interval(ci95: Any) -> str:
    """An interval of a difference in points."""
    return "" if ci95 is None else f"[{points(ci95[0])} to {points(ci95[1])}]"


def p_value(value: float | None) -> str:
    """A p value."""
    if value is None:
        return ""
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.2g}" if value < 0.1 else f"p = {value:.2f}"


def span(bounds: Mapping[str, float | None], unit: Any) -> str:
    """A low–high pair, each end written by ``unit``; one value where both are the same."""
    low, high = bounds["low"], bounds["high"]
    if high is None:
        return f"{unit(low)} or more" if low is not None else unit(None)
    return unit(high) if low == high else f"{unit(low)} – {unit(high)}"


def failures(failed: Mapping[str, int]) -> str:
    """Failures by class, the empty ones left out."""
    return ", ".join(f"{number} {kind}" for kind, number in failed.items() if number) or NOTHING


def ending(ended_by: str, message: str = "") -> str:
    """Why a command ended early, in a line; empty when it did not."""
    words = {
        "done": "",
        "budget": "a budget ended it; what was paid for is kept",
        "interrupt": "interrupted; what was paid for is kept, the same command goes on from here",
        "infra": "over 5 % infrastructure failures: no verdict can be given; mend the cause and run it again",
    }.get(ended_by, f"ended by {ended_by}")
    return " – ".join(part for part in (words, message) if part)


def scored(rows: Sequence[Mapping[str, Any]]) -> str:
    """How far a measurement got."""
    done = sum(row["scored"] for row in rows)
    return f"{done:,} of {plural(sum(row['n'] for row in rows), 'question')} scored" if done else "nothing was scored"


def plural(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def structure(name: str) -> str:
    """A structure's name with room around its layers, where a narrow screen may break it; it reads back the same."""
    return name.replace(">", " > ") if name.startswith("archon:") else name
