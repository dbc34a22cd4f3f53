"""Whether commands that run in a copy would run the code of what it is a copy of."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

_SETTINGS = "pyvenv.cfg"
_SITES = ("lib*/python*/site-packages", "lib*/python*/dist-packages", "lib*/pypy*/site-packages", "Lib/site-packages")
_EDITABLE = ("*.pth", "*.egg-link", "__editable__*.py", "_*_editable*.py")
_URLS = "*.dist-info/direct_url.json"
"""Where an installer says what it installed a project from (PEP 610)."""
_FILE_BYTES = 2**20
_USUAL_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


def installed_from(executable: Path, place: Path) -> bool:
    """Whether an interpreter, or a script beside it, imports from a folder: it is installed there in editable form.

    Args:
        executable: The interpreter or script.
        place: The folder.
    """
    named = re.compile(rf"{re.escape(str(place))}(?![^/\\'\"\s])")
    sites = [site for prefix in _prefixes(executable) for pattern in _SITES for site in prefix.glob(pattern)]
    if any(named.search(_text(file)) for site in sites for name in _EDITABLE for file in site.glob(name)):
        return True
    return any(_edited(file) == place for site in sites for file in site.glob(_URLS))


def original_used(
    test: str,
    setup: str,
    env: Mapping[str, str],
    original: Path,
    copy: Path,
    *,
    places: Iterable[Path],
    apart: Iterable[str] = (),
) -> str:
    """Why a test command would not test a copy that is seen where it is, in words; empty where it would.

    Only what the commands name is looked at, not what the scripts that they run name in turn.

    Args:
        test: A shell command.
        setup: The one that made the copy ready.
        env: The environment variables of both.
        original: What the copy was made of.
        copy: The copy.
        places: All names of the original.
        apart: Parts of the original that hold none of its own code, such as environments.
    """
    places = tuple(places)
    inside = [place / each for place in places for each in apart]
    words = list(words_of(test))
    values = [each for value in env.values() for each in value.split(os.pathsep)]
    for name in (*words, *values):
        path = _named(name, original)
        within = any(path.is_relative_to(each) for each in inside)
        if not Path(named_by(name)).is_absolute():
            if within and path.exists() and not os.path.lexists(copy / path.relative_to(original)):
                return f"{path} is not in it"
        elif not within and any(path.is_relative_to(place) for place in places):
            return f"the command or its environment names {path}"
    search = env.get("PATH") or os.pathsep.join((str(Path(sys.executable).parent), *_USUAL_PATH))
    for executable in dict.fromkeys(_executables((*words, *words_of(setup)), original, search)):
        if any(installed_from(executable, place) for place in places):
            return f"{executable} imports from {places[0]}"
    return ""


def words_of(command: str) -> Iterator[str]:
    """The words of a shell command, and of commands that are words of it; what ends no quotation is split at spaces."""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split, lexer.commenters = True, ""
        words = list(lexer)
    except ValueError:
        words = command.split()
    for word in words:
        if word != command and len(word.split()) > 1:
            yield from words_of(word)
        else:
            yield word


def named_by(word: str) -> str:
    """What a word is, or sets a variable or an option to."""
    return word.partition("=")[2] if "=" in word.partition("/")[0] else word


def _named(word: str, folder: Path) -> Path:
    return Path(os.path.normpath(folder / os.path.expanduser(named_by(word))))  # noqa: PTH111  there may be no such user


def _executables(words: Sequence[str], folder: Path, search: str) -> Iterator[Path]:
    for word in words:
        with contextlib.suppress(OSError, ValueError):
            if "/" in named_by(word):
                path = _named(word, folder)
                if path.is_file():
                    yield path
            elif (found := shutil.which(word, path=search)) and _is_python(Path(found)):
                yield Path(found)


def _is_python(executable: Path) -> bool:
    """Whether it is an interpreter or a script of one; other programs of its folder have nothing to do with it."""
    if executable.name.startswith(("python", "pypy")):
        return True
    return (executable.parent.parent / _SETTINGS).is_file() or "python" in _first_line(executable)


def _prefixes(executable: Path) -> list[Path]:
    """What an interpreter imports from: its environment alone, where that is closed, or its installation too."""
    line = _first_line(executable).removeprefix("#!").split()
    interpreters = [executable, *(Path(word) for word in line[:1] if "python" in word)]
    found: list[Path] = []
    for each in interpreters:
        root = each.parent.parent
        found.append(root)
        settings = _text(root / _SETTINGS)
        if not settings or re.search(r"(?im)^include-system-site-packages\s*=\s*true", settings):
            found.append(Path(os.path.realpath(each)).parent.parent)
    return list(dict.fromkeys(found))


class _Source(msgspec.Struct):
    url: str
    dir_info: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


def _edited(file: Path) -> Path | None:
    """The folder that a project is installed from in editable form."""
    with contextlib.suppress(msgspec.DecodeError, ValueError):
        source = msgspec.json.decode(_text(file), type=_Source)
        if source.dir_info.get("editable") is True:
            return Path(unquote(urlsplit(source.url).path))
    return None


def _first_line(file: Path) -> str:
    with contextlib.suppress(OSError), file.open("rb") as opened:
        if opened.read(2) == b"#!":
            return "#!" + opened.readline(512).decode(errors="replace").strip()
    return ""


def _text(file: Path) -> str:
    with contextlib.suppress(OSError):
        if file.is_file():
            with file.open("rb") as opened:
                return opened.read(_FILE_BYTES).decode(errors="replace")
    return ""
