"""A task: samples and the scorer that grades them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any

import msgspec

from treadle.errors import DatasetError, UserError
from treadle.ledger.problem import Problem
from treadle.models.base import Message
from treadle.parsing.thinking import without_thinking
from treadle.tasks.base import Sample, Scorer
from treadle.tasks.human_labels import HumanLabel
from treadle.tasks.split import SHARES, Split, split_samples, unit_of

Example = tuple[str, str]
FOLDS = 16

_ENCODER = msgspec.json.Encoder(order="deterministic", enc_hook=lambda value: type(value).__qualname__)


@dataclass(frozen=True, eq=False)
class Task:
    """Samples and their scorer.

    Args:
        name: The name in reports.
        samples: The rows; at least one, ids all different.
        scorer: Grades answers.
        seed: The split seed; from the data's hash when not given. A limited task keeps that of the whole.
        shares: Weights of the search, selection and test parts.
        drop_bad_gold: Whether samples whose own reference is graded wrong are counted out instead of refused.
        dropped: Ids that were counted out.
        labels: Pairs of answers of which people said which is better; a judge can be held against them.

    Raises:
        DatasetError: No samples, or two with the same id.
    """

    name: str
    samples: tuple[Sample, ...]
    scorer: Scorer
    seed: int | None = None
    shares: tuple[float, float, float] = SHARES
    drop_bad_gold: bool = False
    dropped: tuple[str, ...] = ()
    labels: tuple[HumanLabel, ...] = ()

    def __post_init__(self) -> None:
        if not self.samples:
            raise DatasetError(f"{self.name}: the task has no samples")
        seen: dict[str, Sample] = {}
        for sample in self.samples:
            if sample.id in seen:
                first = seen[sample.id]
                where = f"on lines {first.line} and {sample.line}" if sample.line else "twice"
                raise DatasetError(f"{self.name}: the id {sample.id!r} stands {where}; ids must be unique")
            seen[sample.id] = sample

    @property
    def runs_code(self) -> bool:
        """Whether grading runs programs, so that it needs a sandbox."""
        return bool(getattr(self.scorer, "runs_code", False))

    @cached_property
    def row_hashes(self) -> Mapping[str, str]:
        """The hash of each sample's data by its id (16 hex digits each)."""
        return {sample.id: blake2b(_content(sample), digest_size=8).hexdigest() for sample in self.samples}

    @cached_property
    def hash(self) -> str:
        """The hash of the data: everything in the samples, nothing of their file or scorer (32 hex digits)."""
        digest = blake2b(digest_size=16)
        for row in self.row_hashes.values():
            digest.update(row.encode())
        return digest.hexdigest()

    @property
    def origins(self) -> Mapping[str, str]:
        """Of a task joined from several, the name of the one that each sample comes from."""
        return {}

    @property
    def split_seed(self) -> int:
        """The seed of the split."""
        return int(self.hash[:12], 16) if self.seed is None else self.seed

    @cached_property
    def split(self) -> Split:
        """The search, selection and test parts.

        Raises:
            UserError: Fewer than three groups.
        """
        return split_samples(self.samples, self.split_seed, self.shares)

    def problem(self, sample: Sample) -> Problem:
        """What a workflow sees of a sample.

        Examples are solved samples of the search part, without the sample itself and its group: a search sample sees
        all but its own fold of groups, so that few lists are shared by all.
        """
        return self._problem(sample, sample.input, sample.messages)

    def next_problem(self, sample: Sample, answers: Sequence[str]) -> Problem | None:
        """What a workflow sees of a sample's next turn: the chat so far, with its own answers as they were shown.

        Args:
            sample: A sample.
            answers: The answers to its first turns, in order; at least one. Their thinking is left out of the chat.

        Returns:
            ``None`` after the last turn, and where the last answer is empty: there is nothing to go on from.
        """
        shown = [without_thinking(answer).strip() for answer in answers]
        if len(shown) > len(sample.further) or not shown[-1]:
            return None
        turns = list(sample.messages or (Message("user", sample.input),))
        for answer, asked in zip(shown, sample.further, strict=False):
            turns += [Message("assistant", answer), Message("user", asked)]
        return self._problem(sample, sample.further[len(shown) - 1], tuple(turns))

    def _problem(self, sample: Sample, text: str, messages: tuple[Message, ...] | None) -> Problem:
        return Problem(
            text,
            id=sample.id,
            messages=messages,
            fields=sample.fields,
            same=self.scorer.same,
            public_tests=sample.public_tests,
            entry_point=sample.entry_point,
            answer_format=self.scorer.answer_format,
            examples=lambda: self._examples[self._folds.get(unit_of(sample), FOLDS)],
            workspace=sample.workspace() if callable(sample.workspace) else sample.workspace,
        )

    def limit(self, count: int) -> Task:
        """The task with its first samples only, split by the seed of the whole.

        Raises:
            UserError: ``count`` is below 1.
        """
        if count < 1:
            raise UserError(f"a limit of {count} samples leaves nothing to ask; it must be 1 or more")
        if count >= len(self.samples):
            return self
        return replace(self, samples=self.samples[:count], seed=self.split_seed)

    def without(self, ids: tuple[str, ...]) -> Task:
        """The task without some samples, which are listed as dropped; split by the seed of the whole."""
        gone = set(ids)
        kept = tuple(sample for sample in self.samples if sample.id not in gone)
        if not kept:
            raise DatasetError(f"{self.name}: no sample is left; the references of all {len(ids)} are graded wrong")
        return replace(self, samples=kept, seed=self.split_seed, dropped=(*self.dropped, *ids))

    @cached_property
    def _folds(self) -> Mapping[str, int]:
        """The fold of each group of the search part."""
        try:
            search = self.split.search
        except UserError:
            return {}
        units = dict.fromkeys(unit_of(sample) for sample in search)
        return {unit: place % FOLDS for place, unit in enumerate(units)}

    @cached_property
    def _examples(self) -> tuple[tuple[Example, ...], ...]:
        """The solved search samples without each fold, and at the end all of them."""
        folds = self._folds
        solved: list[tuple[int, Example]] = []
        for sample in self.split.search if folds else ():
            answer = "" if sample.target is None else self.scorer.show(sample.target)
            if answer:
                solved.append((folds[unit_of(sample)], (sample.input, answer)))
        return tuple(tuple(example for fold, example in solved if fold != left_out) for left_out in range(FOLDS + 1))


def _content(sample: Sample) -> bytes:
    row: tuple[Any, ...] = (
        sample.id,
        sample.input,
        sample.target,
        sample.group,
        sample.messages,
        sample.fields,
        sample.hidden,
        sample.public_tests,
        sample.entry_point,
    )
    if sample.further:
        row += (sample.further,)
    try:
        return _ENCODER.encode(row)
    except (UnicodeEncodeError, ValueError, TypeError, msgspec.ValidationError) as error:
        raise DatasetError(f"sample {sample.id!r} holds what JSON cannot: {error}") from error
