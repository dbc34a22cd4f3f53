"""A user's own task: a function that returns rows, samples or a task."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast, overload

import msgspec

from treadle.errors import DatasetError, UserError
from treadle.tasks.base import Sample, Scorer
from treadle.tasks.jsonl import read_scored
from treadle.tasks.opening import Opening
from treadle.tasks.rows import Row, kind_of
from treadle.tasks.scorers.custom import Grade
from treadle.tasks.scorers.open import as_scorer, open_scorer
from treadle.tasks.spec import Options
from treadle.tasks.task import Task
from treadle.workflows.parameters import reader_of

Rows = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class UserTask:
    """A function that makes a task, with the scorer that its user gave; calling it calls the function."""

    function: Rows
    scorer: str | Scorer | Grade | None = None
    name: str = ""

    def __call__(self, *args: Any, **settings: Any) -> Any:
        """What the function returns."""
        return self.function(*args, **settings)


@overload
def task(function: Rows, /) -> UserTask: ...


@overload
def task(*, scorer: str | Scorer | Grade | None = None, name: str = "") -> Callable[[Rows], UserTask]: ...


def task(
    function: Rows | None = None, /, *, scorer: str | Scorer | Grade | None = None, name: str = ""
) -> UserTask | Callable[[Rows], UserTask]:
    """Make a task of a function that returns rows (``input``, ``target``, …), samples or a `Task`.

    Args:
        function: The function, when used as ``@task`` without brackets. Its parameters are options:
            ``module:function?size=50``.
        scorer: A scorer's name with its options, a scorer, or a function of a sample and an answer.
        name: The name in reports; ``module:function`` when not given.
    """

    def wrap(made: Rows) -> UserTask:
        if not callable(made) or inspect.iscoroutinefunction(made):
            raise UserError(f"a task must be a plain function that returns rows, not {made!r:.80}")
        return UserTask(made, scorer, name)

    return wrap if function is None else wrap(function)


def open_user_task(found: Any, opening: Opening) -> Task:
    """Open what ``module:function`` names: a task, rows, or a function that makes them.

    Raises:
        UserError: It is none of these, or the function fails or does not take an option.
    """
    text = opening.spec.text
    made = found if isinstance(found, UserTask) else UserTask(found) if callable(found) else None
    if made is None:
        return _task_of(found, None, opening)
    settings = _settings(made.function, opening.options)
    try:
        result = made.function(**settings)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{text}: the function raised {type(error).__name__}: {error}") from error
    scorer = None if made.scorer is None else as_scorer(made.scorer, text, folder=opening.folder)
    opened = _task_of(result, scorer, opening)
    return replace(opened, name=made.name) if made.name else opened


def _task_of(result: Any, scorer: Scorer | None, opening: Opening) -> Task:
    text = opening.spec.text
    if isinstance(result, Task):
        opening.options.finish()
        return result
    if isinstance(result, str | bytes | Mapping) or not isinstance(result, Iterable):
        raise UserError(f"{text} must be or return rows, samples or a Task, not {result!r:.80}")
    items: list[Any] = list(cast(Iterable[Any], result))
    if not items:
        raise DatasetError(f"{text}: no rows")
    if all(isinstance(item, Sample) for item in items):
        named = opening.options.take("scorer")
        if named or scorer is None:
            scorer = open_scorer(named or "exact", opening.options, folder=opening.folder)
        return opening.task(items, scorer)
    rows = [_row(item, number, text) for number, item in enumerate(items, 1)]
    return opening.task(*read_scored(opening, rows, scorer))


def _row(item: Any, number: int, text: str) -> Row:
    if not isinstance(item, Mapping):
        what = "a Sample among rows" if isinstance(item, Sample) else kind_of(item)
        raise DatasetError(f"{text}, row {number}: a row must be a mapping of field names to values, not {what}")
    fields: dict[str, Any] = dict(cast(Mapping[str, Any], item))
    try:
        # Through JSON and back: what cannot be written there (NaN, objects) has no place in a row.
        plain = msgspec.json.decode(msgspec.json.encode(fields))
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise DatasetError(f"{text}, row {number}: the row holds what JSON cannot: {error}") from None
    return Row(plain, number, text, "row")


def _settings(function: Rows, options: Options) -> dict[str, Any]:
    """The options that are parameters of the function, read by their annotation or default."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    settings: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        text = options.take(name)
        if text:
            settings[name] = _read(parameter, text, options)
        elif parameter.default is parameter.empty:
            raise UserError(f"{options.text!r} needs the option {name}: write ?{name}=VALUE")
    return settings


def _read(parameter: inspect.Parameter, text: str, options: Options) -> Any:
    read, words = reader_of(parameter)
    try:
        return read(text)
    except (ValueError, KeyError):
        options.refuse(parameter.name, f"must be {words}, not {text!r}")
