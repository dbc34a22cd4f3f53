"""Modes of one workflow held against its strong model alone: not worse, and at what share of the strong tokens."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import nan
from statistics import fmean

from treadle.evaluation.claim import Claim, StrongTokens
from treadle.evaluation.modes import STRONG_ROLE, held_against
from treadle.evaluation.report import Report, Row
from treadle.evaluation.spending import tokens_of
from treadle.evaluation.statistics.holm import compare_rows
from treadle.evaluation.statistics.paired import ALPHA, Comparison, pair
from treadle.evaluation.statistics.power import needed_after
from treadle.evaluation.statistics.ratio import ratio_of_means

_WITH_NUMBERS = ("done", "infra")


def with_claims(report: Report, margin: float = 2.0, identity: Callable[[str], str] = str) -> Report:
    """The report with what its rows show against the strong model alone.

    Nothing is claimed of a measurement that did not finish; no verdict is given where the provider failed too often or
    hidden tests stood in a prompt.

    Args:
        report: A measurement.
        margin: Points that do not matter.
        identity: What two names of one model have in common.
    """
    rows = {row.workflow: row for row in report.rows}
    alone, others = held_against(list(rows))
    if alone is None or not others:
        return report
    if report.ended_by not in _WITH_NUMBERS:
        return replace(report, claims=())
    claims = claims_of([rows[name] for name in others], rows[alone], margin, identity)
    if report.ended_by != "done" or report.leaks:
        claims = tuple(replace(claim, verdict=None, needed=None) for claim in claims)
    return replace(report, claims=claims)


def claims_of(
    rows: Sequence[Row], alone: Row, margin: float, identity: Callable[[str], str] = str
) -> tuple[Claim, ...]:
    """Each of several rows held against that of the strong model alone.

    Args:
        rows: The rows.
        alone: The row of the strong model alone, on the same questions.
        margin: Points that do not matter.
        identity: What two names of one model have in common.
    """
    strong = _strong_models(alone, rows, identity)
    scores = {row.workflow: _scores(row, alone.ids) for row in rows}
    base = _scores(alone, alone.ids)
    table = compare_rows(scores, base, list(alone.clusters), margin)
    alpha = ALPHA / max(1, len(rows))
    found: list[Claim] = []
    for row in rows:
        comparison = table[row.workflow]
        pairs = pair(scores[row.workflow], base, list(alone.clusters))
        clusters = needed_after(pairs.differences, margin, alpha=alpha)
        needed = _questions(clusters, comparison, len(pairs.first))
        tokens = _strong_tokens(row, alone, strong)
        found.append(Claim(row.workflow, alone.workflow, comparison, margin, comparison.verdict, needed, tokens))
    return tuple(found)


def _strong_models(alone: Row, rows: Sequence[Row], identity: Callable[[str], str]) -> tuple[str, ...]:
    """The strong model under every name that it was asked by."""
    strong = [model for role, model in _players(alone) if role == STRONG_ROLE]
    known = {identity(model) for model in strong}
    others = [model for row in rows for _, model in _players(row) if identity(model) in known]
    return tuple(dict.fromkeys((*strong, *others)))


def _players(row: Row) -> list[tuple[str, str]]:
    return list(dict.fromkeys(player for outcome in row.outcomes for player in outcome.players))


def _scores(row: Row, ids: Sequence[str]) -> list[float]:
    scores = row.question_scores()
    return [scores.get(id, nan) for id in ids]


def _questions(clusters: int | None, comparison: Comparison, seen: int) -> int | None:
    """As many questions as so many clusters have, where a verdict is missing."""
    if clusters is None or comparison.verdict != "inconclusive":
        return None
    return math.ceil(clusters * comparison.n / seen)


def _strong_tokens(row: Row, alone: Row, strong: tuple[str, ...]) -> StrongTokens:
    mine, theirs = _tokens(row, strong), _tokens(alone, strong)
    shared = [
        (id, cluster) for id, cluster in zip(alone.ids, alone.clusters, strict=True) if id in mine.keys() & theirs
    ]
    first, second = [mine[id] for id, _ in shared], [theirs[id] for id, _ in shared]
    share = ratio_of_means(first, second, [cluster for _, cluster in shared])
    if not shared or not strong:
        return StrongTokens(strong, None, None, share)
    return StrongTokens(strong, fmean(first), fmean(second), share)


def _tokens(row: Row, models: tuple[str, ...]) -> dict[str, float]:
    """Tokens of models for each question that no provider failed, averaged over its repeats."""
    found: dict[str, list[int]] = {}
    for outcome in row.outcomes:
        if outcome.finished and outcome.status != "infra":
            found.setdefault(outcome.id, []).append(tokens_of(outcome, models))
    return {id: fmean(values) for id, values in found.items()}
