"""Which names a Python program defines, and which it uses without defining them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

BUILTINS = frozenset(dir(builtins))
_SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def defined_names(tree: ast.AST, *, imports: bool = True) -> set[str]:
    """The names that a program binds in its module's own scope, also inside ``if``, ``try``, ``with`` and loops.

    Args:
        tree: A program, or a statement of one.
        imports: Whether names count that an import binds; ``*`` stands for all that a module gives.
    """
    names = {name for node in module_nodes(tree) for name in _bound(node)}
    return names if imports else names - {name for node in module_nodes(tree) for name in _imported(node)}


def free_names(tree: ast.AST) -> set[str]:
    """The names that a program uses and binds nowhere, builtins left out; one bound in any function counts as bound.

    Args:
        tree: A program, or a part of one.
    """
    nodes = list(ast.walk(tree))
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    bound = {name for node in nodes for name in _bound(node)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
    return used - bound - BUILTINS


def module_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a program in the module's own scope, in their order: none inside functions, classes, comprehensions.

    Args:
        tree: A program, or a statement of one.
    """
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that one node binds in its scope."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    else:
        yield from _imported(node)


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
