"""``simulated:archon`` and ``simulated:archon-null``: a surface on which structures differ for known reasons, or not.

Ten models, a task, and the true score of every structure; nothing here measures a real model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from treadle.errors import UserError
from treadle.models.options import read_options
from treadle.models.simulated_questions import SimulatedQuestion, simulated_questions
from treadle.models.simulated_surface import MODELS, Surface
from treadle.tasks.base import Sample
from treadle.tasks.opening import Opening
from treadle.tasks.scorers.latent import LatentScorer, reference
from treadle.tasks.spec import Spec
from treadle.tasks.task import Task
from treadle.workflows.archon.structure import Archon, Layer
from treadle.workflows.base import Workflow
from treadle.workflows.settings import split_options

if TYPE_CHECKING:
    from treadle.models.simulated_mechanism import Array
    from treadle.tasks.simulated_layers import Cast, Layers

NAMES = ("archon", "archon-null")
QUESTIONS = 2000
_PARTS = ("search", "selection", "test")


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulatedArchonTask(Task):
    """The task of a simulated surface, which knows the true score of structures.

    A true score is the expected score on a question of this surface, over questions and draws. It is worked out on
    `QUESTIONS` questions that all structures share, with the arithmetic of the simulated models; the standard error of
    a difference between two structures is at most about 0.1 to 0.3 points.

    Attributes:
        surface: The parameters.
        null: Whether it is the surface on which nothing makes a difference.
    """

    surface: Surface = Surface()
    null: bool = False

    def true_score(self, workflow: Workflow, models: Sequence[str]) -> float | None:
        """The true score of a workflow, a fraction.

        Args:
            workflow: One that holds a structure, or ``single``, ``cot`` or ``self-consistency``.
            models: The models given, the strong one first, by the names that `archon_models` gives.

        Returns:
            ``None`` where it is not known: another workflow, or models that are not of this surface.
        """
        places = [self._places.get(model) for model in models]
        structure = getattr(workflow.answer, "structure", None)
        if isinstance(structure, Archon):
            try:
                return float(self.true_scores([structure], models)[0])
            except UserError:
                return None
        name, options = split_options(workflow.name)
        plain = name in ("single", "cot", "self-consistency")
        if not plain or not places or places[0] is None:
            return None
        from treadle.tasks.simulated_truth import score, voted

        return score(voted(self._layers, places[0], int(options.get("n", 1 if name != "self-consistency" else 5))))

    def true_scores(self, structures: Sequence[Archon], models: Sequence[str]) -> Array:
        """The true score of each structure, a fraction.

        Args:
            structures: They share what they have in common, so all at once take far less time than one by one.
            models: The models given, the strong one first.

        Raises:
            UserError: A structure is played by a model that is none of this surface's.
        """
        import numpy as np

        from treadle.tasks.simulated_truth import score, true_chances

        return np.array(true_chances(self._layers, structures, lambda layer: self._cast(layer, models), score))

    @cached_property
    def _layers(self) -> Layers:
        from treadle.tasks.simulated_layers import Layers

        return Layers(self.surface, QUESTIONS, self.null)

    def _cast(self, layer: Layer, models: Sequence[str]) -> Cast:
        cast: list[Any] = []
        for component in Archon((layer,)).cast(models, lambda role: None).components:
            place = self._places.get(component.model or "")
            if place is None:
                raise UserError(f"{self.name}: the true score of a structure with {component.model} is not known")
            cast.append((component, place))
        return tuple(cast)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """The places of this surface's models, from 0."""
        return {name: place for place, name in enumerate(archon_models(NAMES[self.null], self.surface))}


def open_simulated_archon(opening: Opening) -> Task:
    """Open the task of a simulated surface.

    Options: ``search``, ``selection`` and ``test``, the sizes of the parts; all others are those of `Surface`.

    Raises:
        UserError: An option does not exist or is out of its range.
    """
    spec, options = opening.spec, opening.options
    sizes = (40, 30, 60)
    search, selection, test = (options.whole(part, size, least=1) for part, size in zip(_PARTS, sizes, strict=True))
    surface = _surface(spec)
    for field in fields(Surface):
        options.take(field.name)
    options.finish()
    questions = simulated_questions(
        surface.seed, search + selection + test, answers=surface.answers, spread=surface.spread
    )
    return SimulatedArchonTask(
        spec.text,
        tuple(_sample(question) for question in questions),
        LatentScorer(),
        shares=(search, selection, test),
        surface=surface,
        null=spec.place == NAMES[1],
    )


def archon_models(name: str, surface: Surface) -> tuple[str, ...]:
    """The models of a surface by their names, the best generator first."""
    return tuple(f"simulated:{name}/{number}?{surface.shown}" for number in range(1, MODELS + 1))


def models_of(spec: Spec) -> tuple[str, ...]:
    """The models that a task of this kind brings."""
    return archon_models(spec.place, _surface(spec))


def _surface(spec: Spec) -> Surface:
    """The parameters that a task's options give."""
    given: Mapping[str, str] = {name: value for name, value in spec.options.items() if name not in _PARTS}
    return read_options(f"{spec.text.partition('?')[0]}?{'&'.join('='.join(each) for each in given.items())}", Surface)


def _sample(question: SimulatedQuestion) -> Sample:
    return Sample(question.id, question.text, reference(question))
