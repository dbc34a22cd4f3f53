"""How many structures does each strategy need? Scores of a simulated surface plus sampling noise; no models, no calls.

The space is `archon-9576`. A structure scores its true score plus 1.5 points of noise, drawn once; the incumbent is the
structure that scored best so far, for every strategy. Counted is until its *true* score is within 1 point of the best
of all. `seen` is the same for the best true score among everything evaluated: what a perfect selection would end with.
The surface is the trial surface beside the checkout where there is one, else `treadle.testing.surface`.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from treadle.search.settings import Schedule, SearchSettings
from treadle.search.spaces.archon import ArchonSpace
from treadle.search.spaces.open import open_space
from treadle.search.strategies.registry import open_strategy
from treadle.testing.surface import CHECKS, explore, surface_scores

Floats = npt.NDArray[np.float64]
NOISE = 1.5
WITHIN = 1.0
EARLY, LATE = 45, 450
LEAST_RATIO, SUGGESTION_MS = 5.0, 300.0
TRIAL_SURFACE = Path(__file__).resolve().parents[2] / "../shared/reference/trial_surface.py"


@dataclass(frozen=True)
class Case:
    method: str
    batch: int
    most: int
    surfaces: int
    schedule: Schedule = "default"

    @property
    def name(self) -> str:
        return f"{self.method} paper" if self.schedule == "paper" else self.method


@dataclass(frozen=True)
class Course:
    """Points that incumbent and best evaluated structure are behind the best, after each structure."""

    incumbent: Floats
    seen: Floats


def trial_surface(space: ArchonSpace) -> Callable[[int], Floats]:
    spec = importlib.util.spec_from_file_location("trial_surface", TRIAL_SURFACE)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = {key: row for row, key in enumerate(module.SPACE)}
    order = [rows[*(value or 0 for value in point[:5]), CHECKS.index(str(point[-1]))] for point in space.points]
    return lambda seed: module.surface(seed)[order]


def run(case: Case, space: ArchonSpace, places: dict[str, int], scores: Floats, seed: int) -> Course:
    found = (scores - scores.mean() + np.random.default_rng([seed, 15]).normal(0, NOISE, len(scores))) / 100
    settings = SearchSettings(batch=case.batch, schedule=case.schedule)
    strategy = open_strategy(case.method, space, seed, settings)
    course = explore(
        strategy, lambda each: float(found[places[each.name]]), case.most, batch=case.batch, noise=NOISE / 100
    )
    behind, incumbent = scores.max() - scores, -1
    best: list[float] = []
    seen: list[float] = []
    for structure in course:
        place = places[structure.name]
        incumbent = place if incumbent < 0 or found[place] > found[incumbent] else incumbent
        best.append(float(behind[incumbent]))
        seen.append(min(float(behind[place]), seen[-1] if seen else np.inf))
        if best[-1] <= WITHIN and len(best) >= (LATE if case.method == "random" else EARLY):
            break
    return Course(np.array(best), np.array(seen))


def needed(behind: Floats) -> float:
    reached = np.flatnonzero(behind <= WITHIN)
    return float(reached[0]) + 1 if len(reached) > 0 else np.inf


def at(courses: Sequence[Course], structures: int) -> str:
    enough = [course.incumbent[structures - 1] for course in courses if len(course.incumbent) >= structures]
    return f"{np.median(enough):.2f}" if len(enough) == len(courses) else "-"


def shown(needs: Sequence[float], most: int, share: float) -> str:
    value = float(np.quantile(needs, share, method="higher"))
    return f"{value:.0f}" if np.isfinite(value) else f">{most}"


def suggestion_times(space: ArchonSpace, scores: Floats, places: dict[str, int]) -> Floats:
    """Seconds of each suggestion from 280 to 310 evaluations, with seven others pending."""
    strategy = open_strategy("bayes", space, 1, SearchSettings(schedule="paper"))
    course = explore(strategy, lambda each: float(scores[places[each.name]] - 50) / 100, 310, batch=8)
    times: list[float] = []
    while True:
        began = time.perf_counter()
        if next(course, None) is None:
            return np.array(times[280:])
        times.append(time.perf_counter() - began)


def chosen_cases(quick: bool) -> list[Case]:
    many, few = (4, 2) if quick else (20, 10)
    return [
        Case("random", 1, 450 if quick else 4000, many),
        *(Case("greedy", batch, 200 if quick else 400, many) for batch in (1, 8)),
        *(Case("bayes", batch, 60 if quick else 150, many) for batch in (1, 8)),
        *(Case("tpe", batch, 60 if quick else 200, few) for batch in (1, 8)),
        *(Case("bayes", batch, 250 if quick else 350, 1 if quick else many, "paper") for batch in (1, 8)),
    ]


def line(case: Case, courses: Sequence[Course], seconds: float) -> str:
    needs, seen = [needed(each.incumbent) for each in courses], [needed(each.seen) for each in courses]
    quartiles = f"({shown(needs, case.most, 0.25)} to {shown(needs, case.most, 0.75)})"
    return (
        f"{case.name:12} {case.batch:5} {case.surfaces:9} {shown(needs, case.most, 0.5):>7}  {quartiles:16} "
        f"{shown(seen, case.most, 0.5):>5} {at(courses, EARLY):>8} {at(courses, LATE):>8} {seconds:9.1f}"
    )


def say_targets(courses: dict[tuple[str, int], list[Course]]) -> bool:
    kept = True
    for batch in (1, 8):
        paper, bayes = (
            float(np.median([needed(each.incumbent) for each in courses[name, batch]]))
            for name in ("bayes paper", "bayes")
        )
        kept &= paper / bayes >= LEAST_RATIO
        ratio = paper / bayes
        print(f"  batch {batch}: schedule paper needs {ratio:.1f} times the structures of bayes (to be 5 or more);")
        early, late = at(courses["bayes", batch], EARLY), at(courses["random", 1], LATE)
        kept &= float(early) <= float(late)
        print(f"           bayes is {early} behind after {EARLY}, random {late} after {LATE} (bayes to be no worse)")
    return kept


def main(*, quick: bool) -> bool:
    """Print the figures; whether the targets are met (a quick run proves nothing)."""
    space = open_space("archon-9576", Path())
    assert isinstance(space, ArchonSpace)
    places = {structure.name: place for place, structure in enumerate(space.structures())}
    trial = TRIAL_SURFACE.exists()
    surface = trial_surface(space) if trial else partial(surface_scores, space.points)
    print(f"STRATEGIES  scores of a simulated surface plus sampling noise (the {'trial' if trial else 'own'} surface)")
    print("  structures until the incumbent is within 1 point of the best; points behind after 45 and 450")
    print("  strategy     batch  surfaces  median  (quartiles)       seen    at 45   at 450   seconds")
    courses: dict[tuple[str, int], list[Course]] = {}
    for case in chosen_cases(quick):
        began = time.perf_counter()
        found = [run(case, space, places, surface(seed), seed) for seed in range(case.surfaces)]
        courses[case.name, case.batch] = found
        print(f"  {line(case, found, time.perf_counter() - began)}", flush=True)
    kept = say_targets(courses)
    times = suggestion_times(space, surface(0), places) * 1e3
    print(f"  bayes, 280 to 310 evaluations: a suggestion takes {np.median(times):.0f} ms in the median,", end=" ")
    print(f"{times.max():.0f} ms at most (to be 300 or less)")
    return quick or (kept and float(times.max()) <= SUGGESTION_MS)
