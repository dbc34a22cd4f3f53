"""The guest modules that grade a program, as one piece of bytes that a sandbox's interpreter can load quickly."""

from __future__ import annotations

import functools
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
def read():
    def take(size):
        parts = []
        while size:
            part = os.read(0, min(size, 1 << 20))
            if not part:
                raise SystemExit("the tests are cut off")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
    return marshal.loads(take(int.from_bytes(take(8), "little")))
def load():
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
    return module
load().main(read)
"""
"""A program that reads the modules from its standard input, and runs the last one on what comes after them."""


def part(value: Any) -> bytes:
    """A part of the standard input that `LOADER` reads.

    Args:
        value: Plain values.
    """
    data = marshal.dumps(value, _FORMAT)
    return len(data).to_bytes(8, "little") + data


@functools.cache
def modules(names: tuple[str, ...]) -> bytes:
    """Guest modules as the first part of the standard input: compiled for this Python, as text for any other.

    Args:
        names: Each after those it imports; the last has ``main``.
    """
    sources = {name: (_GUEST / f"{name}.py").read_text("utf-8") for name in names}
    codes: dict[str, CodeType] = {
        name: compile(text, f"{name}.py", "exec", dont_inherit=True, optimize=2) for name, text in sources.items()
    }
    texts = zlib.compress(marshal.dumps(sources, _FORMAT), 9)
    return part((importlib.util.MAGIC_NUMBER, marshal.dumps(codes, _FORMAT), texts))
