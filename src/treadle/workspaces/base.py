"""The values of working copies: what they are made from, and the patch that is read back."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

Network = Literal["off", "setup", "on"]
"""When commands may reach the network: never, while the set-up command runs, or always."""
NETWORKS: tuple[Network, ...] = ("off", "setup", "on")
Change = Literal["added", "modified", "deleted", "renamed", "mode"]
_BINARY = re.compile(r"^GIT binary patch\n(?:(?:literal|delta) [0-9]+\n(?:[^\n]+\n)++\n?)++", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Repository:
    """What working copies are made from; a `treadle.Problem` carries it as its ``workspace``.

    Attributes:
        path: A git working tree, or any folder; it is never written to.
        place: Where commands see a copy, so that what is installed in editable form finds it; ``path`` itself where it
            is not given. A sandbox that cannot mount shows copies where they are.
        setup: A shell command that makes a copy ready, such as ``pip install -e .``; empty for none.
        test: A shell command whose exit code says whether a copy works; empty for none.
        readable: Further files and folders that commands may read, such as an interpreter's.
        network: When commands may reach the network.
        env: Environment variables of commands; what the model may read, so never a key.
        keep_tests: Whether changes of test files belong to a patch.
        command_seconds: Wall clock of one command of a worker.
        test_seconds: Wall clock of the set-up and of the test command.
        memory: Bytes that a command's processes may take together.
        processes: Processes and threads of a command at one time.
    """

    path: Path
    place: Path | None = None
    setup: str = ""
    test: str = ""
    readable: tuple[Path, ...] = ()
    network: Network = "off"
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    keep_tests: bool = False
    command_seconds: float = 60.0
    test_seconds: float = 900.0
    memory: int = 4 * 2**30
    processes: int = 256


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a patch changes.

    Attributes:
        path: Its path from the top, as the file system's (`os.fsdecode`).
        change: What becomes of it.
        before: The path it had, where it is renamed.
        binary: Whether it is no text.
        added: Lines added; 0 where it is binary.
        removed: Lines removed; 0 where it is binary.
    """

    path: str
    change: Change
    before: str = ""
    binary: bool = False
    added: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A change of the working tree that is no part of its patch, and why not."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Patch:
    """The difference between a working tree and what it was at the start.

    Attributes:
        content: What ``git apply`` takes, byte for byte; empty where nothing changed.
        files: What it changes.
        left_out: What changed besides, and why it is left out.
        readable: The same to be read, with the lines of files that are no UTF-8; empty where the content has them all.
    """

    content: bytes = b""
    files: tuple[ChangedFile, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    readable: bytes = b""

    def __bool__(self) -> bool:
        return bool(self.content)

    @property
    def text(self) -> str:
        """The content as text; what is no UTF-8 is replaced, so the content counts."""
        return self.content.decode(errors="replace")

    @property
    def shown(self) -> str:
        """The patch to be read and not to be applied: lines that are no UTF-8 too, and no content of binary files."""
        text = (self.readable or self.content).decode(errors="replace")
        return _BINARY.sub("(a binary file, not shown)\n", text)

    def document(self) -> dict[str, Any]:
        """What it changes, as JSON values."""
        files = [
            {
                "path": shown_path(each.path),
                "change": each.change,
                "before": shown_path(each.before),
                "binary": each.binary,
                "added": each.added,
                "removed": each.removed,
            }
            for each in self.files
        ]
        left_out = [{"path": shown_path(each.path), "reason": each.reason} for each in self.left_out]
        return {"files": files, "left_out": left_out}


@dataclass(frozen=True, slots=True)
class Tested:
    """What came of the test command on a clean copy with a patch.

    Attributes:
        passed: Whether the patch applied and the command ended with exit code 0.
        output: The end of what it wrote, both streams.
        reason: Why it did not pass, in words; empty where it did.
        seconds: Wall clock that it took.
        steering: Files of the patch that steer a test run without being tests, such as ``conftest.py``; the command
            passed with them as they were as well, or it did not pass.
    """

    __test__: ClassVar[bool] = False
    """No class of tests, whatever its name begins with."""

    passed: bool
    output: str = ""
    reason: str = ""
    seconds: float = 0.0
    steering: tuple[str, ...] = ()


def shown_path(path: str) -> str:
    """A path as text that can be written anywhere: bytes that are no UTF-8 are replaced."""
    return os.fsencode(path).decode(errors="replace")
