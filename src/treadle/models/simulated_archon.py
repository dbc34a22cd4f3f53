"""The ten models of the simulated surface ``archon``, and of ``archon-null``, where nothing makes a difference.

A reply is a pure function of the model, the question, the prompt, the sampling settings and the draw: its noise comes
from hashes, its arithmetic from `treadle.models.simulated_mechanism`.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import msgspec
import numpy as np

from treadle.errors import UserError
from treadle.models.base import Completion, Message, ModelIdentity, Request, Usage
from treadle.models.options import read_options
from treadle.models.simulated_marks import Mark, estimate_mark, statement_mark
from treadle.models.simulated_mechanism import Array, Crowd, fused, level, opinion, opinions, passed, standing
from treadle.models.simulated_prompts import Form, Shown, shown
from treadle.models.simulated_questions import NORMAL, SimulatedQuestion, find_question, normal, uniform
from treadle.models.simulated_schema import Belief, answers_shown, filled
from treadle.models.simulated_surface import MODELS, Surface, talents, tilted

SURFACES = ("archon", "archon-null")
_SPEC = re.compile(r"(?P<name>archon|archon-null)/(?P<number>\d{1,3})(?:\?.*)?", re.DOTALL)
_CHARACTERS_PER_TOKEN = 4
_SAID = "(simulated) I work the question out and weigh what speaks for each answer."
_CONTENT = 1.0
"""The estimate from which a reviewer wants nothing changed."""


def archon_model(spec: str) -> SimulatedArchonModel:
    """Build a model from ``archon/N?option=value&…`` or ``archon-null/N?…``; the options are those of `Surface`.

    Args:
        spec: The name; N from 1 to 10, the best generator first.

    Raises:
        UserError: No such model, or an option does not exist or is out of its range.
    """
    found = _SPEC.fullmatch(spec)
    if found is None or not 1 <= int(found["number"]) <= MODELS:
        raise UserError(f"the simulated surface has the models archon/1 to archon/{MODELS}, not {spec!r}")
    return SimulatedArchonModel(read_options(spec, Surface), int(found["number"]) - 1, found["name"])


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request as a model sees it: the question, the prompt, and where the draw's noise comes from."""

    question: SimulatedQuestion
    key: str
    prompt: Shown
    place: tuple[object, ...]

    def noise(self, what: str, count: int) -> Array:
        """Standard normal numbers, one a candidate."""
        return np.array([normal(what, number, *self.place) for number in range(count)]).reshape(count, 1)


class SimulatedArchonModel:
    """One model of the surface: it answers, fuses, criticises, ranks, verifies, and writes and checks statements.

    What it is asked for it sees by the words of the prompt (`treadle.models.simulated_prompts`); shown replies to the
    question and nothing else to do with them, it fuses them.

    Args:
        surface: The parameters.
        place: Which of the ten, from 0, the best generator first.
        name: ``archon``; or ``archon-null``, whose replies all have one distribution of quality, whoever writes them
            and whatever the prompt shows, and whose estimates, verdicts and letters know nothing of it.
    """

    def __init__(self, surface: Surface, place: int, name: str = SURFACES[0]) -> None:
        self._surface = surface
        self._null = name != SURFACES[0]
        self._talent = talents(surface)[place]
        self._key = f"{name}/{place + 1}/{surface.seed}"
        self._identity = ModelIdentity("simulated", f"{name}/{place + 1}?{surface.shown}")
        self._write: dict[Form, Callable[[_Asked], str]] = {
            "reply": self._reply,
            "ranking": self._ranking,
            "verdict": self._verdict,
            "statements": self._statements,
            "checks": self._checks,
            "critiques": self._critiques,
            "best": self._best,
            "rating": self._rating,
            "pair": self._pair,
            "review": self._review,
            "reasoning": lambda asked: f"{_SAID} I go through the candidate step by step.",
        }

    def __repr__(self) -> str:
        return f"SimulatedArchonModel({str(self._identity)!r})"

    @property
    def identity(self) -> ModelIdentity:
        """``simulated``, with everything that shapes a reply in the name."""
        return self._identity

    async def complete(self, request: Request) -> Completion:
        """Answer one request; a reply longer than the request's token limit is cut."""
        seconds = self._surface.latency_s
        if seconds and self._surface.wait:
            await asyncio.sleep(seconds)
        text = self._text(request)
        most = request.max_tokens * _CHARACTERS_PER_TOKEN
        read = sum(len(message.content) for message in request.messages)
        usage = Usage(_tokens(read), output=_tokens(min(len(text), most)))
        return Completion(text[:most], usage, "stop" if len(text) <= most else "length", seconds=seconds)

    async def aclose(self) -> None:
        """There is nothing to free."""

    def _text(self, request: Request) -> str:
        question, key = _topic(request.messages)
        prompt = shown(request.messages, key)
        asked = _Asked(question, key, prompt, (self._key, key, _fingerprint(request), request.draw))
        if request.schema is None:
            return self._write[prompt.form](asked)
        belief = Belief(self._letter(asked, self._quality(asked)), answers_shown(request.messages), _SAID, asked.place)
        return msgspec.json.encode(filled(request.schema, belief)).decode()

    def _reply(self, asked: _Asked) -> str:
        quality = self._quality(asked)
        looks = quality + self._surface.gloss * normal("gloss", *asked.place)
        return f"{_SAID}\n{Mark(asked.key, quality, looks)}\nAnswer: {self._letter(asked, quality)}"

    def _quality(self, asked: _Asked) -> float:
        """The quality of a reply: of a new one, or of one that fuses what is shown."""
        surface, prompt, luck = self._surface, asked.prompt, normal("draw", *asked.place)
        shared, own = normal("luck", asked.key), normal("own luck", *asked.place[:2])
        difficulty = asked.question.difficulty
        if self._null:
            rest = surface.luck * math.sqrt(1 - surface.shared)
            return -difficulty + surface.luck * math.sqrt(surface.shared) * shared + rest * luck
        if not prompt.replies:
            return level(surface, self._talent.skill, difficulty, shared, own) + surface.draw_luck * luck
        known = level(surface, self._talent.fuse_skill, difficulty, shared, own)
        means = fused(tilted(surface), _crowd(prompt), [self._talent], np.array([[known]]))
        return float(means[0, 0]) + surface.fuse_noise * luck

    def _letter(self, asked: _Asked, quality: float) -> str:
        """The answer letter: right with probability Φ(quality), else often the question's popular mistake."""
        options, truth = asked.question.options, asked.question.truth
        if self._null:
            return options[int(uniform("letter", *asked.place) * len(options))]
        if quality + normal("letter", *asked.place) > 0:
            return truth
        wrong = [option for option in options if option != truth]
        copied = uniform("copied", *asked.place) < self._surface.copied
        pick = uniform("popular", asked.key) if copied else uniform("mistake", *asked.place)
        return wrong[int(pick * len(wrong))]

    def _seen(self, asked: _Asked) -> Crowd:
        """The replies that are shown, as somebody sees them who judges them."""
        crowd = _crowd(asked.prompt)
        return Crowd(nothing := np.zeros_like(crowd.quality), nothing) if self._null else crowd

    def _opinion(self, asked: _Asked, noise_size: float) -> Array:
        """What it takes the qualities of the shown replies for, looked at one by one."""
        crowd = self._seen(asked)
        return opinion(crowd, noise_size, asked.noise("opinion", len(crowd.quality)))

    def _order(self, asked: _Asked) -> list[int]:
        """The places of the shown replies, the one it takes for the best first."""
        crowd = self._seen(asked)
        noise = asked.noise("opinion", len(crowd.quality))
        found = standing(tilted(self._surface), crowd, self._talent.rank_noise, noise)
        return np.argsort(-found[:, 0], kind="stable").tolist()

    def _ranking(self, asked: _Asked) -> str:
        order = self._order(asked)[: asked.prompt.wanted]
        return f"{_SAID}\nRanking: {' > '.join(str(place + 1) for place in order)}"

    def _best(self, asked: _Asked) -> str:
        return f"{_SAID}\nBest: {next(iter(self._order(asked)), 0) + 1}"

    def _pair(self, asked: _Asked) -> str:
        order = self._order(asked)
        last = [place for place in order if place >= len(order) - 2]
        return f"{_SAID}\n[[{'C' if len(last) < 2 else 'A' if last[0] < last[1] else 'B'}]]"

    def _rating(self, asked: _Asked) -> str:
        found = self._opinion(asked, self._talent.rank_noise)
        chance = NORMAL.cdf(float(found[-1, 0])) if len(found) else 0.5
        return f"{_SAID}\nRating: [[{1 + round(9 * chance)}]]"

    def _critiques(self, asked: _Asked) -> str:
        crowd = self._seen(asked)
        noise = asked.noise("opinion", len(crowd.quality))
        found = opinions(tilted(self._surface), crowd, self._talent.critic_noise, noise)
        return "\n\n".join(
            f"<critique_{number}>\n{_critique(float(estimate))}\n</critique_{number}>"
            for number, estimate in enumerate(found[:, 0], 1)
        )

    def _review(self, asked: _Asked) -> str:
        found = self._opinion(asked, self._talent.critic_noise)
        if len(found) and found[-1, 0] >= _CONTENT:
            return "NO CHANGES"
        return f"(simulated) This must be better. {estimate_mark(float(found[-1, 0]))}" if len(found) else "NO CHANGES"

    def _verdict(self, asked: _Asked) -> str:
        found = self._opinion(asked, self._talent.verify_noise)
        correct = len(found) > 0 and found[0, 0] > self._talent.threshold
        return f"{_SAID}\nVerdict: {'correct' if correct else 'incorrect'}"

    def _statements(self, asked: _Asked) -> str:
        lines: list[str] = []
        for number in range(1, asked.prompt.wanted + 1):
            telling = uniform("telling", number, *asked.place) < self._talent.telling
            least = tilted(self._surface).hardness * normal("hardness", number, *asked.place) if telling else -math.inf
            lines.append(f"{number}. (simulated) What check {number} asks for is there. {statement_mark(least)}")
        return "\n".join(lines)

    def _checks(self, asked: _Asked) -> str:
        found = self._opinion(asked, self._talent.test_noise)
        seen = float(found[0, 0]) if len(found) else -math.inf
        results = ("pass" if passed(seen, least) else "fail" for least in asked.prompt.checks)
        return "\n".join(f"{number}: {result}" for number, result in enumerate(results, 1))


def _critique(estimate: float) -> str:
    strong, weak = ("most of it holds", "little") if estimate > 0 else ("little", "much of it does not hold")
    return f"Strengths: (simulated) {strong} {estimate_mark(estimate)}\nWeaknesses: {weak}"


def _crowd(prompt: Shown) -> Crowd:
    shape = (len(prompt.replies), 1)
    quality = np.array([reply.quality for reply in prompt.replies]).reshape(shape)
    looks = np.array([reply.looks for reply in prompt.replies]).reshape(shape)
    return Crowd(quality, looks, None, None if prompt.estimates is None else np.array(prompt.estimates).reshape(shape))


def _topic(messages: Sequence[Message]) -> tuple[SimulatedQuestion, str]:
    """The simulated question of a prompt and its id; of another text a question and an id that follow from the text."""
    question = find_question(message.content for message in messages)
    if question is not None:
        return question, question.id
    text = next((message.content for message in messages if message.role == "user"), "")
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return SimulatedQuestion(0, int(digest, 16), 4), f"text-{digest}"


def _fingerprint(request: Request) -> str:
    digest = blake2b(digest_size=8)
    for message in request.messages:
        digest.update(f"{message.role}\x1f{message.content}\x1e".encode("utf-8", "surrogatepass"))
    for name, value in sorted(request.settings.items()):
        if name not in ("max_tokens", "max_completion_tokens"):
            digest.update(f"{name}\x1f{value}\x1e".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _tokens(characters: int) -> int:
    return -(-characters // _CHARACTERS_PER_TOKEN)
