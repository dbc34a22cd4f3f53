"""Reading the answer that a reply states in words."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARKER = re.compile(
    r"""(?P<xml><answer>)
    | ^[ \t>]*(?P<hash>\#{4})(?!\#)[ \t]*
    | (?<![A-Za-z])
      (?:(?:final|correct|right|best|overall|my|the)[ ]){0,3}
      (?:final[ ](?:result|output|solution|value)|answers?)
      (?:[ ]?\([^()\n]{0,40}\)|[ ](?:to|for)[ ][^\n:.?!]{1,120}?(?=[ ]is[ ]|[ ]is:|:))?
      [*_`]{0,3}[ ]?
      (?:(?:is|are|would[ ]be|should[ ]be|must[ ]be|equals)(?![A-Za-z])(?:[ ]?[:：])?|[:：=]|(?P<heading>[ \t]*$))
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_NUMBERLIKE = re.compile(r"[-+\u2212]?[*]{0,2}[$€£¥₹\\-]{0,3}\.?[0-9]|\\boxed|\$")
_CLOSE = re.compile(r"\s*</answer>", re.IGNORECASE)
_NEXT = re.compile(r"\n(?P<line>[^\n]+)")
_BARE = re.compile(r"[\s*_`~$#=\-]*|\s*\\\[\s*|\s*(?:```|~~~)[^\n]*")
_LEAD = re.compile(r"\s*(?:(?:[-+>•]|#{1,6})\s+)?")
_POLITE = re.compile(r"\s*I hope it is correct\.?\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """One stated answer: where its marker begins in the text (characters) and what it says."""

    start: int
    text: str


def final_answer(text: str) -> str | None:
    """Read the last stated answer of a reply.

    Markers, in any case and with bold or heading marks: ``Answer: x``, ``The answer is x``, ``Final answer: x``, a
    heading ``Answer`` alone on its line, ``<answer>x</answer>``, and ``#### x`` where x begins like a number or the
    line is the reply's last (else it is a heading). ``the answer is not x`` states nothing.

    Args:
        text: A reply.

    Returns:
        The rest of the marker's line, or the next line with words where the rest is empty, without surrounding space
        and bold marks; None where there is no marker or nothing follows the last one.
    """
    found = statements(text)
    return (found[-1].text or None) if found else None


def statements(text: str) -> list[Statement]:
    """Find every stated answer of a reply, in order.

    Args:
        text: A reply.

    Returns:
        The statements; a marker that nothing follows has an empty text.
    """
    found: list[Statement] = []
    last_line = text.rstrip().rfind("\n") + 1
    for marker in _MARKER.finditer(text):
        rest = _rest(text, marker)
        if marker["hash"] and not _NUMBERLIKE.match(rest) and marker.start() < last_line:
            continue
        if marker["heading"] is not None and not _is_heading(text, marker):
            continue
        if re.match(r"not\b", rest, re.IGNORECASE):
            continue
        found.append(Statement(marker.start(), rest))
    return found


def _rest(text: str, marker: re.Match[str]) -> str:
    begin = marker.end()
    if marker["xml"]:
        close = _CLOSE.search(text, begin)
        return text[begin : close.start() if close else len(text)].strip()
    end = text.find("\n", begin)
    line = text[begin : end if end >= 0 else len(text)]
    if _BARE.fullmatch(line):
        line = _next_line(text, end)
    return _unmarked(line)


def _next_line(text: str, begin: int) -> str:
    if begin < 0:
        return ""
    for following in _NEXT.finditer(text, begin):
        if not _BARE.fullmatch(following["line"]):
            return _LEAD.sub("", following["line"], count=1)
    return ""


def _is_heading(text: str, marker: re.Match[str]) -> bool:
    begin = text.rfind("\n", 0, marker.start()) + 1
    return re.fullmatch(r"[\s#*_>]*", text[begin : marker.start()]) is not None


def _unmarked(line: str) -> str:
    body = _POLITE.sub("", line.strip())
    bare = body.lstrip("*` ")
    mark = body[: len(body) - len(bare)].strip()
    if mark and mark in bare:
        bare = bare.replace(mark, "", 1)
    return bare.rstrip("*` ").strip()
