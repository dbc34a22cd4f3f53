"""What a Python program looks like: its signature, what stands before a function, and a form to compare programs by."""

from __future__ import annotations

import ast
import textwrap
from hashlib import blake2b

from treadle.parsing.fences import blocks, code, syntax_tree
from treadle.parsing.python_names import module_nodes
from treadle.parsing.thinking import without_thinking

_INDENT = "    "


def signature(program: str, name: str) -> str:
    """How a function of a program is called, such as ``add(a, b=0)``; its name alone where that cannot be read."""
    tree = syntax_tree(program)
    for node in module_nodes(tree) if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return f"{name}({ast.unparse(node.args)})"
    return name


def prelude(header: str, entry_point: str) -> str:
    """What the beginning of a program brings besides its entry point: imports and finished functions.

    Args:
        header: A program that ends with the signature and docstring of the entry point.
        entry_point: The function to leave out.
    """
    tree = syntax_tree(header) or syntax_tree(f"{header.rstrip()}\n{_INDENT}pass\n")
    kept = [node for node in tree.body if getattr(node, "name", "") != entry_point] if tree else []
    return "\n".join(ast.unparse(node) for node in kept if not _is_remark(node))


def normal_form(reply: str) -> str:
    """A digest of the program in a reply: without comments, docstrings and layout; empty where there is none.

    Args:
        reply: A reply; where it holds the body of a function alone, that is its program.
    """
    text = without_thinking(reply)
    found = code(text) or ("" if blocks(text) else text)
    # Outside a function a return is no program, but it has a syntax tree, and two bodies of functions have to compare.
    tree = syntax_tree(found) or syntax_tree(textwrap.dedent(found))
    if tree is None or not any(_does_something(node) for node in ast.walk(tree)):
        return ""
    try:
        shape = ast.dump(_Bare().visit(tree))
    except RecursionError:
        return ""
    return blake2b(shape.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class _Bare(ast.NodeTransformer):
    """Takes out statements that are nothing but a text or a number: docstrings and remarks."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:  # noqa: N802  the visitor's own name
        return None if _is_remark(node) else self.generic_visit(node)


def _is_remark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _does_something(node: ast.AST) -> bool:
    """Whether a part makes its text a program: prose may parse as names and operators, but calls nothing."""
    return isinstance(node, ast.Call) or (isinstance(node, ast.stmt) and not isinstance(node, ast.Expr | ast.Pass))
