"""Long texts cut to what a prompt has room for, with a word on what is missing."""

from __future__ import annotations


def excerpt(text: str, limit: int, head: float = 0.5) -> str:
    """The beginning and the end of a text, with a line between them that says how much was left out.

    Args:
        text: Any text.
        limit: Characters of it that are kept at most.
        head: The share of them that comes from the beginning; 0 keeps the end only.

    Returns:
        The text itself where it is short enough.
    """
    if len(text) <= limit:
        return text
    first = int(limit * head)
    last = limit - first
    mark = f"[{len(text) - limit:,} characters left out]"
    return "\n".join(part for part in (text[:first], mark, text[len(text) - last :] if last else "") if part)
