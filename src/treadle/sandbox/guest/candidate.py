"""The program under test, in a process of its own that answers calls until it is ended."""

from __future__ import annotations

import _operator
import os
import struct
import sys

from changes import changed, snapshots
from computing import FUNCTIONS
from raising import attributes_of, describe, kinds_of, raised
from sources import Finder, Shared
from spoken import Spoken
from wire import Encoder, WireError, kind_of
from wire_decode import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

HEAD = struct.Struct("<cI")
_CHUNK = 1 << 20
_MOST_REFERENCES = 200_000
_CONSTANT = (int, float, str, bytes, tuple)
_PLAIN: Any = (int, float, str, bytes, list, tuple, dict, set, frozenset, bytearray)


def _isinstance(kind: Any, value: Any) -> bool:
    return isinstance(value, kind)


def _enter(context: Any) -> Any:
    return kind_of(context).__enter__(context)


def _exit(context: Any, *error: Any) -> Any:
    return kind_of(context).__exit__(context, *error)


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "getattr": getattr,
    "setattr": setattr,
    "getitem": _operator.getitem,
    "setitem": _operator.setitem,
    "delitem": _operator.delitem,
    "str": str,
    "repr": repr,
    "isinstance": _isinstance,
    "enter": _enter,
    "exit": _exit,
    **FUNCTIONS,
}


class Callback:
    """A function of the tests, as the program sees it."""

    def __init__(self, program: Candidate, number: int) -> None:
        self.__wrapped = program, number
        self.__name__ = "function"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        program, number = self.__wrapped
        return program.call_back(number, args, kwargs)

    def number(self) -> int:
        """The number by which the tests know it."""
        return self.__wrapped[1]


class Candidate(Shared):
    """The program's side of the channel.

    Args:
        channel: Descriptor of a stream socket.
        job: See `spawner.spawner`.
    """

    def __init__(self, channel: int, job: dict[str, Any]) -> None:
        super().__init__(frozenset(job["modules"]))
        self._channel = channel
        self._job = job
        self._references: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._handles: dict[int, int] = {}
        self._classes: set[type] = set()
        self._failed: dict[int, BaseException] = {}
        self._spoken = Spoken()
        self._file = f"{job['name'].replace('.', '/')}.py"

    def run(self) -> None:
        """Load the program, then answer calls until the tester is gone."""
        try:
            os.setpgid(0, 0)
            sys.meta_path.insert(0, Finder(self._job["modules"]))  # pyright: ignore[reportArgumentType]
            sys.argv = [self._file]
            self._spoken.start()
            try:
                module = self._load()
            except BaseException as error:
                self._send_error(error)
            else:
                self._spoken.take()
                self._send(b"h", [self._introduce(module), sorted(map(str, vars(module)))])
                self._serve()
        finally:
            os._exit(0)

    def _load(self) -> ModuleType:
        module = type(sys)(self._job["name"])
        module.__file__ = self._file
        sys.modules[module.__name__] = sys.modules["__main__"] = module
        exec(compile(self._job["source"], self._file, "exec", dont_inherit=True), module.__dict__)
        return module

    def _introduce(self, module: ModuleType) -> list[Any]:
        """For each name that tests may use: the name, what it is, and what stands for it."""
        found: dict[str, Any] = vars(module)
        told: list[Any] = []
        for name in self._job["entries"]:
            entry: Any = found.get(name)
            self._references.append(entry)
            if name not in found:
                told.append([name, "missing", None])
            elif isinstance(entry, type) and issubclass(entry, BaseException):
                told.append([name, "exception", kinds_of(entry)])
            elif callable(found[name]) or isinstance(entry, type(sys)):
                if isinstance(entry, type) and entry.__module__ == module.__name__:
                    self._classes.add(entry)
                self._numbers.setdefault(id(entry), len(self._references) - 1)
                told.append([name, "callable", None])
            else:
                told.append([name, "value", entry])
        return told

    def _serve(self) -> None:
        while True:
            kind, data = self._receive()
            self._handle(kind, data)

    def _handle(self, kind: bytes, data: bytes) -> None:
        before = self._handles
        try:
            root, containers = decode(data, self)
            operation, number, args, kwargs, base = root
            held: list[Any] = snapshots(containers, base) if operation == "call" else []
            self._handles = {**before, **{id(value): handle for handle, value, _ in held}}
            target = self._references[number]
            value = target(*args, **kwargs) if operation == "call" else self._operate(operation, number, target, args)
            self._send(b"v", [value, changed(held)])
        except BaseException as error:
            self._send_error(error)
        finally:
            self._handles = before

    def _operate(self, operation: str, number: int, target: Any, args: Any) -> Any:
        if operation == "next":
            return self._next(number, target, args[0])
        if operation == "run":
            import asyncio

            return asyncio.run(target)
        return _OPERATIONS[operation](target, *args)

    def _next(self, number: int, target: Iterator[Any], size: int) -> tuple[list[Any], bool]:
        """The next values of an iterator, and whether more may come; what it raises waits until they are taken."""
        failed = self._failed.pop(number, None)
        if failed is not None:
            raise failed
        values: list[Any] = []
        try:
            for _ in range(size):
                values.append(next(target))
        except StopIteration:
            return values, False
        except BaseException as error:
            if not values:
                raise
            self._failed[number] = error
        return values, True

    def call_back(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of the tests."""
        self._send(b"b", [number, args, kwargs])
        while True:
            kind, data = self._receive()
            if kind == b"c":
                self._handle(kind, data)
                continue
            root, _ = decode(data, self)
            if kind == b"r":
                return root[0]
            kinds, values, text, own, origin = root
            error = raised(kinds, values, text, own)
            error.__dict__["_origin"] = origin
            raise error

    def known(self, value: Any) -> int | None:
        """See `Plug.known`."""
        return self._handles.get(id(value))

    def leaf(self, value: Any) -> tuple[Any, ...] | None:
        """See `Plug.leaf`."""
        kind = kind_of(value)
        if isinstance(value, Callback):
            return "callback", value.number()
        known = None if issubclass(kind, _PLAIN) and not self._is_asked(kind) else self._numbers.get(id(value))
        if known is None:
            plain = issubclass(kind, _PLAIN) and not self._is_asked(kind)
            if plain or self.state(value) is not None:
                return None
            if kind.__module__ == "numpy" and hasattr(value, "item") and not getattr(value, "shape", True):
                return "plain", value.item()
            known = self._refer(value)
        flags = int(hasattr(kind, "__next__")) + 2 * int(hasattr(kind, "cr_frame"))
        return "remote", known, kind.__name__[:100], flags

    def _is_asked(self, kind: Any) -> bool:
        """Whether values of a class stay here: those that can change, of a class that the tests use by its name."""
        return bool(self._classes.intersection(kind.__mro__)) and not issubclass(kind, _CONSTANT)

    def dress(self, value: Any) -> tuple[int, str] | None:
        """See `Plug.dress`; of very many values the last are plain."""
        kind = kind_of(value)
        number = self._numbers.get(id(value))
        if number is None:
            if kind.__module__ == "numpy" or len(self._references) >= _MOST_REFERENCES // 2:
                return None
            number = self._refer(value)
        return number, kind.__name__[:100]

    def _refer(self, value: Any) -> int:
        if len(self._references) >= _MOST_REFERENCES:
            raise WireError("the program handed out too many objects")
        self._references.append(value)
        self._numbers[id(value)] = len(self._references) - 1
        return len(self._references) - 1

    def resolve(self, kind: str, fields: list[Any]) -> Any:
        """See `Plug.resolve`."""
        if kind == "remote":
            return self._references[fields[0]]
        if kind == "callback":
            return Callback(self, fields[0])
        if kind == "iterator":
            return (part[0] for part in iter(Callback(self, fields[0]), ()))
        module, name = fields
        __import__(module)
        return getattr(sys.modules[module], name)

    def _send_error(self, error: BaseException) -> None:
        if isinstance(error, WireError):
            self._send(b"u", [str(error)])
            return
        told = describe(error, self._file, self._job["source"])
        try:
            self._send(b"x", [*told, error.args, attributes_of(error)])
        except Exception:
            self._send(b"x", [*told, (told[2],), {}])

    def _send(self, kind: bytes, root: list[Any]) -> None:
        data = Encoder(self).encode(root)
        text = self._spoken.take()
        if text:
            told = Encoder(self).encode([text])
            data = told + HEAD.pack(kind, len(data)) + data
            kind, size = b"o", len(told)
        else:
            size = len(data)
        rest = memoryview(HEAD.pack(kind, size) + data)
        while rest:
            rest = rest[os.write(self._channel, rest) :]

    def _receive(self) -> tuple[bytes, bytes]:
        kind, size = HEAD.unpack(self._read(HEAD.size))
        return kind, self._read(size)

    def _read(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            part = os.read(self._channel, min(size, _CHUNK))
            if not part:
                os._exit(0)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
