"""Rows of SWE-bench: an issue, the commit it was filed against, its known fix, and the tests that tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import msgspec

from treadle.errors import DatasetError
from treadle.parsing.patches import patched_paths
from treadle.tasks.rows import Row, kind_of, read_rows

_SUFFIXES = (".jsonl", ".json", ".jsonl.gz", ".json.gz")
_NO_TESTS = (".json", ".png", "csv", ".txt", ".md", ".jpg", ".jpeg", ".pkl", ".yml", ".yaml", ".toml")
"""Ends of names that are no tests; the list is SWE-bench's own."""
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_REPO = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*/[A-Za-z0-9_][A-Za-z0-9_.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Instance:
    """What grades an answer; nothing of it but ``id``, ``repo``, ``base_commit`` and ``version`` is ever shown.

    Attributes:
        id: The instance's id.
        repo: The repository, as ``owner/name``.
        base_commit: The commit that is worked on.
        version: The version of the software there; empty where nothing is said.
        patch: The known fix.
        test_patch: The change of the tests that came with it.
        fail_to_pass: Tests that the fix makes pass.
        pass_to_pass: Tests that pass before and after.
        test_files: The files that are handed to the test command.
    """

    id: str
    repo: str
    base_commit: str
    version: str
    patch: str
    test_patch: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    test_files: tuple[str, ...]


def read_instance_rows(path: Path) -> list[Row]:
    """The rows of a file, or of all the JSON files of a folder in the order of their names.

    Args:
        path: A file with one object a line (or one array), or a folder of such files.

    Raises:
        DatasetError: There is none, or one cannot be read.
    """
    if not path.is_dir():
        return read_rows(path)
    files = sorted(each for each in path.iterdir() if each.name.endswith(_SUFFIXES) and each.is_file())
    if not files:
        raise DatasetError(f"{path}: no file in this folder ends in {', '.join(_SUFFIXES[:2])}")
    return [row for file in files for row in read_rows(file)]


def read_instance(row: Row) -> Instance:
    """The instance of a row.

    Raises:
        DatasetError: A field is missing or is something else; names the line.
    """
    test_patch = _text(row, "test_patch")
    files = _names(row, "test_files") if row.fields.get("test_files") is not None else directives(test_patch)
    if not files:
        raise row.fault("the field 'test_patch' changes no test file")
    fail_to_pass = _names(row, "FAIL_TO_PASS")
    if not fail_to_pass:
        raise row.fault("the field 'FAIL_TO_PASS' names no test, so nothing would tell a fix from none")
    return Instance(
        _matched(row, "instance_id", _ID, "letters, digits and _.-"),
        _matched(row, "repo", _REPO, "owner/name"),
        _matched(row, "base_commit", _COMMIT, "a commit's full hash"),
        _version(row),
        _text(row, "patch"),
        test_patch,
        fail_to_pass,
        _names(row, "PASS_TO_PASS"),
        tuple(files),
    )


def directives(test_patch: str) -> tuple[str, ...]:
    """The files that a test command is handed: what the test patch changes, without what is no test by its name.

    The rule is that of SWE-bench (``get_test_directives``).

    Args:
        test_patch: The change of the tests.
    """
    named = re.findall(r"^diff --git a/.* b/(.*?)\r?$", test_patch, re.MULTILINE) or sorted(patched_paths(test_patch))
    return tuple(dict.fromkeys(each for each in named if not each.endswith(_NO_TESTS)))


def django_directives(files: Sequence[str]) -> tuple[str, ...]:
    """Test files as django's runner names them: dotted, from its folder of tests."""
    return tuple(each.removesuffix(".py").removeprefix("tests/").replace("/", ".") for each in files)


def question(row: Row, *, hints: bool) -> str:
    """What a workflow is asked: the issue, and what was said of it before the fix where that is wanted.

    Raises:
        DatasetError: There is no issue.
    """
    issue = _text(row, "problem_statement")
    said = row.fields.get("hints_text") if hints else None
    if said is not None and not isinstance(said, str):
        raise row.fault(f"the field 'hints_text' must be text, not {kind_of(said)}")
    return f"{issue.rstrip()}\n\nWhat was said of this issue:\n\n{said.strip()}\n" if said and said.strip() else issue


def _text(row: Row, name: str) -> str:
    value = row.fields.get(name)
    if value is None:
        found = ", ".join(row.fields) or "none"
        raise row.fault(f"no field {name!r}, which rows of SWE-bench have; fields found: {found}")
    if not isinstance(value, str):
        raise row.fault(f"the field {name!r} must be text, not {kind_of(value)}")
    if not value.strip():
        raise row.fault(f"the field {name!r} is empty")
    return value


def _matched(row: Row, name: str, form: re.Pattern[str], words: str) -> str:
    value = _text(row, name)
    if not form.fullmatch(value):
        raise row.fault(f"the field {name!r} must be {words}, not {value[:60]!r}")
    return value


def _version(row: Row) -> str:
    value = row.fields.get("version")
    if not isinstance(value, str | int | float | None) or isinstance(value, bool):
        raise row.fault(f"the field 'version' must be text, not {kind_of(value)}")
    return "" if value is None else str(value)


def _names(row: Row, name: str) -> tuple[str, ...]:
    """A list of texts; the published files hold it as text that is JSON."""
    value: Any = row.fields.get(name)
    if value is None:
        raise row.fault(f"no field {name!r}, which rows of SWE-bench have; fields found: {', '.join(row.fields)}")
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            raise row.fault(f"the field {name!r} must be a list of names, or such a list as JSON") from None
    names = cast(list[Any], value) if isinstance(value, list) else [None]
    if not all(isinstance(each, str) and each for each in names):
        raise row.fault(f"the field {name!r} must be a list of names, or such a list as JSON")
    return tuple(dict.fromkeys(cast(list[str], names)))
