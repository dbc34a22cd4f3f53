"""The reading side of `wire`: bytes of somebody hostile become plain values, or an error, and nothing else happens."""

from __future__ import annotations

import builtins
import struct

from wire import DEEPEST, FACTORIES, FLOAT, INT, MOST_VALUES, NODE, SIZE, Plug, WireError, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DATES = ("date", "timedelta", "time", "datetime")
_PENDING = object()
_FROZEN = frozenset("tZkviw")
_PROPERTIES = {"M": 2, "Q": 1, "E": 1, "L": 2, "d": 2}
"""How many items at its start are a container's own properties."""


def decode(data: bytes, plug: Plug) -> tuple[list[Any], list[Any]]:
    """Read a message.

    Args:
        data: Its bytes.
        plug: Makes what is no plain value.

    Returns:
        The root, and its containers by the number of their node.

    Raises:
        WireError: The bytes are no message.
    """
    try:
        return _Decoder(data, plug).decode()
    except WireError:
        raise
    except Exception as error:
        raise WireError(f"no message: {type(error).__name__}: {str(error)[:200]}") from None


class _Node:
    """A container that waits for others: ``holes`` are places in ``items`` with the numbers of what belongs there."""

    __slots__ = ("depth", "holes", "items", "letter", "open")

    def __init__(self, letter: str, items: list[Any], holes: list[tuple[int, int]]) -> None:
        self.letter = letter
        self.items = items
        self.holes = holes
        self.depth = 0
        self.open = False


class _Decoder:
    def __init__(self, data: bytes, plug: Plug) -> None:
        self._data = data
        self._at = 0
        self._plug = plug
        self._left = MOST_VALUES
        self._objects: list[Any] = []
        self._waiting: dict[int, _Node] = {}

    def decode(self) -> tuple[list[Any], list[Any]]:
        size = len(self._data)
        while self._at < size:
            self._node()
        if self._at != size:
            raise WireError("a text or number is cut off")
        for number, node in self._waiting.items():
            if self._objects[number] is _PENDING:
                self._build(number, node)
        for node in self._waiting.values():
            if node.letter not in _FROZEN:
                self._patch(node)
        for hashed in (False, True):
            for number, node in self._waiting.items():
                if (node.letter in "DOECSd") is hashed and node.letter not in _FROZEN and node.letter != "l":
                    self._fill(self._objects[number], node.letter, node.items)
        if kind_of(self._objects[0]) is not list:
            raise WireError("the root is no list")
        root: list[Any] = self._objects[0]
        return root, self._objects

    def _node(self) -> None:
        code, packing, count = NODE.unpack_from(self._data, self._at)
        self._at += NODE.size
        letter = chr(code)
        if letter == "B":
            self._objects.append(bytearray(self._take(count)))
            return
        items, holes = self._items(packing, count)
        waits = bool(holes)
        if letter == "l":
            made: Any = items
        elif letter in _FROZEN:
            made = _PENDING if waits else self._frozen(letter, items)
        else:
            made = self._shell(letter, items)
            own = _PROPERTIES.get(letter, 0)
            items, holes = items[own:], [(at - own, number) for at, number in holes]
            if not waits:
                self._fill(made, letter, items)
        if waits:
            self._waiting[len(self._objects)] = _Node(letter, items, holes)
        self._objects.append(made)

    def _items(self, packing: int, count: int) -> tuple[list[Any], list[tuple[int, int]]]:
        self._left -= count + 8
        if self._left < 0 or count > len(self._data) - self._at:
            raise WireError("too many values")
        if packing == 0:
            return self._mixed(count)
        if packing == 3:
            lengths = struct.unpack(f"<{count}I", self._take(4 * count))
            text = str(self._take(self._size()), "utf-8", "surrogatepass")
            texts: list[Any] = []
            start = 0
            for length in lengths:
                texts.append(text[start : start + length])
                start += length
            if start != len(text):
                raise WireError("texts do not add up")
            return texts, []
        return list(struct.unpack(f"<{count}{'qd'[packing - 1]}", self._take(8 * count))), []

    def _mixed(self, count: int) -> tuple[list[Any], list[tuple[int, int]]]:
        data = self._data
        items: list[Any] = []
        holes: list[tuple[int, int]] = []
        for index in range(count):
            tag = data[self._at]
            self._at += 1
            if tag == 113:  # q
                items.append(INT.unpack_from(data, self._at)[0])
                self._at += 8
            elif tag == 114:  # r
                holes.append((index, self._size()))
                items.append(None)
            else:
                items.append(self._item(tag))
        return items, holes

    def _item(self, tag: int) -> Any:
        if tag == 115:  # s
            return str(self._take(self._size()), "utf-8", "surrogatepass")
        if tag == 84 or tag == 70:  # T F
            return tag == 84
        if tag == 100:  # d
            return FLOAT.unpack(self._take(8))[0]
        if tag == 78:  # N
            return None
        if tag == 98:  # b
            return self._take(self._size())
        if tag == 73:  # I
            return int.from_bytes(self._take(self._size()), "little", signed=True)
        if tag == 97:  # a
            return self._plug.held(self._size())
        if tag == 120:  # x
            fields, holes = self._mixed(min(self._size(), 16))
            if holes or not fields or type(fields[0]) is not str:
                raise WireError("an object with impossible fields")
            return _leaf(fields[0], fields[1:]) if fields[0] in _LEAVES else self._plug.resolve(fields[0], fields[1:])
        raise WireError(f"unknown tag {tag}")

    def _take(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        if len(part) != size:
            raise WireError("the message is cut off")
        self._at += size
        return part

    def _size(self) -> int:
        size = SIZE.unpack_from(self._data, self._at)[0]
        self._at += 4
        return size

    def _shell(self, letter: str, items: list[Any]) -> Any:
        if letter == "D":
            return {}
        if letter == "S":
            return _new(set)
        if letter == "M":
            return self._plug.shell(items[0], items[1])
        if letter in "Ld":
            return self._plug.dressed(letter, items[0], items[1], ())
        import collections

        if letter == "Q":
            return _new(collections.deque, (), items[0])
        if letter == "O":
            return _new(collections.OrderedDict)
        if letter == "C":
            return _new(collections.Counter)
        if letter == "E":
            return _new(collections.defaultdict, None if items[0] is None else FACTORIES[items[0]])
        raise WireError(f"unknown container {letter!r}")

    def _fill(self, made: Any, letter: str, items: list[Any]) -> None:
        if letter == "S":
            made.update(items)
        elif letter in "QL":
            made.extend(items)
        elif len(items) % 2:
            raise WireError("a key without a value")
        elif letter == "M":
            if any(type(name) is not str for name in items[::2]):
                raise WireError("an attribute without a name")
            self._plug.fill(made, dict(zip(items[::2], items[1::2])))  # noqa: B905
        else:
            for key, value in zip(items[::2], items[1::2]):  # noqa: B905
                made[key] = value

    def _frozen(self, letter: str, items: list[Any]) -> Any:
        return self._plug.dressed("w", items[0], items[1], items[2:]) if letter == "w" else _frozen(letter, items)

    def _patch(self, node: _Node) -> None:
        for at, number in node.holes:
            node.items[at] = self._objects[number]

    def _build(self, number: int, node: _Node) -> None:
        """Make a frozen container, first those in it, without recursing."""
        stack = [(number, node)]
        while stack:
            number, node = stack[-1]
            node.open = True
            missing = [inner for _, inner in node.holes if self._objects[inner] is _PENDING]
            if missing:
                inner = self._waiting[missing[0]]
                if inner.open or len(stack) > DEEPEST:
                    raise WireError("tuples stand too deep in each other")
                stack.append((missing[0], inner))
                continue
            depths = [self._waiting[inner].depth for _, inner in node.holes if inner in self._waiting]
            node.depth = 1 + max(depths, default=0) if node.letter in _FROZEN else 0
            if node.depth > DEEPEST:
                raise WireError("tuples stand too deep in each other")
            self._patch(node)
            self._objects[number] = self._frozen(node.letter, node.items)
            stack.pop()


def _new(kind: Any, *args: Any) -> Any:
    return kind(*args)


def _frozen(letter: str, items: list[Any]) -> Any:
    if letter == "t":
        return tuple(items)
    if letter == "Z":
        return frozenset(items)
    if letter == "k":
        return dict.fromkeys(items).keys()
    if letter == "v":
        return dict(enumerate(items)).values()
    if len(items) % 2:
        raise WireError("a key without a value")
    return dict(zip(items[::2], items[1::2])).items()  # noqa: B905


_LEAVES = frozenset(("Ellipsis", "type", "complex", "range", "slice", "Decimal", "Fraction", *_DATES))


def _leaf(kind: str, fields: list[Any]) -> Any:
    if kind == "Ellipsis":
        return ...
    if kind == "type":
        named = getattr(builtins, fields[0])
        if type(named) is not type:
            raise WireError("no builtin type")
        return named
    if kind in ("complex", "range", "slice"):
        return getattr(builtins, kind)(*fields)
    if kind == "Decimal":
        import decimal

        return decimal.Decimal(*fields)
    if kind == "Fraction":
        import fractions

        return fractions.Fraction(*fields)
    import datetime

    if kind in ("date", "timedelta"):
        return getattr(datetime, kind)(*fields)
    *numbers, fold, offset = fields
    zone = None if offset is None else datetime.timezone(datetime.timedelta(seconds=offset))
    return getattr(datetime, kind)(*numbers, tzinfo=zone, fold=fold)
