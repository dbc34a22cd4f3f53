"""The guest modules that grade a program, as one piece of bytes that a sandbox's interpreter can load quickly."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import marshal
import zlib
from pathlib import Path
from types import CodeType
from typing import Any

_GUEST = Path(__file__).parent / "guest"
SEPARATE = (
    "wire",
    "wire_decode",
    "sources",
    "changes",
    "raising",
    "computing",
    "spoken",
    "candidate",
    "spawner",
    "remote",
    "dressed",
    "channel",
    "connection",
    "assertions",
    "clock",
    "tester",
)
PYTEST = (*SEPARATE, "pytest_files")
ALONE = ("assertions", "alone")
_FORMAT = 2
"""Of marshal: every Python reads it, and the bytes depend on the value alone, so that runs can be remembered."""

LOADER = """\
# tests of a program
import marshal, os, sys
def take(size):
    parts = []
    while size:
        part = os.read(0, min(size, 1 << 20))
        if not part:
            raise SystemExit("the tests are cut off")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
def read():
    return marshal.loads(take(int.from_bytes(take(8), "little")))
def load():
    digest = take(16).hex()
    ready = sys.modules.pop("_treadle_ready", None)
    if ready is not None and ready.digest == digest:
        size = int.from_bytes(take(8), "little")
        try:
            os.lseek(0, size, os.SEEK_CUR)
        except OSError:
            take(size)
        return ready.main
    magic, codes, sources = read()
    import _frozen_importlib_external as external
    if external.MAGIC_NUMBER == magic:
        codes = marshal.loads(codes)
    else:
        import zlib
        codes = marshal.loads(zlib.decompress(sources))
    for name, code in codes.items():
        module = sys.modules[name] = type(sys)(name)
        exec(code, module.__dict__)
    for name in codes:
        del sys.modules[name]
    return module.main
load()(read)
"""
"""A program that reads the modules from its standard input, and runs the last one on what comes after them.

A warm interpreter may hold them ready (`ready`): then they are passed over.
"""


def part(value: Any) -> bytes:
    """A part of the standard input that `LOADER` reads.

    Args:
        value: Plain values.
    """
    data = marshal.dumps(value, _FORMAT)
    return len(data).to_bytes(8, "little") + data


@functools.cache
def modules(names: tuple[str, ...]) -> bytes:
    """Guest modules as the first parts of the standard input: their digest, and they themselves.

    They are compiled for this Python, and there as text for any other.

    Args:
        names: Each after those it imports; the last has ``main``.
    """
    sources = {name: (_GUEST / f"{name}.py").read_text("utf-8") for name in names}
    codes: dict[str, CodeType] = {
        name: compile(text, f"{name}.py", "exec", dont_inherit=True, optimize=2) for name, text in sources.items()
    }
    texts = zlib.compress(marshal.dumps(sources, _FORMAT), 9)
    return digest(names) + part((importlib.util.MAGIC_NUMBER, marshal.dumps(codes, _FORMAT), texts))


@functools.cache
def digest(names: tuple[str, ...]) -> bytes:
    """What says which modules they are (16 bytes)."""
    told = hashlib.blake2b(digest_size=16)
    for name in names:
        told.update(f"{name}\0".encode() + (_GUEST / f"{name}.py").read_bytes())
    return told.digest()


def ready() -> dict[str, Any]:
    """What a warm interpreter is to hold ready, as JSON values: the modules for most tests, and their digest."""
    return {"modules": list(SEPARATE), "digest": digest(SEPARATE).hex()}
