"""Runs inside the sandbox: reads, searches, edits and writes files; a JSON object in, a JSON object out."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

LINES = 400
CHARACTERS = 16_000
MATCHES = 100
SHOWN = 200
LARGEST = 4_000_000
BATCH = 1_000


class Refused(Exception):
    """It cannot be done; the text is for the model."""


def read(path: str, first: int = 1, last: int | None = None) -> str:
    """Numbered lines of a file."""
    lines = text_of(path).split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    first = max(1, first)
    if not lines and first == 1:
        return f"[{path} is empty]"
    if first > len(lines):
        raise Refused(f"{path} has {len(lines)} lines")
    last = min(len(lines), last or len(lines))
    if last < first:
        raise Refused(f"last is {last}, before first, which is {first}")
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
    if not os.path.isdir(path):
        regular(path)
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
    if existed:
        regular(path)
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
    regular(path)
    if os.path.getsize(path) > LARGEST:
        raise Refused(f"{path} is larger than {LARGEST // 1_000_000} MB; look at parts of it with the shell")
    with open(path, "rb") as file:
        return file.read()


def regular(path: str) -> None:
    """Refuse what is no regular file: to open a pipe would wait for ever, and a device is not of the folder."""
    if not os.path.isfile(path):
        raise Refused(f"{path} is no regular file" if os.path.lexists(path) else f"{path} does not exist")


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
    words = ["rg", "--line-number", "--with-filename", "--null", "--no-heading", "--color=never", "--sort=path"]
    words += ["--no-config", "--no-ignore-dot", "--max-columns=400", "--max-columns-preview"]
    words += [f"--max-count={MATCHES + 1}", *(["--glob", glob] if glob else [])]
    words += [*(["--fixed-strings"] if literal else []), "--regexp", pattern, "--", path]
    found: list[str] = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as rg:
        assert rg.stdout is not None
        while len(found) <= MATCHES and (batch := list(islice(rg.stdout, BATCH))):
            found += _lines(batch, path, glob)
        if len(found) > MATCHES:
            rg.kill()
    if rg.returncode > 1 and not literal:
        return _by_reading(pattern, path, glob, literal)
    return found


def _lines(batch: Iterable[bytes], path: str, glob: str) -> list[str]:
    """The matches that ripgrep names, but for those of files that only a glob makes it look into."""
    parts = [os.fsdecode(line).rstrip("\r\n").partition("\0") for line in batch]
    hidden = _left_out({name for name, _, _ in parts}, path) if glob and os.path.isdir(path) else set[str]()
    return [f"{name}:{rest}" for name, _, rest in parts if name not in hidden]


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
    found: list[str] = []
    folders = [path]
    while folders:
        entries = [entry for folder in folders for entry in _entries(folder)]
        left_out = _left_out({entry.path for entry in entries}, path)
        entries = [entry for entry in entries if entry.path not in left_out]
        folders = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        found += [entry.path for entry in entries if entry.is_file(follow_symlinks=False)]
    for name in sorted(found):
        whole = os.path.normpath(name)
        if not glob or fnmatch.fnmatch(os.path.basename(name), glob) or fnmatch.fnmatch(whole, glob):
            yield whole


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _left_out(names: set[str], folder: str) -> set[str]:
    """Those below a folder that are hidden, or that git ignores where it does not ignore the folder itself."""
    hidden = {name for name in names if f"{os.sep}." in f"{os.sep}{os.path.relpath(name, folder)}"}
    return hidden | (set[str]() if _ignored({folder}) else _ignored(names - hidden))


def _ignored(names: set[str]) -> set[str]:
    if not names or not shutil.which("git"):
        return set()
    words = ["git", "check-ignore", "--no-index", "-z", "--stdin"]
    asked = b"\0".join(map(os.fsencode, names))
    ended = subprocess.run(words, input=asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return {os.fsdecode(name) for name in ended.stdout.split(b"\0") if name}


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
