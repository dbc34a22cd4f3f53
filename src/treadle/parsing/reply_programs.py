"""The whole Python program of a reply: chosen among its blocks, completed where only a part was written."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from treadle.parsing.fences import blocks, code, syntax_tree, tries_to_define
from treadle.parsing.python_names import defined_names, free_names
from treadle.parsing.thinking import without_thinking

INDENT = "    "


def program(text: str, entry_point: str | None = None, header: str = "") -> str | None:
    """Read the program of a reply.

    Thoughts are taken out first; `treadle.parsing.fences.code` chooses. Blocks before the one chosen that define names
    which it uses and lacks (imports, functions) are put before it. Where the question itself is the head of a program
    (HumanEval), a reply that holds the body alone is put behind it, and imports and functions of the head that the
    program lacks are put before it; what defines the entry point itself is never taken for a body.

    Args:
        text: A reply.
        entry_point: The function or class that the program has to define.
        header: Imports, signature and docstring with which the program begins; empty for none.

    Returns:
        The program, which may be faulty (`fault`); ``None`` where the reply has none.
    """
    said = without_thinking(text)
    found = code(said, entry_point)
    if entry_point is None:
        return found
    if found is not None and fault(found, entry_point) is None:
        whole = _with_blocks_before(found, said, entry_point)
        return _with_head(whole, header, entry_point) if header else whole
    if not header:
        return found
    bodies = [block.code for block in reversed(blocks(said))] or [said]
    bodies = [body for body in bodies if not tries_to_define(textwrap.dedent(body), entry_point)]
    completed = (whole for body in bodies for whole in _completions(header, body))
    return next((whole for whole in completed if _is_complete(whole, entry_point)), found)


def fault(program: str | None, entry_point: str | None = None) -> str | None:
    """What is wrong with the program of a reply, in a sentence; ``None`` where nothing is.

    Args:
        program: What was read, if anything.
        entry_point: The function, class or variable that it has to define at its top level (`defined_names`).
    """
    if program is None:
        return "There is no Python program."
    tree = syntax_tree(program)
    if tree is None:
        return f"The program is no valid Python{_where(program)}."
    if entry_point is not None and entry_point not in defined_names(tree):
        return f"The program does not define {entry_point} at its top level."
    return None


def _where(program: str) -> str:
    try:
        ast.parse(program)
    except SyntaxError as error:
        return f" ({error.msg})" if error.lineno is None else f" (line {error.lineno}: {error.msg})"
    except (ValueError, RecursionError, MemoryError) as error:
        return f" ({error})" if str(error) else ""
    return ""


def _with_blocks_before(program: str, reply: str, entry_point: str) -> str:
    """The program behind those earlier blocks of the reply that define names which it, or they, use and lack."""
    written = [block.code for block in blocks(reply)]
    tree = syntax_tree(program)
    if tree is None or program not in written or any(_is_future(statement) for statement in tree.body):
        return program
    whole, lacking = program, free_names(tree)
    for earlier in reversed(written[: written.index(program)]):
        part = syntax_tree(earlier) if lacking else None
        defined = set[str]() if part is None else defined_names(part)
        if part is not None and defined & lacking and entry_point not in defined:
            whole, lacking = f"{earlier.rstrip()}\n\n\n{whole}", (lacking - defined) | free_names(part)
    return whole


def _with_head(program: str, header: str, entry_point: str) -> str:
    tree = syntax_tree(program)
    head = syntax_tree(header) or syntax_tree(f"{header.rstrip()}\n{INDENT}pass\n")
    if tree is None or head is None or any(_is_future(statement) for statement in tree.body):
        return program
    own = defined_names(tree)
    lacking = [
        ast.get_source_segment(header, statement)
        for statement in head.body
        if (names := defined_names(statement)) and entry_point not in names and not names <= own
    ]
    kept = [source for source in lacking if source]
    return "\n".join([*kept, "", program]) if kept else program


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _completions(header: str, body: str) -> Iterator[str]:
    head = header.rstrip()
    yield f"{head}\n{body}"
    yield f"{head}\n{textwrap.indent(textwrap.dedent(body), INDENT)}"
    yield f"{head}\n{INDENT}{body.lstrip()}"


def _is_complete(program: str, entry_point: str) -> bool:
    """Whether a program's function does something: a docstring with a remark behind it is no body."""
    tree = syntax_tree(program)
    functions = [] if tree is None else [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    return any(
        not isinstance(statement, ast.Expr)
        for function in functions
        if function.name == entry_point
        for statement in function.body
    )
