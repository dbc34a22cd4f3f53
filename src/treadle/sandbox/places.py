"""Where work sees folders of this machine: what may be asked for, and what of it has to be mounted in which order."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from treadle.sandbox.base import Surroundings
from treadle.sandbox.layout import SYSTEM

STAGED = "/tmp/.folder"
"""Where a box first has the work folder: its place may cover what has to start before."""
_OWN = ("/etc", "/dev", "/dev/shm", "/proc", "/sys", "/tmp", "/tmp/home", *SYSTEM)
_CLOSED = ("/proc", "/sys")


@dataclass(frozen=True, slots=True)
class Views:
    """What to mount for some surroundings.

    Attributes:
        at: Where the folder is seen.
        apart: Readable paths to show under their own names, outer ones first.
        on_top: Those below ``at``, to show over the folder.
    """

    at: str
    apart: tuple[str, ...]
    on_top: tuple[str, ...]


def is_text(text: str) -> bool:
    """Whether a text can be a name of this machine and stand in JSON."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def fault_of_surroundings(surroundings: Surroundings) -> str:
    """Why surroundings cannot be given, in words; empty where they can."""
    folder, place = surroundings.folder, surroundings.place
    if any(not name or "=" in name for name in surroundings.env):
        return "an environment variable has no name, or an equals sign in it"
    paths = [str(path) for path in (folder, place, *surroundings.readable) if path is not None]
    if not all(map(is_text, (*surroundings.env, *surroundings.env.values(), *paths))):
        return "an environment variable or a path is no UTF-8 text, or holds a NUL"
    if folder is not None and not (folder.is_absolute() and folder.is_dir()):
        return f"the work folder {folder} is no folder, or not named from the root"
    missing = [str(path) for path in surroundings.readable if not (path.is_absolute() and path.exists())]
    if missing:
        return f"{missing[0]} is to be readable and does not exist, or is not named from the root"
    if place is not None and folder is None:
        return f"there is no folder to be shown at {place}"
    return _fault_of_place(surroundings) or _fault_of_readable(surroundings)


def views(surroundings: Surroundings) -> Views:
    """What to mount, for surroundings without a fault.

    A readable path that the system or another one shows already is left out, but for a link, whose target is shown. A
    link in the folder where a readable path would lie over it leads to that path's own target in the same way.
    """
    at = surroundings.place or surroundings.folder
    apart: list[Path] = []
    on_top: list[Path] = []
    waiting = sorted(dict.fromkeys(surroundings.readable))
    while waiting:
        path = waiting.pop(0)
        if path == at:
            continue
        below = at is not None and path.is_relative_to(at)
        if _is_shown(path, (*on_top, *apart)) or (below and _is_link(_in_folder(surroundings, path))):
            target = path.resolve()
            if target != path and target not in (*apart, *on_top):
                waiting.append(target)
        else:
            (on_top if below else apart).append(path)
    return Views(str(at) if at else "", tuple(map(str, sorted(apart))), tuple(map(str, sorted(on_top))))


def _fault_of_place(surroundings: Surroundings) -> str:
    at = surroundings.place or surroundings.folder
    if at is None:
        return ""
    if not at.is_absolute() or ".." in at.parts:
        return f"the place {at} is not named from the root, or goes back with '..'"
    if own := next((own for own in _OWN if Path(own).is_relative_to(at)), ""):
        return f"no folder can be shown at {at}: {_named(at, own)} the sandbox's own"
    if own := next((own for own in _CLOSED if at.is_relative_to(own)), ""):
        return f"no folder can be shown at {at}: {own} is the sandbox's own"
    system = next((Path(own) for own in SYSTEM if at.is_relative_to(own)), None)
    if system and (system.is_symlink() or not at.is_dir()):
        return f"no folder can be shown at {at}: it lies in {system}, which is read-only and has no such folder"
    return ""


def _named(at: Path, own: str) -> str:
    return "it is" if str(at) == own else f"it contains {own}, which is"


def _fault_of_readable(surroundings: Surroundings) -> str:
    for path in surroundings.readable:
        if ".." in path.parts:
            return f"{path} is to be readable and goes back with '..'"
        names = (path, path.resolve()) if path.is_symlink() else (path,)
        own = next((own for own in _OWN if own not in SYSTEM and any(Path(own).is_relative_to(at) for at in names)), "")
        own = own or next((own for own in (*_CLOSED, "/dev") if any(at.is_relative_to(own) for at in names)), "")
        if own:
            return f"{path} cannot be readable: {own} is the sandbox's own"
    shown = views(surroundings)
    for path in shown.on_top:
        where = _in_folder(surroundings, Path(path))
        if not _fits(where, surroundings.folder, is_folder=Path(path).is_dir()):
            return f"{path} is to be readable on top of the work folder, which has nothing of its kind there"
    return ""


def _in_folder(surroundings: Surroundings, path: Path) -> Path:
    folder, at = surroundings.folder, surroundings.place or surroundings.folder
    return path if folder is None or at is None else folder / path.relative_to(at)


def _is_shown(path: Path, others: tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(other) for other in (*SYSTEM, *others))


def _is_link(path: Path) -> bool:
    return stat.S_ISLNK(_mode(path))


def _fits(path: Path, folder: Path | None, *, is_folder: bool) -> bool:
    """Whether a path of a folder can be mounted upon: no link on the way, and a folder or a file at its end."""
    inner = [parent for parent in path.parents if folder is not None and parent != folder and folder in parent.parents]
    kind = stat.S_ISDIR if is_folder else stat.S_ISREG
    return all(stat.S_ISDIR(_mode(parent)) for parent in inner) and kind(_mode(path))


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0
