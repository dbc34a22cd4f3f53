"""What of this machine's files a sandbox shows: the system and one interpreter, read-only, and nobody's own files."""

from __future__ import annotations

import hashlib
import site
import sys
import sysconfig
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
)
_NAMES = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf")
_OF_AN_INSTALLER = (".dist-info", ".egg-info")
_OF_AN_INTERPRETER = ("bin", "lib", "lib64", "include", "pyvenv.cfg")
DEVICES = ("null", "full", "random", "urandom")
"""Not ``zero``: mapped by several, it is memory that counts for nobody."""
GUEST = Path(__file__).parent / "guest"


@dataclass(frozen=True, slots=True)
class Layout:
    """The files of a sandbox.

    Attributes:
        readable: Paths shown under their own names, read-only.
        links: Symbolic links of the system's root, with where they point.
        texts: Files that exist in the sandbox only.
        interpreter: The Python that runs programs.
        path: Where executables are looked for, as ``PATH``.
    """

    readable: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    texts: tuple[tuple[str, str], ...]
    interpreter: str
    path: str


@cache
def system_layout(user: int) -> Layout:
    """The system and the interpreter that runs this process, with its packages.

    Args:
        user: The number of the user that work runs as.
    """
    roots = [path for name in SYSTEM if (path := Path(name)).exists()]
    links = [(str(path), str(path.readlink())) for path in roots if path.is_symlink()]
    shown = [str(path) for path in roots if not path.is_symlink()]
    shown += [name for name in _SETTINGS if Path(name).exists()]
    shown += [path for path in _interpreter() if not _is_below(path, shown)]
    shown.append(str(GUEST))
    texts = (
        ("/etc/passwd", f"root:x:0:0::/:/bin/false\nsandbox:x:{user}:{user}::/tmp/home:/bin/sh\n"),
        ("/etc/group", f"root:x:0:\nsandbox:x:{user}:\n"),
        ("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"),
    )
    folders = dict.fromkeys((str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"))
    return Layout(tuple(dict.fromkeys(shown)), tuple(links), texts, sys.executable, ":".join(folders))


def with_network(layout: Layout) -> Layout:
    """A layout that also says how this machine finds names: for work that may reach the network."""
    texts = dict(layout.texts)
    for name in _NAMES:
        try:
            texts[name] = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
    return replace(layout, texts=tuple(texts.items()))


@cache
def packages_digest() -> str:
    """A short digest of what is installed beside the interpreter: names and versions, Treadle itself left out.

    They are read from the names of the folders that installers write, which takes a millisecond.
    """
    folders = [Path(folder) for folder in dict.fromkeys((*site.getsitepackages(), sysconfig.get_path("purelib")))]
    names = {
        entry.name
        for folder in folders
        if folder.is_dir()
        for entry in folder.iterdir()
        if entry.suffix in _OF_AN_INSTALLER and not entry.name.startswith("treadle-")
    }
    return hashlib.sha256("\n".join(sorted(names)).encode(errors="surrogateescape")).hexdigest()[:12]


def _interpreter() -> list[str]:
    """The parts of an interpreter's folders, for such a folder may be a project's own."""
    real = Path(sys.executable).resolve()
    roots = dict.fromkeys((sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, str(real.parent.parent)))
    parts = [str(Path(root) / part) for root in roots for part in _OF_AN_INTERPRETER]
    return [part for part in parts if Path(part).exists()]


def _is_below(path: str, roots: list[str]) -> bool:
    return any(Path(path).is_relative_to(root) for root in roots)
