"""Rows of a JSONL file, with the line each stands on."""

from __future__ import annotations

import difflib
import gzip
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from treadle.errors import DatasetError

# fmt: off
GOLD_NAMES = frozenset({
    "target", "targets", "answer", "answers", "final_answer", "correct_answer", "correct_answers", "best_answer",
    "reference_answer", "expected_answer", "gold_answer", "answer_key", "answerkey", "answer_idx", "answer_index",
    "correct", "correct_option", "solution", "solutions", "canonical_solution", "label", "labels", "gold", "golds",
    "reference", "references", "expected", "expected_output", "output", "outputs", "completion", "ground_truth",
    "groundtruth", "truth", "rationale",
})
# fmt: on
"""Names of fields that give a question's answer away."""

_GZIP = b"\x1f\x8b"
_ALIKE = (
    {"input", "question", "prompt", "problem", "text", "query", "instruction", "context"},
    GOLD_NAMES,
)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its fields, its number from 1, the name of where it stands, and what its number counts there."""

    fields: Mapping[str, Any]
    line: int
    source: str
    counted: str = "line"

    def fault(self, what: str) -> DatasetError:
        """An error that names this row."""
        return DatasetError(f"{self.source}, {self.counted} {self.line}: {what}")

    def get(self, name: str, option: str) -> Any:
        """A field that must be there.

        Args:
            name: The field.
            option: The option that maps it, named in the remedy.

        Raises:
            DatasetError: It is not there, or null; with the fields found and near matches.
        """
        value = self.fields.get(name)
        if value is not None:
            return value
        if name in self.fields:
            raise self.fault(f"the field {name!r} is null")
        # A field that is called what its option is called would be answered with itself.
        near = _near(name, (field for field in self.fields if field != option))
        remedy = f"; did you mean ?{option}={near}" if near else f"; map it with ?{option}=FIELD"
        raise self.fault(f"no field {name!r}; fields found: {', '.join(self.fields) or 'none'}{remedy}")

    def text(self, name: str, option: str) -> str:
        """A field that must be there and be text.

        Raises:
            DatasetError: It is not there, or not text.
        """
        value = self.get(name, option)
        if not isinstance(value, str):
            raise self.fault(f"the field {name!r} must be text, not {kind_of(value)}")
        return value


def is_gold_name(name: str) -> bool:
    """Whether a field of this name gives a question's answer away, whatever it is mapped to.

    Args:
        name: A field; case, and hyphens or spaces for underscores, do not count.
    """
    return name.strip().casefold().replace("-", "_").replace(" ", "_") in GOLD_NAMES


def kind_of(value: object) -> str:
    """A JSON value's kind, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list | tuple) else "an object"


def read_rows(path: Path) -> list[Row]:
    """Read a file of JSON objects, one a line or in one array; it may be packed by gzip.

    Text is strict UTF-8 (a leading byte order mark is skipped) and strict JSON (no NaN); blank lines are skipped.

    Args:
        path: The file.

    Raises:
        DatasetError: No file, a folder, no rows, or a line that cannot be read, with its number.
    """
    source = str(path)
    content = _content(path).removeprefix(b"\xef\xbb\xbf")
    if content.lstrip().startswith(b"["):
        return _items(content, source)
    lines = content.split(b"\n")
    last = max((number for number, line in enumerate(lines, 1) if line.strip()), default=0)
    rows: list[Row] = []
    for number, line in enumerate(lines[:last], 1):
        if line.strip():
            rows.append(_row(line, number, source, torn=number == last and number == len(lines)))
    if not rows:
        raise DatasetError(f"{source}: the file holds no rows")
    return rows


def number_ids(rows: Iterable[Row], name: str = "") -> list[str]:
    """The ids of rows: a text or whole number; the row's number from 1 where no row has an id.

    Args:
        rows: The rows of one file.
        name: The field that was named for it; ``id`` where there is one, when not given.

    Raises:
        DatasetError: Some rows have an id and others not, an id is of another kind, or one stands twice.
    """
    rows = list(rows)
    if not name and not any("id" in row.fields for row in rows):
        return [str(number) for number in range(1, len(rows) + 1)]
    seen: dict[str, int] = {}
    for row in rows:
        value = row.get(name or "id", "id")
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise row.fault(f"the id must be text or a whole number, not {kind_of(value)}")
        id = str(value)
        if id in seen:
            raise DatasetError(f"{row.source}: the id {id!r} stands on {row.counted}s {seen[id]} and {row.line}")
        seen[id] = row.line
    return list(seen)


def _near(name: str, found: Iterable[str]) -> str:
    names = list(found)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    for alike in _ALIKE:
        if name in alike:
            close += [other for other in names if other.lower() in alike]
    return close[0] if close else ""


def _items(content: bytes, source: str) -> list[Row]:
    """The rows of a file that is one array."""
    try:
        items: list[Any] = msgspec.json.decode(content, type=list[Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = str(error).removeprefix("JSON is malformed: ")
        raise DatasetError(f"{source}: the file is no array in JSON and UTF-8: {why}") from None
    for number, fields in enumerate(items, 1):
        if not isinstance(fields, dict):
            raise DatasetError(f"{source}, item {number}: a row must be a JSON object, not {kind_of(fields)}")
    if not items:
        raise DatasetError(f"{source}: the file holds no rows")
    return [Row(fields, number, source, "item") for number, fields in enumerate(items, 1)]


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content.startswith(_GZIP) else content
    except FileNotFoundError:
        raise DatasetError(f"{path}: there is no such file{_neighbour(path)}") from None
    except IsADirectoryError:
        raise DatasetError(f"{path}: this is a folder; name a file in it") from None
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise DatasetError(f"{path}: the file cannot be read: {error}") from None


def _neighbour(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f" (nor its folder {path.parent})"
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""


def _row(line: bytes, number: int, source: str, *, torn: bool) -> Row:
    try:
        fields: Any = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = _reason(line, error)
        cut = "; the last line looks cut off" if torn else ""
        raise DatasetError(f"{source}, line {number}: the line is not JSON in UTF-8: {why}{cut}") from None
    if not isinstance(fields, dict):
        raise DatasetError(f"{source}, line {number}: a row must be a JSON object")
    return Row(fields, number, source)  # pyright: ignore[reportUnknownArgumentType]


def _reason(line: bytes, error: Exception) -> str:
    if line.strip() == b"{":
        return "a value that spans several lines; write one object a line"
    return str(error).removeprefix("JSON is malformed: ")
