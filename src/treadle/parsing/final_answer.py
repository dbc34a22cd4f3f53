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
_CLOSE = re.compile(r"</answer>", re.IGNORECASE)
_NEXT = re.compile(r"\n(?P<line>[^\n]+)")
_BARE = re.compile(r"[\s*_`~$#=\-]*|\s*\\\[\s*|\s*(?:```|~~~)[^\n]*")
_LEAD = re.compile(r"\s*(?:(?:[-+>•]|#{1,6})\s+)?")
_CLOSING = re.compile(r"^[*`]+\s+")
_POLITE = re.compile(r"I hope it is correct\.?\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """One stated answer: where its marker begins in the text (characters) and what it says."""

    start: int
    text: str


def final_answer(text: str) -> str | None:
    """Read the last stated answer of a reply.

    Markers, in any case and with bold or heading marks: ``Answer: x``, ``The answer is x``, ``Final answer: x``, a
    heading ``Answer`` alone on its line, ``<answer>x</answer>``, and ``#### x`` where x begins like a number or the
    line is the reply's last (else it is a heading). ``the answer is not x`` states nothing, and a statement ends where
    the next marker begins.

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
    following = _Following(text)
    last_line = text.rstrip().rfind("\n") + 1
    markers = list(_MARKER.finditer(text))
    limits = [marker.start() for marker in markers[1:]] + [len(text)]
    for marker, limit in zip(markers, limits, strict=False):
        if marker["heading"] is not None and not _is_heading(text, marker):
            continue
        rest = _rest(text, marker, limit, following)
        if marker["hash"] and not _NUMBERLIKE.match(rest) and marker.start() < last_line:
            continue
        if not re.match(r"not\b", rest, re.IGNORECASE):
            found.append(Statement(marker.start(), rest))
    return found


class _Following:
    """The next line with words after a position; positions are asked in rising order, so that no line is read twice."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.start = -1
        self.line = ""

    def after(self, begin: int) -> str:
        if begin < 0:
            return ""
        if begin > self.start:
            self.start, self.line = len(self.text), ""
            for following in _NEXT.finditer(self.text, begin):
                if not _BARE.fullmatch(following["line"]):
                    self.start, self.line = following.start(), _LEAD.sub("", following["line"], count=1)
                    break
        return self.line


def _rest(text: str, marker: re.Match[str], limit: int, following: _Following) -> str:
    begin = marker.end()
    close = _CLOSE.search(text, begin, limit) if marker["xml"] else None
    if close is not None:
        return text[begin : close.start()].strip()
    end = text.find("\n", begin, limit)
    line = text[begin : end if end >= 0 and not marker["xml"] else limit]
    if _BARE.fullmatch(line) and (end >= 0 or limit == len(text)):
        line = following.after(end)
    return _unmarked(_CLOSE.split(line, maxsplit=1)[0])


def _is_heading(text: str, marker: re.Match[str]) -> bool:
    begin = text.rfind("\n", 0, marker.start()) + 1
    return re.fullmatch(r"[\s#*_>]*", text[begin : marker.start()]) is not None


def _unmarked(line: str) -> str:
    body = _CLOSING.sub("", _POLITE.sub("", line.strip()), count=1)
    bare = body.lstrip("*` ")
    mark = body[: len(body) - len(bare)].strip()
    if mark and mark in bare:
        bare = bare.replace(mark, "", 1)
    return bare.rstrip("*` ").strip()
