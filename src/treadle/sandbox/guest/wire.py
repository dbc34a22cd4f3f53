"""Python values as bytes between two processes that do not trust each other: no pickle, no eval, identity kept.

A message is a sequence of nodes, its first being the root, a list. A node is a container: a letter, how its items are
packed (one by one, or all 64-bit integers, floats or texts), their number, and the items: plain values in place,
containers as the number of their node. Shared and cyclic containers therefore come out shared and cyclic, and neither
side ever recurses.
"""

from __future__ import annotations

import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

kind_of: Any = type
MOST_BYTES = 32 * 2**20
MOST_VALUES = 4_000_000
DEEPEST = 500
"""How deep tuples and frozen sets, whose hashing recurses, may stand in each other."""

NODE = struct.Struct("<BBI")
INT, FLOAT, SIZE = struct.Struct("<q"), struct.Struct("<d"), struct.Struct("<I")
MUTABLE = frozenset("lDOECSQBM")
DRESSED: dict[Any, str] = {int: "", float: "", str: "", bytes: "", tuple: "w", list: "L", dict: "d"}
FACTORIES = {kind.__name__: kind for kind in (int, float, str, bytes, bool, list, dict, set, tuple)}
_CONTAINERS = {
    ("builtins", "list"): "l",
    ("builtins", "tuple"): "t",
    ("builtins", "dict"): "D",
    ("builtins", "set"): "S",
    ("builtins", "frozenset"): "Z",
    ("builtins", "bytearray"): "B",
    ("builtins", "dict_keys"): "k",
    ("builtins", "dict_values"): "v",
    ("builtins", "dict_items"): "i",
    ("collections", "deque"): "Q",
    ("collections", "OrderedDict"): "O",
    ("collections", "defaultdict"): "E",
    ("collections", "Counter"): "C",
}
_ANONYMOUS: dict[str, Any] = {
    "dict_keys": kind_of({}.keys()),
    "dict_values": kind_of({}.values()),
    "dict_items": kind_of({}.items()),
}
_FIELDS = {
    ("builtins", "complex"): ("real", "imag"),
    ("builtins", "range"): ("start", "stop", "step"),
    ("builtins", "slice"): ("start", "stop", "step"),
    ("fractions", "Fraction"): ("numerator", "denominator"),
    ("datetime", "date"): ("year", "month", "day"),
    ("datetime", "timedelta"): ("days", "seconds", "microseconds"),
    ("datetime", "datetime"): ("year", "month", "day", "hour", "minute", "second", "microsecond", "fold"),
    ("datetime", "time"): ("hour", "minute", "second", "microsecond", "fold"),
}
_list: Any = list
_tuple: Any = tuple
_dict: Any = dict
_set: Any = set
_frozenset: Any = frozenset
_BASES: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (int, int.__int__),
    (float, float.__float__),
    (str, str.__str__),
    (bytes, lambda value: bytes.__getitem__(value, slice(None))),
    (list, lambda value: _list.__getitem__(value, slice(None))),
    (tuple, lambda value: _tuple.__getitem__(value, slice(None))),
    (dict, lambda value: _dict(_list(_dict.items(value)))),
    (set, lambda value: _set(_set.__iter__(value))),
    (frozenset, lambda value: _frozenset(_frozenset.__iter__(value))),
    (bytearray, lambda value: bytearray(bytearray.__getitem__(value, slice(None)))),
)


class WireError(Exception):
    """A value that cannot cross, or bytes that are no message."""


class Plug:
    """What one side knows besides plain values: its own objects, by names that mean something to the other side."""

    def known(self, value: Any) -> int | None:
        """The number of a container that the other side has already; it is sent as that number."""

    def leaf(self, value: Any) -> tuple[Any, ...] | None:
        """A kind (text) and plain values that stand for an object without a common form."""

    def dress(self, value: Any) -> tuple[int, str] | None:
        """A number and the class of a value of a subclass, by which its own attributes can be asked for."""

    def dressed(self, letter: str, number: int, name: str, content: Any) -> Any:
        """The value of a subclass that the other side's `dress` told of."""
        raise WireError(f"unknown class {name!r}")

    def state(self, value: Any) -> tuple[str, str, dict[str, Any]] | None:
        """Module, name of the class and attributes of an object whose class both sides have."""

    def held(self, number: int) -> Any:
        """The container that the other side calls by a number."""
        raise WireError(f"nothing has the number {number}")

    def resolve(self, kind: str, fields: list[Any]) -> Any:
        """The object that the other side's `leaf` stands for."""
        raise WireError(f"unknown kind {kind!r}")

    def shell(self, module: str, name: str) -> Any:
        """A new object of a class without attributes."""
        raise WireError(f"unknown class {module}.{name}")

    def fill(self, shell: Any, state: dict[str, Any]) -> None:
        """Give a shell its attributes."""
        shell.__dict__.update(state)


def is_exactly(kind: Any, module: str, name: str) -> bool:
    """Whether a class is the one that a module has under a name."""
    if module == "builtins" and name in _ANONYMOUS:
        return _ANONYMOUS[name] is kind
    return getattr(sys.modules.get(module), name, None) is kind


def letter_of(kind: Any) -> str:
    """The letter of a container's class, or the empty text."""
    key = (str(kind.__module__), kind.__name__)
    letter = _CONTAINERS.get(key, "")
    return letter if letter and is_exactly(kind, *key) else ""


class Encoder:
    """Turns one message into bytes; ``containers`` are its containers by the number of their node."""

    def __init__(self, plug: Plug, most_bytes: int = MOST_BYTES) -> None:
        self.containers: list[Any] = []
        self._plug = plug
        self._left = most_bytes
        self._letters: dict[int, tuple[str, Any]] = {}
        self._numbers: dict[int, int] = {}
        self._parts: list[bytes] = []
        self._kept: list[Any] = []

    def encode(self, root: list[Any]) -> bytes:
        """The message.

        Raises:
            WireError: Something in it cannot cross, or it is too large.
        """
        self._add(root, "l", None)
        for value in self.containers:
            letter, extra = self._letters[id(value)]
            self._node(value, letter, extra)
        return b"".join(self._parts)

    def _add(self, value: Any, letter: str, extra: Any) -> bytes:
        number = self._numbers[id(value)] = len(self.containers)
        self._letters[id(value)] = letter, extra
        self.containers.append(value)
        return b"r" + SIZE.pack(number)

    def _emit(self, *parts: bytes) -> None:
        self._left -= sum(map(len, parts))
        if self._left < 0:
            raise WireError("the value is too large to hand over")
        self._parts.extend(parts)

    def _node(self, value: Any, letter: str, extra: Any) -> None:
        if letter == "B":
            self._emit(NODE.pack(ord(letter), 0, len(value)), value)
            return
        items: Any = value
        if letter == "M":
            module, name, state = extra
            items = [module, name, *(part for pair in state.items() for part in pair)]
        elif letter in "wL":
            items = [*extra, *value]
        elif letter in "DOECid":
            pairs = value if letter == "i" else value.items()
            items = [part for pair in pairs for part in pair]
            if letter == "E":
                factory = value.default_factory
                known = isinstance(factory, type) and FACTORIES.get(factory.__name__) is factory
                items = [factory.__name__ if known else None, *items]
            elif letter == "d":
                items = [*extra, *items]
        elif letter == "Q":
            items = [value.maxlen, *value]
        self._items(letter, items)

    def _items(self, letter: str, items: Any) -> None:
        count = len(items)
        if count > 7:
            kinds = set(map(type, items))
            if len(kinds) == 1:
                packed = _packed(kinds.pop(), items, count)
                if packed is not None:
                    self._emit(NODE.pack(ord(letter), packed[0], count), packed[1])
                    return
        self._emit(NODE.pack(ord(letter), 0, count))
        if count <= 1000:
            self._emit(*map(self._item, items))
        else:
            for value in items:
                self._emit(self._item(value))

    def _item(self, value: Any) -> bytes:
        kind = kind_of(value)
        if kind is int:
            if -(2**63) <= value < 2**63:
                return b"q" + INT.pack(value)
            data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            return b"I" + SIZE.pack(len(data)) + data
        if kind is str:
            data = value.encode("utf-8", "surrogatepass")
            return b"s" + SIZE.pack(len(data)) + data
        if kind is bool:
            return b"T" if value else b"F"
        if kind is float:
            return b"d" + FLOAT.pack(value)
        if value is None:
            return b"N"
        if kind is bytes:
            return b"b" + SIZE.pack(len(value)) + value
        return self._other(value, kind)

    def _other(self, value: Any, kind: Any) -> bytes:
        number = self._numbers.get(id(value))
        if number is not None:
            return b"r" + SIZE.pack(number)
        number = self._plug.known(value)
        if number is not None:
            return b"a" + SIZE.pack(number)
        letter = letter_of(kind)
        if letter:
            return self._add(value, letter, None)
        fields = _fields(value, kind) or self._plug.leaf(value)
        if fields is not None:
            return b"x" + SIZE.pack(len(fields)) + b"".join(map(self._item, fields))
        state = self._plug.state(value)
        if state is not None:
            return self._add(value, "M", state)
        for base, plain in _BASES:
            if issubclass(kind, base):
                return self._subclassed(value, plain(value))
        raise WireError(f"a value of the type {kind.__name__} cannot be handed over")

    def _subclassed(self, value: Any, plain: Any) -> bytes:
        kind = kind_of(plain)
        letter = letter_of(kind)
        dress = self._plug.dress(value) if kind in DRESSED else None
        if not letter:
            if dress is None:
                return self._item(plain)
            return b"x" + SIZE.pack(4) + b"".join(map(self._item, ("dressed", *dress, plain)))
        sent = self._add(plain, letter, None) if dress is None else self._add(plain, DRESSED[kind], dress)
        self._numbers[id(value)] = self._numbers[id(plain)]
        self._kept.append(value)  # for as long as its id stands for it
        return sent


def _packed(kind: type, items: Iterable[Any], count: int) -> tuple[int, bytes] | None:
    if kind is int:
        try:
            return 1, struct.pack(f"<{count}q", *items)
        except struct.error:
            return None
    if kind is float:
        return 2, struct.pack(f"<{count}d", *items)
    if kind is str:
        text = "".join(items).encode("utf-8", "surrogatepass")
        return 3, struct.pack(f"<{count}I", *map(len, items)) + SIZE.pack(len(text)) + text
    return None


def _fields(value: Any, kind: Any) -> tuple[Any, ...] | None:
    """The plain values that make up an object of a standard class without identity."""
    if value is Ellipsis:
        return ("Ellipsis",)
    if kind is type:
        return ("type", value.__name__) if is_exactly(value, "builtins", value.__name__) else None
    module, name = str(kind.__module__), kind.__name__
    if not is_exactly(kind, module, name):
        return None
    if (module, name) == ("decimal", "Decimal"):
        return ("Decimal", str(value))
    names = _FIELDS.get((module, name))
    if names is None:
        return None
    fields = tuple(getattr(value, field) for field in names)
    if name in ("datetime", "time"):
        offset = value.utcoffset()
        fields += (None if offset is None else offset.total_seconds(),)
    return (name, *fields)
