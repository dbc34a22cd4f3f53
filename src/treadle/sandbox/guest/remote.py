"""Objects of the program as the tests see them: every use is a question to the program's process.

Operators are those of `computing`.
"""

from __future__ import annotations

from computing import Computing, exactly
from wire import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from connection import Connection

_LARGEST_CHUNK = 512
_MOST_ITEMS = 2_000_000
_ASKED = frozenset(("__name__", "__doc__", "__dict__", "__annotations__", "__wrapped__", "__qualname__", "__module__"))


def inside(error: BaseException, place: str) -> BaseException:
    """Mark an exception as the program's own.

    Args:
        error: The exception.
        place: Where in the program it was raised.
    """
    error.__dict__["_treadle_place"] = place
    return error


def place_of(error: BaseException) -> str | None:
    """Where in the program an exception was raised; ``None`` if it is not the program's."""
    return error.__dict__.get("_treadle_place")


class Remote(Computing):
    """An object of the program.

    Args:
        connection: To its process.
        number: Its number there.
        name: Its class.
    """

    __slots__ = ("_treadle_connection", "_treadle_generation", "_treadle_name", "_treadle_remote")
    _treadle_connection: Connection
    _treadle_generation: int
    _treadle_name: str
    _treadle_remote: int

    def __init__(self, connection: Connection, number: int, name: str) -> None:
        set_slot = object.__setattr__
        set_slot(self, "_treadle_connection", connection)
        set_slot(self, "_treadle_absorbed", False)
        set_slot(self, "_treadle_remote", number)
        set_slot(self, "_treadle_name", name)
        set_slot(self, "_treadle_generation", connection.generation)

    def treadle_number(self, connection: Connection) -> int:
        """Its number in the process of today."""
        if self._treadle_generation != connection.generation:
            raise TypeError("this object was lost with the process that made it")
        return self._treadle_remote

    def treadle_generation(self) -> int:
        """Which process it is of."""
        return self._treadle_generation

    def treadle_ask(self, operation: str, *args: Any, **kwargs: Any) -> Any:
        """Have its process do something with it."""
        connection = self._treadle_connection
        return connection.call(operation, self.treadle_number(connection), args, kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        return self.treadle_ask("call", *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _ASKED:
            raise AttributeError(name)
        return self.treadle_ask("getattr", name)

    def __setattr__(self, name: str, value: Any) -> None:
        self.treadle_ask("setattr", name, value)

    def __getitem__(self, key: Any) -> Any:
        return self.treadle_ask("getitem", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.treadle_ask("setitem", key, value)

    def __delitem__(self, key: Any) -> None:
        self.treadle_ask("delitem", key)

    def __str__(self) -> str:
        return exactly(str, self.treadle_ask("str"))

    def __repr__(self) -> str:
        return exactly(str, self.treadle_ask("repr"))

    def __instancecheck__(self, value: Any) -> bool:
        own = getattr(kind_of(value), "treadle_dressed", isinstance(value, Remote))
        return own and exactly(bool, self.treadle_ask("isinstance", value))

    def __enter__(self) -> Any:
        return self.treadle_ask("enter")

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        ended = bool(exactly((bool, type(None)), self.treadle_ask("exit", kind and type(error), None, None)))
        # no program swallows what a test found
        return ended and isinstance(error, Exception) and not isinstance(error, AssertionError)


class Iterating(Remote):
    """An iterator of the program: read in growing parts, so that it may be endless."""

    __slots__ = ("_treadle_items", "_treadle_more", "_treadle_read", "_treadle_size")
    _treadle_items: list[Any]
    _treadle_more: bool
    _treadle_read: int
    _treadle_size: int

    def __init__(self, connection: Connection, number: int, name: str) -> None:
        super().__init__(connection, number, name)
        self._treadle_keep([], True, 0, 1)

    def _treadle_keep(self, items: list[Any], more: bool, read: int, size: int) -> None:
        for name, value in (("items", items), ("more", more), ("read", read), ("size", size)):
            object.__setattr__(self, f"_treadle_{name}", value)

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        while not self._treadle_items:
            if not self._treadle_more:
                raise StopIteration
            size = self._treadle_size
            items, more = self.treadle_ask("next", size)
            read = self._treadle_read + len(items)
            if read > _MOST_ITEMS:
                raise ValueError(f"an iterator of the program gave more than {_MOST_ITEMS} values")
            self._treadle_keep(exactly(list, items)[::-1], exactly(bool, more), read, min(2 * size, _LARGEST_CHUNK))
        return self._treadle_items.pop()


class Entry(Remote):
    """A function or class of the program that tests may use by its name; remembers its last call for reasons."""

    __slots__ = ()

    def treadle_number(self, connection: Connection) -> int:
        """The same in every process of the program."""
        return self._treadle_remote

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        connection = self._treadle_connection
        last = connection.last = [self._treadle_name, args, kwargs]
        value = self.treadle_ask("call", *args, **kwargs)
        last.append(value)
        return value


class Missing:
    """Stands for a name that the program should define and does not."""

    def __init__(self, reason: str) -> None:
        self.__reason = reason

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        raise inside(NameError(self.__reason), "")

    def __getattr__(self, name: str) -> Any:
        raise inside(NameError(self.__reason), "")


async def _wait(remote: Remote) -> Any:
    return remote.treadle_ask("run")


def awaited(connection: Connection, number: int) -> Coroutine[Any, Any, Any]:
    """A coroutine that has the program's process run one of its own."""
    return _wait(Remote(connection, number, "coroutine"))
