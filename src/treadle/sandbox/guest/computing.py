"""Operators on objects of the program: asked for by the tests, carried out by the program.

What a test expects is never left to an answer: an object is equal to no value of the test and in no order with one, and
what comes of a computation with such a value can only be looked at by its attributes, items and text.
"""

from __future__ import annotations

import _operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ARITHMETIC = (
    "add",
    "sub",
    "mul",
    "matmul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "or",
    "xor",
)
_UNARY = ("neg", "pos", "invert", "abs")
_PLAIN = {"int": int, "float": float, "complex": complex, "index": int, "len": int, "bool": bool}
_ORDER = ("lt", "le", "gt", "ge")


def _function(name: str) -> Callable[..., Any]:
    return getattr(_operator, name, None) or getattr(_operator, f"{name}_")


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    return lambda target, other: _function(name)(other, target)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _function(name) for name in (*_ARITHMETIC, *_UNARY, *_ORDER, "eq", "ne", "contains", "index")},
    **{f"r{name}": _reflected(name) for name in _ARITHMETIC},
    **{f"i{name}": _function(f"i{name}") for name in _ARITHMETIC},
    **{made.__name__: made for made in (divmod, int, float, complex, len, bool, round, hash, format, iter, reversed)},
}
"""What the program does for each operator."""


class Computing:
    """The operators of an object of the program; ``_treadle_absorbed`` once a value of the test has gone into it."""

    __slots__ = ("_treadle_absorbed",)
    _treadle_absorbed: bool

    def treadle_ask(self, operation: str, *args: Any, **kwargs: Any) -> Any:
        """Have the program do something."""
        raise NotImplementedError

    def treadle_absorbed(self) -> bool:
        """Whether a value of the test has gone into it."""
        return self._treadle_absorbed

    def treadle_out(self, operation: str, *args: Any) -> Any:
        """Ask for a plain value; refused for what absorbed a value of the test."""
        if self._treadle_absorbed:
            raise TypeError(
                f"{operation} of what the program computed with a value of the test: look at its attributes"
            )
        return self.treadle_ask(operation, *args)

    def treadle_compute(self, operation: str, *others: Any) -> Any:
        """Ask for the result of an operator."""
        absorbed = self._treadle_absorbed or any(
            not isinstance(other, Computing) or other._treadle_absorbed for other in others
        )
        value = self.treadle_ask(operation, *others)
        if absorbed and isinstance(value, Computing):
            object.__setattr__(value, "_treadle_absorbed", True)
        elif absorbed:
            raise TypeError(f"an object of the program and a value of the test gave a {type(value).__name__}")
        return value

    def __eq__(self, other: object) -> Any:
        return self.treadle_ask("eq", other) if isinstance(other, Computing) else NotImplemented

    def __ne__(self, other: object) -> Any:
        return self.treadle_ask("ne", other) if isinstance(other, Computing) else NotImplemented

    def __hash__(self) -> int:
        return exactly(int, self.treadle_ask("hash"))

    def __iter__(self) -> Any:
        return self.treadle_out("iter")

    def __reversed__(self) -> Any:
        return self.treadle_out("reversed")

    def __contains__(self, item: object) -> bool:
        if isinstance(item, Computing):
            return exactly(bool, self.treadle_out("contains", item))
        return any(one is item or one == item for one in self)

    def __format__(self, form: str) -> str:
        return exactly(str, self.treadle_ask("format", form))

    def __round__(self, *digits: Any) -> Any:
        return self.treadle_out("round", *digits)


def _asks(name: str) -> Callable[..., Any]:
    def asked(self: Any, *others: Any) -> Any:
        return self.treadle_compute(name, *others)

    return asked


def _gives(name: str, kind: type) -> Callable[..., Any]:
    def given(self: Any) -> Any:
        return exactly(kind, self.treadle_out(name))

    return given


def _orders(name: str) -> Callable[..., Any]:
    def asked(self: Any, other: Any) -> Any:
        if not isinstance(other, Computing):
            return NotImplemented
        return other.treadle_out(name, self) if other.treadle_absorbed() else self.treadle_out(name, other)

    return asked


for _name in (*_ARITHMETIC, "divmod"):
    for _prefix in ("", "r", "i") if _name != "divmod" else ("",):
        setattr(Computing, f"__{_prefix}{_name}__", _asks(_prefix + _name))
for _name in _UNARY:
    setattr(Computing, f"__{_name}__", _asks(_name))
for _name, _kind in _PLAIN.items():
    setattr(Computing, f"__{_name}__", _gives(_name, _kind))
for _name in _ORDER:
    setattr(Computing, f"__{_name}__", _orders(_name))


def exactly(kind: Any, value: Any) -> Any:
    """A value that has to be of a class.

    Raises:
        TypeError: It is not.
    """
    if type(value) is not kind and not (isinstance(kind, tuple) and type(value) in kind):
        raise TypeError(f"the program gave a {type(value).__name__} where it must not")
    return value
