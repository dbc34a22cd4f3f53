"""Assertions that say which values they compared, and those values in few words."""

from __future__ import annotations

import _ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType
    from typing import Any

WHY = "@why"
"""Under this name compiled tests expect a function of the number of an assertion and its values: the reason."""

_kind_of: Any = type
_AS_TREE = 0x400
_LONGEST = 120
_OPERATORS: dict[type[_ast.AST], str] = {
    _ast.Eq: "==",
    _ast.NotEq: "!=",
    _ast.Lt: "<",
    _ast.LtE: "<=",
    _ast.Gt: ">",
    _ast.GtE: ">=",
    _ast.In: "in",
    _ast.NotIn: "not in",
    _ast.Is: "is",
    _ast.IsNot: "is not",
}


class Assertion:
    """What is known of an assertion before it runs: text, operator, which side is computed and by what."""

    __slots__ = ("callee", "computed", "literal", "operator", "text")

    def __init__(self, text: str, operator: str = "", computed: int = 0) -> None:
        self.text = text
        self.operator = operator
        self.computed = computed
        self.callee = ""
        self.literal = False


def compiled(text: str, file: str) -> tuple[CodeType, list[Assertion]]:
    """A test as code whose assertions ask `WHY` when they fail.

    Args:
        text: Its source.
        file: A name for it.

    Raises:
        SyntaxError: It is no Python.
    """
    tree: Any = compile(text, file, "exec", _AS_TREE, dont_inherit=True)
    rewriting = _Rewriting(text)
    rewriting.body(tree.body)
    return compile(tree, file, "exec", dont_inherit=True), rewriting.found


class _Rewriting:
    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self.found: list[Assertion] = []

    def body(self, statements: list[Any]) -> None:
        changed: list[Any] = []
        for statement in statements:
            if isinstance(statement, _ast.Assert):
                changed += self._assertion(statement)
                continue
            for field in ("body", "orelse", "finalbody"):
                inner = getattr(statement, field, None)
                if isinstance(inner, list):
                    self.body(inner)  # pyright: ignore[reportUnknownArgumentType]
            for branch in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                self.body(branch.body)
            changed.append(statement)
        statements[:] = changed

    def _assertion(self, node: _ast.Assert) -> list[Any]:
        test: Any = node.test
        source: Any = test
        sides: list[Any] = [test]
        places: Any = {"lineno": node.lineno, "col_offset": node.col_offset}
        operators: list[Any] = test.ops if isinstance(test, _ast.Compare) else []
        if isinstance(test, _ast.Compare) and len(operators) == 1:
            sides = [test.left, test.comparators[0]]
            computed = 1 if _has_call(sides[1]) and not _has_call(sides[0]) else 0
            about = Assertion(self._text(test), _OPERATORS[_kind_of(operators[0])], computed)
            source = sides[computed]
        else:
            about = Assertion(self._text(test))
            if isinstance(test, _ast.UnaryOp) and isinstance(test.op, _ast.Not):
                about.operator = "not"
                sides, source = [test.operand], test.operand
        if isinstance(source, _ast.Call):
            function: Any = source.func
            about.callee = getattr(function, "id", "") or getattr(function, "attr", "")
            about.literal = all(map(_is_literal, (*source.args, *source.keywords)))
        number = len(self.found)
        self.found.append(about)
        names = [f"@{number}.{index}" for index in range(len(sides))]
        kept = [
            _ast.Assign([_ast.Name(name, _ast.Store(), **places)], side, **places)
            for name, side in zip(names, sides)  # noqa: B905
        ]
        loaded = [_ast.Name(name, _ast.Load(), **places) for name in names]
        asked: list[Any] = [_ast.Constant(number, **places), *loaded]
        if node.msg is not None:
            asked.append(node.msg)
        why = _ast.Call(_ast.Name(WHY, _ast.Load(), **places), asked, [], **places)
        raising = _ast.Raise(_ast.Call(_ast.Name("AssertionError", _ast.Load(), **places), [why], [], **places), None)
        _place(raising, places)
        condition: Any = loaded[0]
        if len(sides) == 2:
            condition = _ast.Compare(loaded[0], operators, [loaded[1]], **places)
        elif about.operator:
            condition = _ast.UnaryOp(_ast.Not(), loaded[0], **places)
        return [*kept, _ast.If(condition, [_ast.Pass(**places)], [raising], **places)]

    def _text(self, node: Any) -> str:
        lines = [line.encode() for line in self._lines[node.lineno - 1 : node.end_lineno]]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        text = " ".join(b" ".join(lines).decode("utf-8", "replace").split())
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _place(node: Any, places: dict[str, int]) -> None:
    for name, value in places.items():
        setattr(node, name, value)


def _children(node: Any) -> Iterable[Any]:
    for field in node._fields:
        value = getattr(node, field, None)
        for part in value if isinstance(value, list) else (value,):  # pyright: ignore[reportUnknownVariableType]
            if isinstance(part, _ast.AST):
                yield part


def _has_call(node: Any) -> bool:
    return isinstance(node, _ast.Call) or any(map(_has_call, _children(node)))


def _is_literal(node: Any) -> bool:
    return not isinstance(node, (_ast.Name, _ast.Call, _ast.Attribute)) and all(map(_is_literal, _children(node)))


def reason(about: Assertion, values: tuple[Any, ...], names: tuple[str, ...], call: str, gave: str) -> str:
    """Why an assertion failed.

    Args:
        about: The assertion.
        values: Its values, and the test's own message where it has one.
        names: What the test calls the function that was called last.
        call: That call in words, or the empty text.
        gave: What it gave, in words.
    """
    direct = bool(call) and about.callee in names
    text = call if direct and not about.literal else about.text
    count = 2 if about.operator not in ("", "not") else 1
    sides, message = values[:count], values[count:]
    if about.operator == "==":
        got, wanted = sides[about.computed], sides[1 - about.computed]
        said = f"{text}: {_difference(got, wanted)}"
    elif count == 2:
        said = f"{about.text}: left is {shown(sides[0])}, right is {shown(sides[1])}"
    else:
        said = f"{about.text}: got {shown(sides[0])}"
    if call and not direct:
        said += f"; {call} gave {gave}"
    return said + "".join(f"; {str(part)[:100]}" for part in message)


def _difference(got: Any, wanted: Any) -> str:
    first, second = shown(got), shown(wanted)
    if type(got) is not type(wanted) or (first == second and "…" not in first):
        first, second = f"{first} ({type(got).__name__})", f"{second} ({type(wanted).__name__})"
    said = f"got {first}, expected {second}"
    if type(got) is type(wanted) and type(got) in (list, tuple, str) and "…" in first + second:
        if len(got) != len(wanted):
            said += f"; lengths {len(got)} and {len(wanted)}"
        for index, (one, other) in enumerate(zip(got, wanted)):  # noqa: B905
            if one != other:
                return f"{said}; first different at {index}: {shown(one)}, not {shown(other)}"
    return said


def shown(value: Any, longest: int = _LONGEST) -> str:
    """A value in few words; asks nothing of the program."""
    kind = _kind_of(value)
    if hasattr(kind, "treadle_ask"):
        return f"<{value._treadle_name} object of the program>"
    try:
        if kind in (list, tuple, str, bytes) and len(value) > longest:
            return repr(value[:longest])[: longest - 1] + "…"
        if kind in (set, frozenset, dict) and len(value) > longest:
            return f"<{kind.__name__} of {len(value)}>"
        text = without_addresses(repr(value))
    except Exception:
        return f"<{kind.__name__}>"
    return text if len(text) <= longest else text[: longest - 1] + "…"


def without_addresses(text: str) -> str:
    """A text without the addresses of objects: what is the same shall be said the same."""
    first, *parts = text.split(" at 0x")
    return first + "".join(part.lstrip("0123456789abcdefABCDEF") for part in parts)
