"""Fenced code blocks of a reply, and the one that holds the answer."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

_OPEN = re.compile(r"(?P<indent> {0,3})(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})(?P<mark>[^\n]*)$")
_CLOSE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})[ \t]*$")
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


def blocks(text: str) -> list[Block]:
    """Find the fenced blocks of a reply, paired as CommonMark 0.31 (section 4.5) does.

    A fence stands at the start of a line behind at most three spaces; it is closed by the same character, at least as
    often, with nothing after it. So backticks inside a line, and shorter fences inside a longer one, are text.

    Args:
        text: A reply.
    """
    found: list[Block] = []
    opening: re.Match[str] | None = None
    content: list[str] = []
    for line in _lines(text):
        bare = line.rstrip("\r\n")
        if opening is None:
            opening = _OPEN.match(bare)
            content = []
        elif _closes(bare, opening["fence"]):
            found.append(Block(_language(opening["mark"]), "".join(content), True))
            opening = None
        else:
            content.append(_dedented(line, len(opening["indent"])))
    if opening is not None:
        found.append(Block(_language(opening["mark"]), "".join(content), False))
    return found


def code(text: str, entry_point: str | None = None, language: str = "python") -> str | None:
    """Choose the program of a reply.

    A text that is valid code as it stands is the program. Otherwise a block of the language (or without one) that
    defines the entry point, valid ones first; then, also where no entry point is asked, a block of the language; then a
    block without a language that is valid code. Where two qualify the last one wins.

    Args:
        text: A reply.
        entry_point: The function, class or variable that the program has to define at its top level.
        language: The language wanted; ``py`` and ``python3`` are ``python``. Only Python is checked for validity.

    Returns:
        The program as it was written; None where the reply has none.
    """
    wanted = _ALIASES.get(language.casefold(), language.casefold())
    is_python = wanted == "python"
    if is_python and _is_program(text, entry_point):
        return text
    found = blocks(text)
    labelled = [block.code for block in found if _ALIASES.get(block.language, block.language) == wanted]
    plain = [block.code for block in found if not block.language]
    if entry_point is not None and is_python:
        defining = [
            block.code
            for block in found
            if (not block.language or _ALIASES.get(block.language, block.language) == wanted)
            and _defines(block.code, entry_point)
        ]
        if defining:
            valid = [program for program in defining if syntax_tree(program) is not None]
            return (valid or defining)[-1]
    if labelled:
        return labelled[-1]
    valid = [program for program in plain if _is_program(program, None)] if is_python else plain
    return valid[-1] if valid else None


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


def defined_names(tree: ast.Module) -> set[str]:
    """The functions, classes and variables that a program defines at its top level.

    Args:
        tree: A program.
    """
    names: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(statement.name)
        elif isinstance(statement, ast.Assign):
            names.update(target.id for target in statement.targets if isinstance(target, ast.Name))
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names.add(statement.target.id)
    return names


def _lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _closes(line: str, fence: str) -> bool:
    closing = _CLOSE.match(line)
    return closing is not None and closing["fence"][0] == fence[0] and len(closing["fence"]) >= len(fence)


def _language(mark: str) -> str:
    words = mark.strip().strip("{}").split()
    return words[0].lstrip(".").rstrip(",").casefold() if words else ""


def _dedented(line: str, indent: int) -> str:
    spaces = len(line) - len(line.lstrip(" "))
    return line[min(spaces, indent) :]


def _is_program(text: str, entry_point: str | None) -> bool:
    tree = syntax_tree(text)
    if tree is None:
        return False
    if entry_point is not None:
        return entry_point in defined_names(tree)
    return any(not isinstance(statement, ast.Expr) or isinstance(statement.value, ast.Call) for statement in tree.body)


def _defines(program: str, entry_point: str) -> bool:
    tree = syntax_tree(program)
    if tree is not None:
        return entry_point in defined_names(tree)
    return re.search(rf"^(?:async +)?(?:def|class) +{re.escape(entry_point)}\b", program, re.MULTILINE) is not None
