"""Hidden tests in pieces, and the forms in which a piece is recognised in a text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from treadle.parsing.fences import syntax_tree
from treadle.sandbox.code_tests import CodeTests

SHORTEST = 12
"""Characters that count below which a text says too little to be recognised."""
NEAR = 32
"""Characters that count between a call and its value where a text gives both."""
_LAYOUT = str.maketrans("", "", "\"'\\`")
_BRACKETS = str.maketrans("", "", "()")


@dataclass(frozen=True, slots=True)
class Text:
    """A text without layout and quotes, with its round brackets and without them."""

    bare: str
    compact: str

    @staticmethod
    def of(text: str) -> Text:
        """A text in which the same statement is the same however it is written."""
        bare = "".join(text.replace("\\n", " ").replace("\\t", " ").translate(_LAYOUT).split())
        return Text(bare, bare.translate(_BRACKETS))


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a hidden test.

    Attributes:
        text: As it is shown.
        forms: The whole, without layout, quotes and round brackets.
        cases: Calls of the program, brackets kept, each with what it must give.
    """

    text: str
    forms: frozenset[str]
    cases: frozenset[tuple[str, str]] = frozenset()

    def is_in(self, text: Text) -> bool:
        """Whether a text holds the whole, or one of the calls with its value close to it."""
        return any(form in text.compact for form in self.forms) or any(_case(*case, text.bare) for case in self.cases)

    def is_called_in(self, text: Text) -> bool:
        """Whether a text holds one of the calls: what it gives is then found by running it."""
        return any(call in text.bare for call, _ in self.cases)


def pieces_of(tests: CodeTests) -> tuple[Piece, ...]:
    """What would be recognised of tests: statements about the program and rows of tables; else each as a whole."""
    return _pieces(tests.tests, tests.entry_points, tests.check)


def _case(call: str, value: str, bare: str) -> bool:
    place = bare.find(call)
    while place >= 0:
        end = place + len(call)
        room = NEAR + len(value) + len(_BRACKETS)
        for text in (bare[end : end + room], bare[max(0, place - room) : place]):
            if _stands_in(value, text.translate(_BRACKETS)):
                return True
        place = bare.find(call, end)
    return False


def _stands_in(value: str, text: str) -> bool:
    """Whether a value stands in a text and is no part of a longer number."""
    place = text.find(value)
    while place >= 0:
        before, after = text[:place][-1:], text[place + len(value) :][:2]
        inside = (value[:1].isdigit() and (before.isdigit() or before in {".", "-"} and before != "")) or (
            value[-1:].isdigit() and (after[:1].isdigit() or (after[:1] == "." and after[1:].isdigit()))
        )
        if not inside:
            return True
        place = text.find(value, place + 1)
    return False


@lru_cache(maxsize=512)
def _pieces(texts: tuple[str, ...], names: tuple[str, ...], check: str | None) -> tuple[Piece, ...]:
    found: dict[str, Piece] = {}
    for text in texts:
        tree = syntax_tree(text)
        if tree is None:
            continue
        given = [*names, *_parameters(tree, check)]
        told = _made_of(tree, {*given})
        own: dict[str, Piece] = {}
        for node in _telling(tree, told):
            piece = _piece(text, node, names, given)
            if piece.forms or piece.cases:
                own[piece.text] = piece
        whole = Text.of(text).compact
        if not own and len(whole) >= SHORTEST:
            own[text] = Piece(text.strip(), frozenset({whole}))
        found |= own
    return tuple(found.values())


def _piece(text: str, node: ast.expr, names: tuple[str, ...], given: list[str]) -> Piece:
    source = ast.get_source_segment(text, node) or ast.unparse(node)
    forms = {Text.of(source).compact, Text.of(ast.unparse(node)).compact}
    cases = {(Text.of(call).bare, Text.of(value).compact) for call, value in _cases(text, node, {*given})}
    # A test of `candidate` would be shown as one of the function that it stands for.
    for name in given[len(names) :] if names else ():
        forms |= {form.replace(name, names[0]) for form in forms}
        cases |= {(call.replace(name, names[0]), value) for call, value in cases}
    return Piece(
        source,
        frozenset(form for form in forms if len(form) >= SHORTEST),
        frozenset((call, value) for call, value in cases if value and len(call) + len(value) >= SHORTEST),
    )


def _cases(text: str, node: ast.expr, names: set[str]) -> Iterator[tuple[str, str]]:
    """The calls of the program in an expression, each with what it is compared with."""
    if _called(node, names) is node:
        yield from ((call, "True") for call in _written(text, node))
    for each in ast.walk(node):
        for one, other in _sides(each, names):
            call = _called(one, names)
            if call is None or _names(other) & names:
                continue
            values = [other, *(other.args if isinstance(other, ast.Call) and len(other.args) == 1 else ())]
            for value in values:
                yield from ((a, b) for a in _written(text, call) for b in _written(text, value))


def _sides(node: ast.AST, names: set[str]) -> list[tuple[ast.expr, ast.expr]]:
    """The two that an expression holds against each other, both ways."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.Is):
        a, b = node.left, node.comparators[0]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        a, b = node.left, node.right
    elif isinstance(node, ast.Call) and len(node.args) > 1 and not _names(node.func) & names:
        a, b = node.args[:2]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [(node.operand, ast.Constant(False))]
    else:
        return []
    return [(a, b), (b, a)]


def _called(node: ast.expr, names: set[str]) -> ast.Call | None:
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
    return next((call for call in calls if isinstance(call.func, ast.Name) and call.func.id in names), None)


def _written(text: str, node: ast.expr) -> set[str]:
    source = ast.get_source_segment(text, node) if hasattr(node, "lineno") else None
    return {ast.unparse(node), source or ast.unparse(node)}


def _made_of(tree: ast.Module, names: set[str]) -> set[str]:
    """Names, and those that are given what is made with them: what is asserted of these tells of the program, too."""
    found = set(names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _names(node.value) & found:
            found |= {name for target in node.targets for name in _names(target)}
    return found


def _parameters(tree: ast.Module, check: str | None) -> list[str]:
    """What the function that is called with the program calls it."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == check]
    return [arg.arg for node in functions for arg in node.args.args[:1]]


def _telling(tree: ast.Module, names: set[str]) -> Iterator[ast.expr]:
    """The expressions that say what a program is tested with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            told = [node.test] if _names(node.test) & names else []
        elif isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign) and node.value is not None:
            told = [*([node.value] if _names(node.value) & names else []), *_rows(node.value)]
        elif isinstance(node, ast.FunctionDef):
            calls = [each for each in node.decorator_list if isinstance(each, ast.Call)]
            told = [row for call in calls for argument in call.args for row in _rows(argument)]
        else:
            continue
        yield from told


_TABLES = (ast.List, ast.Tuple, ast.Dict)


def _rows(value: ast.expr) -> list[ast.expr]:
    """The rows of a table of cases: a list whose members are lists."""
    members = value.elts if isinstance(value, ast.List | ast.Tuple) else []
    return members if members and all(isinstance(each, _TABLES) for each in members) else []


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
