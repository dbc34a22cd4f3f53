"""Models that are only simulated: every reply is a pure function of seed, model, question, prompt and draw.

Whether a draw is right follows a Gaussian copula, as in latent-trait models of test answers (Lord & Novick 1968,
ch. 16): with Φ the normal distribution function, u one standard normal number per question and e one per prompt and
draw, a draw is right when √ρ·u + √(1−ρ)·e < Φ⁻¹(skill) − difficulty. Draws of one question are thus correlated with
latent correlation ρ, and a draw of a question of difficulty 0 is right with probability ``skill`` whatever ρ is.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import msgspec

from treadle.errors import ProviderError, RateLimitError, UserError
from treadle.models.base import Completion, Message, ModelIdentity, Request, Usage
from treadle.models.options import read_options
from treadle.models.simulated_questions import NORMAL, find_question, normal, options, uniform
from treadle.models.simulated_schema import Belief, answers_shown, filled
from treadle.models.simulated_verdicts import verdict_form

_CHARACTERS_PER_TOKEN = 4
_REASONING = "(simulated) I look at the question, weigh what speaks for each answer, and decide."


@dataclass(frozen=True, slots=True)
class Ability:
    """What a simulated model is like.

    Args:
        skill: Probability of a right answer to a question of difficulty 0.
        correlation: Latent correlation between draws of one question; at 1 every draw says the same.
        seed: Another seed is another model.
        latency_s: Median seconds of a call, waited for unless ``wait`` is 0 (then only reported).
        latency_spread: Standard deviation of the latency's logarithm.
        wait: Whether time really passes.
        output_tokens: Median length of a reply.
        length_spread: Standard deviation of the length's logarithm.
        failure_rate: Share of calls that fail for good.
        flaky_rate: Share of calls whose first attempt meets a rate limit.
        truncation_rate: Share of replies that are cut before their answer.
        format_rate: Share of replies that give no answer.
        answers: How many answers a question that is not simulated is taken to have.
        spread: Standard deviation of the difficulty of such questions.
    """

    skill: float = 0.65
    correlation: float = 0.0
    seed: int = 1
    latency_s: float = 0.0
    latency_spread: float = 0.0
    wait: int = 1
    output_tokens: float = 40.0
    length_spread: float = 0.3
    failure_rate: float = 0.0
    flaky_rate: float = 0.0
    truncation_rate: float = 0.0
    format_rate: float = 0.0
    answers: int = 2
    spread: float = 0.0

    def __post_init__(self) -> None:
        for name in ("skill", "correlation", "failure_rate", "flaky_rate", "truncation_rate", "format_rate"):
            if not 0 <= getattr(self, name) <= 1:
                raise UserError(f"a simulated model's {name} must be between 0 and 1, not {getattr(self, name)}")
        for name, least in (("latency_s", 0), ("latency_spread", 0), ("length_spread", 0), ("spread", 0)):
            if getattr(self, name) < least:
                raise UserError(f"a simulated model's {name} must not be below {least}, not {getattr(self, name)}")
        if self.answers < 2 or self.output_tokens < 1 or self.wait not in (0, 1):
            raise UserError("a simulated model needs answers from 2, output_tokens from 1, and wait 0 or 1")

    def success(self, difficulty: float = 0.0) -> float:
        """The probability that a draw of a question of this difficulty is right."""
        return NORMAL.cdf(self._threshold(difficulty))

    def is_right(self, shared: float, own: float, difficulty: float) -> bool:
        """Whether a draw is right, given the question's and the draw's standard normal numbers."""
        latent = math.sqrt(self.correlation) * shared + math.sqrt(1 - self.correlation) * own
        return latent < self._threshold(difficulty)

    def _threshold(self, difficulty: float) -> float:
        if self.skill in (0, 1):
            return math.inf if self.skill else -math.inf
        return NORMAL.inv_cdf(self.skill) - difficulty


def simulated_model(spec: str) -> SimulatedModel:
    """Build a model from ``name?option=value&…``; the options are those of `Ability`, the name is free.

    Raises:
        UserError: An option does not exist or is out of its range.
    """
    return SimulatedModel(read_options(spec, Ability), spec.partition("?")[0])


@dataclass(frozen=True, slots=True)
class _Topic:
    """What a request asks for, as the simulation sees it."""

    key: str
    options: tuple[str, ...]
    truth: str
    difficulty: float


class SimulatedModel:
    """A model that answers with a stated skill; its replies and its identity say that it is simulated.

    A question it does not know (not of `treadle.models.simulated_questions`) has, for it, a truth that follows from
    its text; against a real answer key it is therefore right only by chance. Where a request brings a schema, the
    reply is JSON of that schema; where it asks for a judge's or critic's line, it has that line, and says which of the
    answers it is shown agrees with its own. Sampling settings other than the token limit change nothing.

    Args:
        ability: What it is like.
        name: Two names are two models, independent of each other.
    """

    def __init__(self, ability: Ability, name: str = "llm") -> None:
        self._ability = ability
        shown = [
            f"{field.name}={getattr(ability, field.name):g}"
            for field in fields(ability)
            if field.name in ("skill", "correlation", "seed") or getattr(ability, field.name) != field.default
        ]
        self._identity = ModelIdentity("simulated", f"{name}?{'&'.join(shown)}")
        self._key = f"{name}/{ability.seed}/{ability.skill!r}"
        self._limited: set[tuple[object, ...]] = set()

    def __repr__(self) -> str:
        return f"SimulatedModel({str(self._identity)!r})"

    @property
    def identity(self) -> ModelIdentity:
        """``simulated``, with everything that shapes a reply in the name."""
        return self._identity

    @property
    def ability(self) -> Ability:
        """What it is like, for whoever computes true scores."""
        return self._ability

    async def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            ProviderError: A simulated failure.
            RateLimitError: A simulated rate limit, on the first attempt only.
        """
        ability = self._ability
        topic = self._topic(request.messages)
        place = (self._key, topic.key, _fingerprint(request.messages), request.draw)
        seconds = ability.latency_s
        if ability.latency_spread:
            seconds *= math.exp(ability.latency_spread * normal("latency", *place))
        if seconds and ability.wait:
            await asyncio.sleep(seconds)
        self._fail(place)
        truncated = _happens(ability.truncation_rate, "cut", place)
        length = ability.output_tokens
        if ability.length_spread:
            length *= math.exp(ability.length_spread * normal("length", *place))
        tokens = max(1, round(length))
        read = sum(len(message.content) for message in request.messages)
        usage = Usage(input=-(-read // _CHARACTERS_PER_TOKEN), output=min(tokens, request.max_tokens))
        if truncated or tokens > request.max_tokens:
            return Completion(_REASONING[:40], usage, "length", seconds=seconds)
        return Completion(self._text(request, topic, place), usage, "stop", seconds=seconds)

    async def aclose(self) -> None:
        """There is nothing to free."""

    def _fail(self, place: tuple[object, ...]) -> None:
        if _happens(self._ability.failure_rate, "fail", place):
            raise ProviderError(f"{self._identity}: a simulated failure")
        if _happens(self._ability.flaky_rate, "flaky", place):
            if place not in self._limited:
                self._limited.add(place)
                raise RateLimitError(f"{self._identity}: a simulated rate limit", status=429, retry_after=0.0)
            self._limited.discard(place)

    def _topic(self, messages: Sequence[Message]) -> _Topic:
        question = find_question(message.content for message in messages)
        if question is None:
            text = next((message.content for message in reversed(messages) if message.role == "user"), "")
            names = options(self._ability.answers)
            truth = names[int(uniform("truth of", text) * len(names))]
            difficulty = self._ability.spread * normal("difficulty of", text) if self._ability.spread else 0.0
            return _Topic(hashlib.blake2b(text.encode("utf-8", "surrogatepass")).hexdigest(), names, truth, difficulty)
        return _Topic(question.id, question.options, question.truth, question.difficulty)

    def _answer(self, topic: _Topic, place: tuple[object, ...]) -> str:
        """The answer of a draw; wrong ones are as correlated as right ones."""
        ability, shared_place = self._ability, place[:2]
        if ability.is_right(normal("u", *shared_place), normal("e", *place), topic.difficulty):
            return topic.truth
        wrong = [option for option in topic.options if option != topic.truth]
        rho = ability.correlation
        latent = math.sqrt(rho) * normal("v", *shared_place) + math.sqrt(1 - rho) * normal("w", *place)
        return wrong[min(len(wrong) - 1, int(NORMAL.cdf(latent) * len(wrong)))]

    def _text(self, request: Request, topic: _Topic, place: tuple[object, ...]) -> str:
        if _happens(self._ability.format_rate, "form", place):
            return f"{_REASONING} It could be any of them."
        answer = self._answer(topic, place)
        write = verdict_form(request.messages)
        if request.schema is None and write is None:
            return f"{_REASONING}\nAnswer: {answer}"
        belief = Belief(answer, answers_shown(request.messages), _REASONING, place)
        if request.schema is not None:
            return msgspec.json.encode(filled(request.schema, belief)).decode()
        assert write is not None
        return f"{_REASONING}\n{write(request.messages, belief)}"


def _happens(rate: float, what: str, place: tuple[object, ...]) -> bool:
    return rate > 0 and uniform(what, *place) < rate


def _fingerprint(messages: Sequence[Message]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for message in messages:
        digest.update(f"{message.role}\x1f{message.content}\x1e".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
