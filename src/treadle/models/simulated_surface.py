"""What the simulated surface ``archon`` is made of: its parameters, and its ten models as they follow from a seed.

Everything lives on one latent scale. A reply of quality q is right with probability Φ(q), Φ the normal distribution
function; a question's difficulty, a model's skill and a draw's luck are added on that scale (latent-trait models of
test answers: Lord & Novick 1968, ch. 16). Nothing here measures a real model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import lru_cache

from treadle.errors import UserError
from treadle.models.simulated_questions import normal, uniform

MODELS = 10
STATEMENTS = 8
"""Check statements that a model writes where it may choose."""
_SHARES = ("shared", "own", "kinship", "copied", "pull", "rate", "telling")
_FREE = ("seed", "skill", "threshold", "fuse_edge")
_TILTED = ("capacity", "overload", "variety", "rate", "loss", "reach", "accuracy", "verify_noise", "test_noise")


@dataclass(frozen=True, slots=True)
class Surface:
    """The parameters of the surface; lengths are in latent units, where 1 is the scale of Φ.

    Args:
        seed: Another seed is another surface: other models, and other values of what ``tilt`` varies.
        skill: Generation skill of the first model, on a question of difficulty 0.
        fall: How far the tenth model's skill is below the first one's; the gaps between are uneven.
        luck: Standard deviation of all that makes replies of one question differ from its models' skill.
        shared: Share of the luck's variance that all replies to a question have in common.
        own: Share that all replies of one model to a question have in common; the rest is each draw's own.
        spread: Standard deviation of the difficulty of the task's questions.
        answers: How many answer letters a question has.
        copied: Chance that a wrong reply gives the question's popular wrong letter instead of any.
        kinship: Correlation of a model's skill at judging, testing and fusing with its generation skill.
        role_spread: How much those skills matter: noise and fusing change by this factor of e per standard deviation.
        fuse_edge: How far a fuser's own level is above its generation skill.
        reach: How far above its own level a fuser's candidates can lift it.
        rate: How much of the way from its candidates to that ceiling a fuser goes where they differ much.
        variety: The variance of its candidates' qualities at which about two thirds of that rate is reached.
        pull: How far a fuser of average skill goes from its candidates' mean to the best of them.
        sharp: How sharply a fuser tells the best-looking candidate from the others.
        heed: How sharply critiques make it do so.
        primacy: How much less each later candidate weighs.
        capacity: Candidates that a fuser of average skill can take in.
        overload: What candidates above the capacity cost, per factor of e.
        wordy: How much longer critiques make what a fuser must take in, as a share.
        crowding: The power of the number of candidates by which critics and rankers err more.
        loss: What each fusing loses.
        fuse_noise: Standard deviation of a fused answer's luck.
        accuracy: How much an accurate critique adds to a fuser's rate.
        gloss: Standard deviation of how much better or worse than it is a reply looks to everybody: shared mistakes.
        critic_noise: Standard deviation of a critic's own error on a candidate, at average skill.
        rank_noise: The same of a ranker or judge.
        trust: How much a ranker goes by critiques where there are any.
        verify_noise: The same of a verifier; its errors are false positives and negatives.
        threshold: The quality from which a verifier finds an answer correct.
        leniency: Standard deviation of the verifiers' own thresholds around it.
        test_noise: Standard deviation of a tester's error on a candidate, at average skill.
        telling: Chance that a check statement tells good answers from bad ones; the others pass everything.
        hardness: Standard deviation of the quality from which answers pass a statement.
        tilt: Standard deviation of the logarithm by which a seed varies capacity, overload, variety, rate, loss,
            reach, accuracy, verify_noise and test_noise.
        latency_s: Seconds of a call, reported, and waited for where ``wait`` is 1.
        wait: Whether time really passes.

    Raises:
        UserError: A number is out of its range.
    """

    seed: int = 1
    skill: float = 0.0
    fall: float = 1.2
    luck: float = 1.0
    shared: float = 0.25
    own: float = 0.3
    spread: float = 0.8
    answers: int = 4
    copied: float = 0.5
    kinship: float = 0.6
    role_spread: float = 0.45
    fuse_edge: float = 0.0
    reach: float = 1.1
    rate: float = 0.45
    variety: float = 0.4
    pull: float = 0.6
    sharp: float = 1.4
    heed: float = 0.8
    primacy: float = 0.25
    capacity: float = 7.0
    overload: float = 0.35
    wordy: float = 0.5
    crowding: float = 0.6
    loss: float = 0.25
    fuse_noise: float = 0.6
    accuracy: float = 0.15
    gloss: float = 0.9
    critic_noise: float = 1.2
    rank_noise: float = 1.2
    trust: float = 0.5
    verify_noise: float = 1.0
    threshold: float = 0.0
    leniency: float = 0.5
    test_noise: float = 0.4
    telling: float = 0.6
    hardness: float = 0.6
    tilt: float = 0.3
    latency_s: float = 0.0
    wait: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _SHARES and not 0 <= value <= 1:
                raise UserError(f"a simulated surface's {field.name} must be between 0 and 1, not {value:g}")
            if field.name not in _FREE and value < 0:
                raise UserError(f"a simulated surface's {field.name} must not be below 0, not {value:g}")
        if self.shared + self.own > 1 or not 2 <= self.answers <= 26 or self.wait not in (0, 1):
            raise UserError(
                "a simulated surface needs shared + own of at most 1, answers from 2 to 26, and wait 0 or 1"
            )
        if not (self.variety and self.capacity):
            raise UserError("a simulated surface needs a variety and a capacity above 0")

    @property
    def draw_luck(self) -> float:
        """Standard deviation of one draw's own luck."""
        return self.luck * math.sqrt(1 - self.shared - self.own)

    @property
    def shown(self) -> str:
        """The options that are not the default, the seed always, as they stand behind a name."""
        return "&".join(
            f"{field.name}={getattr(self, field.name):.12g}"
            for field in fields(self)
            if field.name == "seed" or getattr(self, field.name) != field.default
        )


@dataclass(frozen=True, slots=True)
class Talent:
    """What one model is like.

    Attributes:
        skill: At answering.
        fuse_skill: The level it fuses at.
        pull: How far it goes from the candidates' mean to the best of them.
        capacity: How many candidates it can take in.
        critic_noise: Its error as a critic; the others alike.
        rank_noise: As a ranker.
        verify_noise: As a verifier.
        threshold: The quality from which it finds an answer correct.
        test_noise: As a checker of statements.
        telling: The chance that a statement that it writes tells good from bad.
    """

    skill: float
    fuse_skill: float
    pull: float
    capacity: float
    critic_noise: float
    rank_noise: float
    verify_noise: float
    threshold: float
    test_noise: float
    telling: float


@lru_cache(maxsize=256)
def tilted(surface: Surface) -> Surface:
    """The surface with the values that its seed gives to what ``tilt`` varies."""
    changed = {
        name: getattr(surface, name) * math.exp(surface.tilt * normal("tilt", surface.seed, name)) for name in _TILTED
    }
    return replace(surface, **changed | {"rate": min(changed["rate"], 1.0)})


@lru_cache(maxsize=256)
def talents(surface: Surface) -> tuple[Talent, ...]:
    """The ten models of a surface, the best generator first.

    Args:
        surface: As it was given, not tilted.
    """
    gaps = [-math.log(uniform("gap", surface.seed, place)) for place in range(MODELS - 1)]
    skills = [surface.skill - surface.fall * sum(gaps[:place]) / sum(gaps) for place in range(MODELS)]
    mean = sum(skills) / MODELS
    deviation = math.sqrt(sum((skill - mean) ** 2 for skill in skills) / MODELS) or 1.0
    return tuple(
        _talent(tilted(surface), place, skill, (skill - mean) / deviation) for place, skill in enumerate(skills)
    )


def _talent(surface: Surface, place: int, skill: float, standing: float) -> Talent:
    def gift(role: str) -> float:
        """The skill in a role, in standard deviations among models, times what one of them matters."""
        other = normal("gift", role, surface.seed, place)
        kin = surface.kinship
        return surface.role_spread * (kin * standing + math.sqrt(1 - kin * kin) * other)

    odds = math.inf if surface.pull == 1 else surface.pull / (1 - surface.pull) * math.exp(2 * gift("pull"))
    return Talent(
        skill=skill,
        fuse_skill=skill + surface.fuse_edge + gift("fuser"),
        pull=1.0 if odds == math.inf else odds / (1 + odds),
        capacity=surface.capacity * math.exp(gift("fuser")),
        critic_noise=surface.critic_noise * math.exp(-gift("critic")),
        rank_noise=surface.rank_noise * math.exp(-gift("ranker")),
        verify_noise=surface.verify_noise * math.exp(-gift("verifier")),
        threshold=surface.threshold + surface.leniency * normal("leniency", surface.seed, place),
        test_noise=surface.test_noise * math.exp(-gift("tester")),
        telling=min(1.0, surface.telling * math.exp(gift("tester"))),
    )
