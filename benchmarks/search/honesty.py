"""Do strategies find differences that are not there, and do they find those that are?

Simulated scores with sampling noise, no models: every strategy proposes 20 structures of the space archon-9576 in waves
of eight; race, selection and the final tests are the library's own.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from null_check import BASE, BASELINE_COSTS, MATCHED, Floats, World, rate
from scipy.special import ndtri

from treadle.evaluation.statistics.clusters import question_means
from treadle.evaluation.statistics.coverage import clopper_pearson
from treadle.search.racing import Race
from treadle.search.selection import Measured, choose_winner, equal_cost, finalists, overall
from treadle.search.settings import SearchSettings
from treadle.search.space import Trial
from treadle.search.spaces.archon import ArchonSpace
from treadle.search.spaces.open import open_space
from treadle.search.strategies.registry import open_strategy
from treadle.search.verdict import Contender, conclude

METHODS = ("random", "greedy", "bayes", "tpe")
STRUCTURES = 20
WAVE = 8
SAMPLES = 400
LEAST_POWER = 0.8


@dataclass
class Part:
    """The questions of one part, which everybody who meets it shares."""

    rng: np.random.Generator
    world: World
    questions: int
    repeats: int
    difficulty: Floats = field(init=False)
    luck: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.difficulty = self.world.spread * self.rng.standard_normal(self.questions)
        self.luck = np.sqrt(self.world.shared) * self.rng.standard_normal((self.questions, self.repeats))

    def scores(self, lift: float) -> Floats:
        """Question means of somebody who is so many points better than the rest; NaN for infra."""
        world, shape = self.world, self.luck.shape
        width = np.sqrt(1.0 + world.spread**2 + world.taste**2)
        own = world.taste * self.rng.standard_normal(self.questions)
        skill = float(ndtri(BASE + lift / 100.0)) * width + self.difficulty + own
        luck = self.luck + np.sqrt(1.0 - world.shared) * self.rng.standard_normal(shape)
        drawn = np.where(luck < skill[:, None], 1.0, 0.0)
        drawn[self.rng.random(shape) < world.infra] = np.nan
        return question_means(drawn)


@dataclass(frozen=True)
class Verdicts:
    """What one search claimed."""

    equal_cost: bool
    overall: bool
    lifted: bool


@dataclass(frozen=True)
class Ground:
    """The space with what is looked up in it again and again."""

    space: ArchonSpace
    costs: Floats
    places: dict[str, int]


def explored(ground: Ground, method: str, seed: int, part: Part, lifts: Floats) -> Race:
    """The race of what a strategy proposes."""
    strategy = open_strategy(method, ground.space, seed, SearchSettings(max_evals=STRUCTURES, batch=WAVE))
    block = max(4, part.questions // 6)
    race = Race(block=block, structures=STRUCTURES)
    trials: list[Trial] = []
    while len(trials) < STRUCTURES:
        wave = [each for _ in range(min(WAVE, STRUCTURES - len(trials))) for each in strategy.ask(1)]
        drawn = {each.name: part.scores(lifts[ground.places[each.name]]) for each in wave}
        for start in range(0, part.questions, block):
            for each in wave:
                if not race.is_dropped(each.name):
                    race.tell(each.name, drawn[each.name][start : start + block])
        for each in wave:
            cost = float(ground.costs[ground.places[each.name]])
            trials.append(Trial(len(trials), each, race.met(each.name), None, None, None, cost, {}))
        strategy.tell(_known(race, trials))
    return race


def _known(race: Race, trials: Sequence[Trial]) -> list[Trial]:

    points = {point.structure: point for point in race.centred_differences()}
    return [
        replace(
            trial, score=BASE, centred=points[trial.structure.name].difference, noise=points[trial.structure.name].noise
        )
        for trial in trials
        if trial.structure.name in points
    ]


def one_search(ground: Ground, method: str, seed: int, lifts: Floats) -> Verdicts:
    """One search to its honest end."""
    rng = np.random.default_rng(seed)
    world = World()
    sizes = [round(share * SAMPLES) for share in (0.3, 0.2, 0.5)]
    search, selection, test = (Part(rng, world, size, 3 if place == 2 else 1) for place, size in enumerate(sizes))
    race = explored(ground, method, seed, search, lifts)
    chosen = finalists(race.standing())
    measured = [
        Measured(name, selection.scores(lifts[ground.places[name]]), float(ground.costs[ground.places[name]]))
        for name in chosen
    ]
    winner = choose_winner(measured)
    costs = {**BASELINE_COSTS, MATCHED: winner.cost}
    baselines = [Measured(name, selection.scores(0.0), cost) for name, cost in costs.items()]
    rivals = [equal_cost(baselines, winner.cost), overall(baselines)]
    tested = {found.name: Contender(found.name, test.scores(0.0)) for found in rivals if found is not None}
    mine = Contender(winner.name, test.scores(lifts[ground.places[winner.name]]))
    rows = conclude(mine, *(tested[found.name] if found else None for found in rivals))
    better = {row.against for row in rows if row.comparison.verdict == "better"}
    return Verdicts("equal-cost" in better, "overall" in better, bool(lifts[ground.places[winner.name]] > 0))


def main(*, quick: bool) -> bool:
    """Print the rates; whether no strategy claims more than it may."""
    runs = 6 if quick else 600
    space = open_space("archon-9576", Path())
    assert isinstance(space, ArchonSpace)
    places = {structure.name: place for place, structure in enumerate(space.structures())}
    ground = Ground(space, space.costs(), places)
    checks = np.array([point[-1] == "verifier" for point in space.points])
    passed = True
    began = time.perf_counter()
    print(
        f"HONESTY  {runs} searches a line, {STRUCTURES} structures each, {SAMPLES} samples; simulated scores, no models"
    )
    for method in METHODS:
        for title, lifts in (
            ("all equal", np.zeros(space.valid)),
            ("+10 with a verifier", np.where(checks, 10.0, 0.0)),
        ):
            found = [one_search(ground, method, seed, lifts) for seed in range(runs)]
            counts = [sum(each.equal_cost for each in found), sum(each.overall for each in found)]
            print(f"  {method:<7s} {title:<20s} better than equal-cost {rate(counts[0], runs)}")
            print(f"  {'':<28s} better than overall    {rate(counts[1], runs)}")
            if title == "all equal":
                passed &= all((clopper_pearson(count, runs) or (0.0, 1.0))[0] <= 0.05 for count in counts)
            else:
                lifted = sum(each.lifted for each in found)
                print(f"  {'':<28s} a truly better one won {rate(lifted, runs)}")
                hits = sum(each.equal_cost and each.lifted for each in found)
                print(f"  {'':<28s} and then was called so  {rate(hits, max(1, lifted))}")
                passed &= (clopper_pearson(counts[0], runs) or (0.0, 1.0))[1] >= LEAST_POWER
    print(f"  {time.perf_counter() - began:.0f} s")
    return passed
