"""An Archon structure as a value: layers of components, cast with models, counted, and run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from treadle.errors import SampleBudgetError, SampleFailure, UserError
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.workflows.archon.components.base import Component, Imagined, Requests, State
from treadle.workflows.base import Calls

Layer = tuple[Component, ...]
Named = Callable[[str], str | None]
"""The model that is named for a role, or ``None``."""
BESIDE_CANDIDATES = 2
LAST = "-1"
"""The place of the last of the models given, the weak one."""


@dataclass(frozen=True, slots=True)
class Archon:
    """Layers of components (arXiv 2409.15254): each takes the question and the candidates and hands on new ones.

    The first candidate after the last layer is the answer.

    Attributes:
        layers: From the first to the last; the components of one layer run at once.
        name: What it is called where it has a name.
        remarks: What was not understood in the file it was read from.
    """

    layers: tuple[Layer, ...]
    name: str = field(default="", compare=False)
    remarks: tuple[str, ...] = field(default=(), compare=False)

    @property
    def components(self) -> tuple[Component, ...]:
        """All components, in order."""
        return tuple(component for layer in self.layers for component in layer)

    def count(self) -> int:
        """Calls of one question when every reply can be used and every candidate passes, exactly."""
        return self._counted()[0]

    def shown(self) -> int:
        """Replies that one prompt can hold at most: all candidates, their critiques, and what is asked again."""
        return self._counted()[3] + BESIDE_CANDIDATES

    def calls(self) -> Calls:
        """Calls of one question, at least and at most: filters may leave fewer, second asks take more."""
        usual, fewest, most, _ = self._counted()
        return Calls(fewest, most, usual)

    def _counted(self) -> tuple[int, int, int, int]:
        """Calls as expected, at least and at most, and the most candidates at any place."""
        calls = fewest = most = widest = 0
        least = left = highest = 0
        for layer in self.layers:
            counts = [component.count(least, left, highest) for component in layer]
            calls += sum(count.calls for count in counts)
            fewest += sum(count.fewest for count in counts)
            most += sum(count.most for count in counts)
            least = sum(count.least_left for count in counts)
            left = sum(count.left for count in counts)
            made = sum(count.most_left for count in counts)
            # A layer whose texts cannot be used leaves the candidates as they were.
            highest = max(made, highest) if layer[0].makes else made
            widest = max(widest, highest)
        return calls, fewest, most, widest

    def cast(self, models: Sequence[str], named: Named) -> Archon:
        """The structure with a model for every component.

        A model that is named by its own name plays its component. A place such as ``"2"`` is the second of the models
        given, ``"-1"`` the last; a model named for the role takes its place. A component without either is played by
        the one named for its role; where none is, generators and fusers are dealt over the models given, in turn from
        the first (so a single fuser is the first), and everybody else is the first of them, the strong one.

        Args:
            models: The models given, the strong one first; at least one.
            named: What is named for a role.

        Raises:
            UserError: The structure names a place that no model given has.
        """
        layers = tuple(tuple(each for one in layer for each in _cast(one, models, named)) for layer in self.layers)
        return Archon(layers, self.name, self.remarks)

    def imagine(self, requests: Requests) -> None:
        """Make the requests of one question with symbols in place of texts; see `Component.imagine`."""
        state = Imagined()
        for layer in self.layers:
            after = [one.imagine(state, requests, draw) for one, draw in zip(layer, first_draws(layer), strict=True)]
            state = Imagined(
                tuple(candidate for each in after for candidate in each.candidates),
                tuple(critique for each in after for critique in each.critiques),
                after[0].statements,
            )

    async def answer(self, problem: Problem, run: Run) -> Candidate:
        """Run the layers on a question; every component has a model or a role.

        A component that fails leaves its layer with what the others of it made.

        Args:
            problem: The question.
            run: Where the calls are made.

        Returns:
            The first candidate after the last layer.

        Raises:
            SampleFailure: The first failure of a layer in which every component failed.
            SampleBudgetError: The question's own cap did not cover a layer.
        """
        state = State()
        for place, layer in enumerate(self.layers, 1):
            state = await _through(layer, problem, state, run.child(f"layer {place}"), place)
        return state.candidates[0]


async def _through(layer: Layer, problem: Problem, state: State, run: Run, place: int) -> State:
    results = await run.settle(
        component.work(problem, state, run, id=f"{place}.{member}", first_draw=draw)
        for member, (component, draw) in enumerate(zip(layer, first_draws(layer), strict=True), 1)
    )
    after = [result for result in results if isinstance(result, State)]
    for component, result in zip(layer, results, strict=True):
        if isinstance(result, SampleBudgetError) or (isinstance(result, SampleFailure) and not after):
            raise result
        if isinstance(result, SampleFailure):
            run.note("dropped", component=str(component.player), failure=result.failure, reason=str(result))
    given = {candidate.id for candidate in state.candidates}
    # What only hands on what it was given adds nothing beside others that made something.
    new = [part for part in after if any(each.id not in given for each in part.candidates)]
    parts = (new or after[:1]) if layer[0].makes else after
    return State(tuple(each for part in parts for each in part.candidates), after[0].statements)


def first_draws(layer: Layer) -> tuple[int, ...]:
    """The first draw of each component of a layer: those that ask the same go on where the one before them ended."""
    taken: dict[Hashable, int] = {}
    draws: list[int] = []
    for component in layer:
        draws.append(taken.get(component.asked, 0))
        taken[component.asked] = draws[-1] + component.drafts
    return tuple(draws)


def distinct_calls(structures: Sequence[Archon], question: str = "") -> int:
    """The calls that are paid for one question when all structures answer it with shared calls.

    Exact where every reply can be used, rankers keep the order they are shown, every candidate passes, comparisons are
    ties, and different requests get different replies. Whatever two structures have in common is paid once.

    Args:
        structures: Structures with models for all components, or with models for none.
        question: The question's id, or its text where it has none: ties are drawn with it.
    """
    requests = Requests(question)
    for structure in structures:
        structure.imagine(requests)
    return len(requests.known)


def _cast(component: Component, models: Sequence[str], named: Named) -> Iterator[Component]:
    player = named(component.role)
    if component.model is not None and not is_place(component.model):
        yield component
    elif player is not None:
        yield component.played_by(player)
    elif component.model is not None:
        yield component.played_by(_placed(component, models))
    elif component.makes:
        yield from _dealt(component, models)
    else:
        yield component.played_by(models[0])


def _dealt(component: Component, models: Sequence[str]) -> Iterator[Component]:
    """A component's samples dealt over models in turn, one component a model that gets any."""
    for place, model in enumerate(models):
        samples = len(range(place, component.drafts, len(models)))
        if samples:
            yield replace(component, model=model, **{"samples": samples})


def is_place(model: str) -> bool:
    """Whether a component's model is a place among the models given, there or not."""
    return model.isascii() and model.removeprefix("-").isdecimal()


def _placed(component: Component, models: Sequence[str]) -> str:
    model = component.model or ""
    if model == LAST:
        return models[-1]
    if not 1 <= int(model) <= len(models):
        given = "one model is given" if len(models) == 1 else f"{len(models)} models are given"
        raise UserError(
            f"archon: the {component.kind} names model {model}, but only {given}: name more with --models A,B,… (places"
            " are counted from 1, and -1 is the last)"
        )
    return models[int(model) - 1]
