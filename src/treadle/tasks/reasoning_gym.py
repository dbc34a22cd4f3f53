"""``reasoning-gym:DATASET?size=50&seed=1``: generated puzzles with their own verifiers (arXiv 2505.24760).

The package is an optional part (``pip install 'treadle[tasks]'``). It is loaded in a child process only, which makes
the questions and grades the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from treadle.errors import UnknownNameError, UserError
from treadle.tasks.base import Sample
from treadle.tasks.opening import Opening
from treadle.tasks.scorers.reasoning_gym import ReasoningGymScorer
from treadle.tasks.scorers.worker import worker_pool
from treadle.tasks.task import Task

KIND = "reasoning-gym"
SECONDS = 600.0
"""The limit of making all questions."""


def open_reasoning_gym(opening: Opening) -> Task:
    """Open a generated set; options besides ``size`` and ``seed`` are the generator's own settings.

    Raises:
        UserError: The package is not installed, or the generator refuses its settings.
        UnknownNameError: No such set, or no such setting.
    """
    name = opening.spec.place
    pool = worker_pool(KIND)
    names: list[str] = pool.ask({"verb": "names"}, SECONDS).value or []
    if name not in names:
        raise UnknownNameError("reasoning-gym data set", name, names)
    config: dict[str, Any] = {
        "size": opening.options.whole("size", 50, least=1),
        "seed": opening.options.whole("seed", 1),
    }
    known: list[str] = pool.ask({"verb": "settings", "name": name}, SECONDS).value or []
    opening.options.known.update(set(known) - set(config) - set(opening.options.values))
    for option, text in opening.options.rest().items():
        if option not in known:
            raise UnknownNameError(f"setting of reasoning-gym:{name}:", option, known)
        config[option] = _value(text)
    made = pool.ask({"verb": "questions", "name": name, "config": config}, SECONDS)
    if made.failure:
        raise UserError(f"{opening.spec.text!r}: the questions could not be made: {made.reason}")
    samples = [_sample(name, index, question, answer) for index, (question, answer) in enumerate(made.value)]
    return opening.task(samples, ReasoningGymScorer(name, msgspec.json.encode(config).decode()))


def _sample(name: str, index: int, question: str, answer: Any) -> Sample:
    target = None if answer is None else str(answer)
    hidden: Mapping[str, Any] = {"index": index}
    return Sample(f"{name}-{index}", question, target, hidden=hidden)


def _value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
