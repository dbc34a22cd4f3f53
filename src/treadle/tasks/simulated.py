"""``simulated:NAME?seed=N``: questions that only a simulated model can answer; it measures no real one."""

from __future__ import annotations

from treadle.errors import UnknownNameError
from treadle.models.simulated_questions import SimulatedQuestion, simulated_questions
from treadle.tasks.base import Sample
from treadle.tasks.opening import Opening
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.simulated_archon import NAMES, models_of, open_simulated_archon
from treadle.tasks.simulated_votes import SimulatedTask
from treadle.tasks.spec import Options, read_spec
from treadle.tasks.task import Task

SIZES = (40, 30, 60)
"""Samples of the search, selection and test parts, unless options say otherwise."""
SKILLS = {"llm": {"strong": 0.8, "llm": 0.65, "weak": 0.5}}
"""The simulations of plain skill, and that of each model that they bring, the strong one first."""


def open_simulated(opening: Opening) -> Task:
    """Open a simulated set.

    Options: ``seed``; ``search``, ``selection`` and ``test``, the sizes of the parts; ``answers``, how many answers a
    question can have; ``spread``, the standard deviation of the questions' difficulty. For ``archon`` and
    ``archon-null`` see `treadle.tasks.simulated_archon`.

    Raises:
        UnknownNameError: No such simulation.
    """
    options = opening.options
    if opening.spec.place in NAMES:
        return open_simulated_archon(opening)
    _skills(opening.spec.place)
    parts = ("search", "selection", "test")
    search, selection, test = (options.whole(part, size, least=1) for part, size in zip(parts, SIZES, strict=True))
    answers, spread = options.whole("answers", 2, least=2), options.number("spread", 0.0)
    count = search + selection + test
    questions = simulated_questions(options.whole("seed", 1), count, answers=answers, spread=spread)
    samples = [_sample(question) for question in questions]
    plain = opening.task(samples, ExactScorer(marked=True), (search, selection, test))
    return SimulatedTask(
        plain.name, plain.samples, plain.scorer, plain.seed, plain.shares, answers=answers, spread=spread
    )


def simulated_models(spec: str) -> tuple[str, ...]:
    """The models that a simulated task brings, the strong one first.

    Args:
        spec: The task's name, such as ``simulated:llm?seed=3``; its seed is the models' too.

    Raises:
        UnknownNameError: No such simulation.
    """
    read = read_spec(spec)
    if read.place in NAMES:
        return models_of(read)
    seed = Options.of(read).whole("seed", 1)
    return tuple(f"simulated:{name}?skill={skill:g}&seed={seed}" for name, skill in _skills(read.place).items())


def _skills(name: str) -> dict[str, float]:
    if name not in SKILLS:
        raise UnknownNameError("simulation", name, (*SKILLS, *NAMES))
    return SKILLS[name]


def _sample(question: SimulatedQuestion) -> Sample:
    return Sample(question.id, question.text, question.truth)
