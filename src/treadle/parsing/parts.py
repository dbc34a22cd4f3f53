"""Reading the numbered parts of a reply, each between tags of its own."""

from __future__ import annotations

import re

from treadle.parsing.thinking import without_thinking


def parts(reply: str, name: str, most: int) -> list[str]:
    """Read the parts of a reply.

    A part stands between ``<name_1>`` and ``</name_1>``; one that is not closed ends where the next begins. Parts
    without a word are left out.

    Args:
        reply: A reply.
        name: The tags' name, in small letters.
        most: How many are taken at most.

    Returns:
        Their texts in their order; the whole reply as the only one where it has no tags, nothing where it says nothing.
    """
    text = without_thinking(reply).strip()
    opening = rf"<{re.escape(name)}[ _-]?[0-9]{{1,3}}>"
    closing = rf"</{re.escape(name)}[ _-]?[0-9]{{0,3}}>"
    pieces = re.split(opening, text, flags=re.IGNORECASE)
    if len(pieces) > 1:
        pieces = [re.split(closing, piece, maxsplit=1, flags=re.IGNORECASE)[0] for piece in pieces[1:]]
    return [piece.strip() for piece in pieces if re.search(r"\w", piece)][:most]
