"""Values of the program's own subclasses: their content is a plain value here, the rest is asked for."""

from __future__ import annotations

from remote import Remote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from connection import Connection

_CONSTANT = (int, float, str, bytes, tuple)
"""What cannot change: handed back to the program, it is the object that it was."""


class Dressed:
    """A value that compares, counts and iterates by itself, and whose other attributes are the program's."""

    treadle_dressed = True
    _treadle_remote: Remote

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("__", "_treadle")):
            raise AttributeError(name)
        return getattr(self._treadle_remote, name)

    def treadle_number(self, connection: Connection) -> int | None:
        """The number of the object in the process of today, if it cannot have changed since."""
        remote = self._treadle_remote
        if isinstance(self, _CONSTANT) and remote.treadle_generation() == connection.generation:
            return remote.treadle_number(connection)
        return None

    def __reduce_ex__(self, protocol: Any) -> Any:
        base: Any = _BASES[type(self)]
        return base, (base(self),)


def _dress(base: type) -> Any:
    return type(base.__name__, (Dressed, base), {"__module__": "builtins"})


_KINDS: dict[str, Any] = {base.__name__: _dress(base) for base in (int, float, str, bytes, tuple, list, dict)}
_BASES: dict[Any, type] = {kind: kind.__mro__[2] for kind in _KINDS.values()}
_LETTERS = {"w": "tuple", "L": "list", "d": "dict"}


def dressed(connection: Connection, letter: str, number: int, name: str, content: Any) -> Any:
    """A value with the number of its object.

    Args:
        connection: To the object's process.
        letter: Of its node; empty for what is no container.
        number: Of the object.
        name: Its class.
        content: The plain value.
    """
    kind = _KINDS[_LETTERS[letter] if letter else type(content).__name__]
    value = kind(content)
    value.__dict__["_treadle_remote"] = Remote(connection, number, name)
    return value
