"""Fenced code blocks of a reply, and the one that holds the answer."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from treadle.parsing.python_names import defined_names, module_nodes

_ITEM = re.compile(r" {0,3}(?:[-*+]|[0-9]{1,9}[.)])(?P<gap> {1,4}(?=\S)|$)")
_OPEN = re.compile(r" {0,3}(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})(?P<mark>[^\n]*)$")
_CLOSE = re.compile(r" *(?P<fence>`{3,}|~{3,})[ \t]*$")
_BYTE_ORDER_MARK = "\ufeff"
_ALIASES = {
    "py": "python",
    "python3": "python",
    "py3": "python",
    "sh": "bash",
    "shell": "bash",
    "zsh": "bash",
    "js": "javascript",
    "ts": "typescript",
    "jsonc": "json",
    "json5": "json",
}


@dataclass(frozen=True, slots=True)
class Block:
    r"""A fenced block.

    ``language`` is the first word after the fence in lower case, empty where there is none. ``code`` is the content as
    it was written, line ends included, less the fence's own indentation. ``closed`` is false where the text ended
    before the fence did: such a block may be cut.
    """

    language: str
    code: str
    closed: bool


@dataclass(frozen=True, slots=True)
class _Fence:
    """What opened a block: its characters, where they and the text of the list item begin, and the words behind."""

    characters: str
    indent: int
    item: int
    mark: str


def blocks(text: str) -> list[Block]:
    """Find the fenced blocks of a reply, paired as CommonMark 0.31 (sections 4.5 and 5.2) does.

    A fence stands at the start of a line, or of the text of a list item, behind at most three spaces; it is closed by
    the same character, at least as often, with nothing after it. So backticks inside a line, and shorter fences inside
    a longer one, are text.

    Args:
        text: A reply.
    """
    found: list[Block] = []
    opening: _Fence | None = None
    content: list[str] = []
    items: list[int] = []
    for line in _lines(text):
        bare = line.rstrip("\r\n")
        if opening is None:
            opening, content = _opening(bare, items), []
        elif _closes(bare, opening):
            found.append(Block(_language(opening.mark), "".join(content), True))
            opening = None
        else:
            content.append(_dedented(line, opening.indent))
    if opening is not None:
        found.append(Block(_language(opening.mark), "".join(content), False))
    return found


def code(text: str, entry_point: str | None = None, language: str = "python") -> str | None:
    """Choose the program of a reply.

    A text that is valid code as it stands is the program. Otherwise a block of the language (or without one) that
    defines the entry point, valid ones first, and of those the ones that write it out as a function or class; then,
    also where no entry point is asked, a block of the language; then a block without a language that is valid code.
    Where two qualify the last one wins. A byte order mark at the beginning is no part of a program.

    Args:
        text: A reply.
        entry_point: The function, class or variable that the program has to define (`defined_names`).
        language: The language wanted; ``py`` and ``python3`` are ``python``. Only Python is checked for validity.

    Returns:
        The program as it was written; None where the reply has none.
    """
    wanted = _ALIASES.get(language.casefold(), language.casefold())
    is_python = wanted == "python"
    if is_python and _is_program(bare := text.removeprefix(_BYTE_ORDER_MARK), entry_point):
        return bare
    found = [(_ALIASES.get(block.language, block.language), _content(block)) for block in blocks(text)]
    if entry_point is not None and is_python:
        defining = [
            program for named, program in found if named in ("", wanted) and tries_to_define(program, entry_point)
        ]
        if defining:
            valid = [program for program in defining if syntax_tree(program) is not None]
            written = [program for program in valid if _writes(program, entry_point)]
            return (written or valid or defining)[-1]
    labelled = [program for named, program in found if named == wanted]
    if labelled:
        return labelled[-1]
    plain = [program for named, program in found if not named and (not is_python or _is_program(program, None))]
    return plain[-1] if plain else None


def fenced(text: str, language: str = "python") -> str:
    """A text as a fenced block that nothing in it can close.

    Args:
        text: What the block holds; a line end is put behind it where there is none.
        language: The word after the fence.
    """
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def syntax_tree(program: str) -> ast.Module | None:
    """Parse Python without a word of warning.

    Args:
        program: Any text.

    Returns:
        ``None`` where it is no Python.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def tries_to_define(program: str, entry_point: str) -> bool:
    """Whether a text defines a name at its top level, or would if it were no faulty Python.

    Args:
        program: Any text.
        entry_point: A function, class or variable.
    """
    tree = syntax_tree(program)
    if tree is not None:
        return entry_point in defined_names(tree)
    return re.search(rf"^(?:async +)?(?:def|class) +{re.escape(entry_point)}\b", program, re.MULTILINE) is not None


def _lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _opening(line: str, items: list[int]) -> _Fence | None:
    """The fence that a line opens. ``items``: where the text of each list item begins in which the next line stands."""
    if not line.strip():
        return None
    while items and _spaces(line) < items[-1]:
        items.pop()
    begin = items[-1] if items else 0
    while item := _ITEM.match(line, begin):
        begin = item.end() + (not item["gap"])
        items.append(begin)
    fence = _OPEN.match(line, begin)
    return None if fence is None else _Fence(fence["fence"], fence.start("fence"), begin, fence["mark"])


def _closes(line: str, opening: _Fence) -> bool:
    closing = _CLOSE.match(line)
    if closing is None or _spaces(line) > opening.item + 3:
        return False
    fence = closing["fence"]
    return fence[0] == opening.characters[0] and len(fence) >= len(opening.characters)


def _language(mark: str) -> str:
    words = mark.strip().strip("{}").split()
    return words[0].lstrip(".").rstrip(",").casefold() if words else ""


def _dedented(line: str, indent: int) -> str:
    return line[min(_spaces(line), indent) :]


def _spaces(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_program(text: str, entry_point: str | None) -> bool:
    tree = syntax_tree(text)
    if tree is None:
        return False
    if entry_point is not None:
        return entry_point in defined_names(tree)
    return any(not isinstance(statement, ast.Expr) or isinstance(statement.value, ast.Call) for statement in tree.body)


def _content(block: Block) -> str:
    return block.code.removeprefix(_BYTE_ORDER_MARK)


def _writes(program: str, entry_point: str) -> bool:
    """Whether it holds the function itself: an example of its use may import it, or give its result its name."""
    tree = syntax_tree(program)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(isinstance(node, kinds) and node.name == entry_point for node in (module_nodes(tree) if tree else ()))
