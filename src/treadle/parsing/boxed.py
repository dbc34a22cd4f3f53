r"""Reading ``\boxed{…}`` answers."""

from __future__ import annotations

import re

_BOX = re.compile(r"\\(?:boxed|fbox|framebox)(?![A-Za-z])[ \t]*\n?[ \t]*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_UNBRACED = re.compile(r"[-+\u2212]?[0-9][0-9.,]*(?<![.,])|\\[A-Za-z]+|[^\s\\$]")


def boxed(text: str) -> str | None:
    r"""Read the last box of a reply.

    ``\boxed``, ``\fbox`` and ``\boxed 5`` count alike; braces are balanced, with ``\{`` and ``\}`` kept as text. Of
    nested boxes the inner one is the answer. When several boxes stand in a reply the last one wins, and when that one
    is never closed there is no answer. Empty boxes are passed over.

    Args:
        text: A reply, or a reference answer (the rule is the same for both).

    Returns:
        The box's content without surrounding space.
    """
    found = _boxes(text)
    return found[-1] if found else None


def all_boxed(text: str) -> list[str]:
    """Read every closed box that has something in it, in order; of nested ones the inner.

    Args:
        text: A reply.
    """
    return [content for content in _boxes(text) if content is not None]


def _boxes(text: str) -> list[str | None]:
    starts = list(_BOX.finditer(text))
    if not starts:
        return []
    closing = _closing_braces(text)
    found: list[str | None] = []
    for i, box in enumerate(starts):
        begin = box.end()
        if begin < len(text) and text[begin] == "{":
            end = closing.get(begin)
            if end is None:
                found.append(None)
                continue
            if i + 1 < len(starts) and starts[i + 1].start() < end:
                continue
            content = text[begin + 1 : end].strip()
        else:
            content = _unbraced(text, begin, closing)
        if content:
            found.append(content)
    return found


def _unbraced(text: str, begin: int, closing: dict[int, int]) -> str:
    token = _UNBRACED.match(text, begin)
    if token is None or token[0] in "{}":
        return ""
    end = token.end()
    if token[0].startswith("\\"):
        while end < len(text) and text[end] == "{" and end in closing:
            end = closing[end] + 1
    return text[begin:end]


def _closing_braces(text: str) -> dict[int, int]:
    opened: list[int] = []
    closing: dict[int, int] = {}
    for token in _BRACE.finditer(text):
        if token[0] == "{":
            opened.append(token.start())
        elif token[0] == "}" and opened:
            closing[opened.pop()] = token.start()
    return closing
