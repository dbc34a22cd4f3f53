"""Taking a model's thoughts out of its reply."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(?P<close>/?)(?:think|thinking|reasoning)(?:\s[^<>\n]{0,200})?>", re.IGNORECASE)


def without_thinking(text: str) -> str:
    """Drop ``<think>``, ``<thinking>`` and ``<reasoning>`` blocks.

    An opening tag that is never closed makes everything after it a thought; a closing tag that was never opened makes
    everything before it one (chat templates often write the opening tag into the prompt). Blocks do not nest.

    Args:
        text: A whole reply.

    Returns:
        What was meant for the reader, without surrounding space; ``text`` itself where there is no tag.
    """
    kept: list[str] = []
    thinking = False
    position = 0
    for tag in _TAG.finditer(text):
        if not thinking:
            kept.append(text[position : tag.start()])
        if tag["close"]:
            if not thinking:
                kept.clear()
            thinking = False
        else:
            thinking = True
        position = tag.end()
    if position == 0:
        return text
    if not thinking:
        kept.append(text[position:])
    return "".join(kept).strip()
