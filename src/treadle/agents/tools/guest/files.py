"""Runs inside the sandbox: reads, searches, edits and writes files; a JSON object in, a JSON object out."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

LINES = 400
CHARACTERS = 16_000
MATCHES = 100
SHOWN = 200
LARGEST = 4_000_000
SKIPPED = {".git", "__pycache__", "node_modules", ".venv", "venv", ".tox", ".mypy_cache", ".pytest_cache"}


class Refused(Exception):
    """It cannot be done; the text is for the model."""


def read(path: str, first: int = 1, last: int | None = None) -> str:
    """Numbered lines of a file."""
    lines = text_of(path).split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    first = max(1, first)
    if first > len(lines):
        raise Refused(f"{path} has {len(lines)} lines")
    last = min(len(lines), last or len(lines))
    shown: list[str] = []
    size = 0
    for number in range(first, min(last, first + LINES - 1) + 1):
        line = f"{number:6}\t{lines[number - 1].rstrip(chr(13))}"
        size += len(line) + 1
        if size > CHARACTERS and shown:
            break
        shown.append(line[:CHARACTERS])
    end = first + len(shown) - 1
    head = f"{path}, lines {first} to {end} of {len(lines)}"
    return f"[{head}]\n" + "\n".join(shown)


def search(pattern: str, path: str = ".", glob: str = "") -> str:
    """Lines that match a regular expression, by ripgrep where it is there."""
    if not os.path.lexists(path):
        raise Refused(f"{path} does not exist")
    try:
        re.compile(pattern)
        literal = False
    except re.error:
        literal = True
    found = (
        _by_ripgrep(pattern, path, glob, literal) if shutil.which("rg") else _by_reading(pattern, path, glob, literal)
    )
    lines = [line if len(line) <= SHOWN else line[:SHOWN] + "…" for line in found[:MATCHES]]
    if not lines:
        return "no line matches" + (" (taken as plain text: it is no regular expression)" if literal else "")
    more = f"\n[more than {MATCHES} matches; the rest is left out]" if len(found) > MATCHES else ""
    return "\n".join(lines) + more


def edit(path: str, old: str, new: str, all: bool = False) -> str:
    """Replace a text that stands in a file exactly once."""
    if not old:
        raise Refused("old is empty; to make a file use write")
    content = bytes_of(path)
    crlf = b"\r\n" in content and "\r\n" not in old
    # Where both kinds of line end are in a file, the text may stand in a part with plain ones.
    crlf = crlf and ("\n" not in old or old.encode(errors="surrogateescape") not in content)
    before, after = (text.replace("\n", "\r\n") if crlf else text for text in (old, new))
    wanted, put = before.encode(errors="surrogateescape"), after.encode(errors="surrogateescape")
    count = content.count(wanted)
    if count == 0:
        raise Refused(f"old does not stand in {path}{_nearest(content, old)}")
    if count > 1 and not all:
        raise Refused(f"old stands {count} times in {path}; give more lines around it, or all=true")
    changed = content.replace(wanted, put)
    if changed == content:
        raise Refused("new is the same as old; nothing was changed")
    keep(path, changed)
    line = content[: content.index(wanted)].count(b"\n") + 1
    return f"{path}: {count if all else 1} replaced, first at line {line}"


def write(path: str, content: str) -> str:
    """Write a whole file."""
    if os.path.isdir(path):
        raise Refused(f"{path} is a folder")
    existed = os.path.exists(path)
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    keep(path, content.encode(errors="surrogateescape"))
    return f"{path}: {'written over' if existed else 'made'}, {content.count(chr(10)) + bool(content)} lines"


def keep(path: str, content: bytes) -> None:
    """Put new content into a file, its mode left as it is."""
    with open(path, "wb") as file:
        file.write(content)


def bytes_of(path: str) -> bytes:
    """What is in a file that is there, is one, and is not too large."""
    if os.path.isdir(path):
        names = sorted(os.listdir(path))
        raise Refused(f"{path} is a folder: {', '.join(names[:100])}{' …' if len(names) > 100 else ''}")
    if not os.path.isfile(path):
        raise Refused(f"{path} does not exist" if not os.path.lexists(path) else f"{path} is no regular file")
    if os.path.getsize(path) > LARGEST:
        raise Refused(f"{path} is larger than {LARGEST // 1_000_000} MB; look at parts of it with the shell")
    with open(path, "rb") as file:
        return file.read()


def text_of(path: str) -> str:
    """The same as text."""
    content = bytes_of(path)
    if b"\0" in content[:8_000]:
        raise Refused(f"{path} is binary ({len(content)} bytes)")
    return content.decode(errors="replace")


def _nearest(content: bytes, old: str) -> str:
    """Where the first line of a text that is not there would be, in words."""
    first = next((line.strip() for line in old.split("\n") if line.strip()), "")
    lines = content.decode(errors="replace").split("\n")
    places = [number for number, line in enumerate(lines, 1) if first and first in line]
    if not places:
        return "; read the file first"
    shown = "\n".join(f"{places[0] + offset:6}\t{line}" for offset, line in enumerate(lines[places[0] - 1 :][:5]))
    return f"; its first line does, with other lines or spaces around it:\n{shown}"


def _by_ripgrep(pattern: str, path: str, glob: str, literal: bool) -> list[str]:
    words = ["rg", "--line-number", "--with-filename", "--no-heading", "--color=never", "--sort=path", "--no-config"]
    words += ["--max-columns=400", "--max-columns-preview", *(["--glob", glob] if glob else [])]
    words += [*(["--fixed-strings"] if literal else []), "--regexp", pattern, "--", path]
    ended = subprocess.run(words, capture_output=True, check=False)
    if ended.returncode > 1 and not literal:
        return _by_reading(pattern, path, glob, literal)
    return ended.stdout.decode(errors="replace").splitlines()[: MATCHES + 1]


def _by_reading(pattern: str, path: str, glob: str, literal: bool) -> list[str]:
    wanted = re.compile(re.escape(pattern) if literal else pattern)
    found: list[str] = []
    for name in _files(path, glob):
        try:
            text = text_of(name)
        except (Refused, OSError):
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if wanted.search(line):
                found.append(f"{name}:{number}:{line}")
                if len(found) > MATCHES:
                    return found
    return found


def _files(path: str, glob: str) -> Iterator[str]:
    if os.path.isfile(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(set(folders) - SKIPPED)
        for name in sorted(names):
            whole = os.path.normpath(os.path.join(folder, name))
            if not glob or fnmatch.fnmatch(name, glob) or fnmatch.fnmatch(whole, glob):
                yield whole


ACTIONS = {"read": read, "search": search, "edit": edit, "write": write}


def main() -> None:
    """Do what standard input asks for."""
    asked: dict[str, Any] = json.load(sys.stdin)
    action = ACTIONS[asked.pop("action")]
    try:
        reply = {"ok": True, "text": action(**asked)}
    except Refused as error:
        reply = {"ok": False, "text": str(error)}
    except OSError as error:
        reply = {"ok": False, "text": f"{error.filename}: {error.strerror}"}
    except ValueError as error:
        reply = {"ok": False, "text": f"it cannot be done: {error}"}
    text = json.dumps(reply)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
