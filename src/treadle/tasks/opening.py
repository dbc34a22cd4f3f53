"""What every kind of task is opened from, and how rows become samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from treadle.errors import UserError
from treadle.models.base import Message
from treadle.tasks.base import Sample, Scorer
from treadle.tasks.rows import Row, is_gold_name, kind_of, number_ids
from treadle.tasks.scorers.answer import TargetReader
from treadle.tasks.spec import Options, Spec
from treadle.tasks.split import SHARES
from treadle.tasks.task import Task

_ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class Opening:
    """A task's name taken apart, its options, and the folder that paths start from."""

    spec: Spec
    options: Options
    folder: Path

    def path(self) -> Path:
        """The file that the name points to.

        Raises:
            UserError: The name points to none.
        """
        if not self.spec.place:
            raise UserError(f"{self.spec.text!r} names no file; write {self.spec.kind}:FILE")
        return self.folder / Path(self.spec.place).expanduser()

    def task(
        self,
        samples: Sequence[Sample],
        scorer: Scorer,
        shares: tuple[float, float, float] = SHARES,
    ) -> Task:
        """The task, once all its options are known to be right."""
        self.options.finish()
        return Task(self.spec.text, tuple(samples), scorer, shares=shares)


@dataclass(frozen=True, slots=True)
class FieldNames:
    """Which fields of a row are its input, target, id and group; no id or group name means none was asked for."""

    input: str = "input"
    target: str = "target"
    id: str = ""
    group: str = ""

    @classmethod
    def of(cls, options: Options, input: str = "input", target: str = "target") -> FieldNames:
        """The names that options give, with a kind's own defaults."""
        return cls(
            options.take("input") or input,
            options.take("target") or target,
            options.take("id"),
            options.take("group"),
        )

    def group_of(self, row: Row) -> str | None:
        """A row's group: the field that was named, else the field ``group`` where there is one."""
        if not self.group and row.fields.get("group") is None:
            return None
        value = row.get(self.group or "group", "group")
        if not isinstance(value, str | int):
            raise row.fault(f"the group must be text or a whole number, not {kind_of(value)}")
        return str(value)

    @property
    def taken(self) -> frozenset[str]:
        """The fields that are none of the extra ones."""
        return frozenset({self.input, self.target, self.id or "id", self.group or "group"})


def build_samples(
    rows: Sequence[Row],
    names: FieldNames,
    *,
    target: Callable[[Row], Any],
    input: Callable[[Row], str] | None = None,
    group: Callable[[Row], str | None] | None = None,
    hidden: frozenset[str] = frozenset(),
) -> list[Sample]:
    """Make samples of rows.

    Args:
        rows: The rows of one source.
        names: Which fields are what.
        target: Reads a row's target.
        input: Reads a row's question; its input field (text, or a list of chat turns) when not given.
        group: Reads a row's group where its fields name none.
        hidden: Fields that no workflow may see, beside those whose names say that they hold an answer; what else a
            row holds is public.

    Raises:
        DatasetError: A row lacks a field or holds something else in it; names the line.
    """
    ids = number_ids(rows, names.id)
    samples: list[Sample] = []
    for id, row in zip(ids, rows, strict=True):
        text, messages = (input(row), None) if input is not None else _question(row, names.input)
        own_group = names.group_of(row)
        public, kept = _extra(row, names.taken, hidden)
        samples.append(
            Sample(
                id,
                text,
                target(row),
                own_group if own_group is not None or group is None else group(row),
                messages,
                public,
                kept,
                line=row.line,
            )
        )
    return samples


def target_reader(scorer: Scorer, names: FieldNames) -> Callable[[Row], Any]:
    """Reads the target that a scorer needs: it must be there, and be something that the scorer can grade."""

    def read(row: Row) -> Any:
        optional = scorer.judged and not getattr(scorer, "needs_target", False)
        if optional and row.fields.get(names.target) is None:
            return None
        value = row.get(names.target, "target")
        fault = scorer.target_fault(value) if isinstance(scorer, TargetReader) else ""
        if fault:
            raise row.fault(f"the field {names.target!r} {fault}")
        return value

    return read


def _extra(row: Row, taken: frozenset[str], hidden: frozenset[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The other fields of a row: those that a workflow may see, and those that it may not."""
    public: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    for name, value in row.fields.items():
        if name not in taken:
            (kept if name in hidden or is_gold_name(name) else public)[name] = value
    return public, kept


def _question(row: Row, name: str) -> tuple[str, tuple[Message, ...] | None]:
    value = row.get(name, "input")
    if not isinstance(value, list):
        text = row.text(name, "input")
        if not text.strip():
            raise row.fault(f"the field {name!r} is empty")
        return text, None
    turns = cast(list[Any], value)
    messages = tuple(_turn(row, name, turn) for turn in turns)
    if not messages or messages[-1].role != "user":
        raise row.fault(f"the chat in {name!r} must end with a turn of the user")
    return messages[-1].content, messages


def _turn(row: Row, name: str, turn: Any) -> Message:
    fields: Mapping[str, Any] = cast(dict[str, Any], turn) if isinstance(turn, dict) else dict[str, Any]()
    role, content = fields.get("role"), fields.get("content")
    if role not in _ROLES or not isinstance(content, str):
        raise row.fault(f"each turn in {name!r} needs a role ({', '.join(_ROLES)}) and a content that is text")
    return Message(role, content)
