"""The pages of the documentation, taken apart: fences, links, headings, inline code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
)

_FENCE = re.compile(r"^(?P<mark>`{3,})(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=mark)[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Fence:
    """One fenced block: where it stands, its language, the rest of its first line, and its text."""

    page: Path
    line: int
    language: str
    marks: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def fences(*languages: str) -> list[Fence]:
    """All fenced blocks of these languages."""
    found = [fence for page in PAGES for fence in _fences(page)]
    return [fence for fence in found if fence.language in languages]


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def inline_code(page: Path) -> list[str]:
    """The code spans of a page's running text."""
    return _CODE.findall(prose(page))


def links(page: Path) -> list[str]:
    """The targets of a page's links."""
    return _LINK.findall(_CODE.sub("", prose(page)))


def headings(page: Path) -> list[str]:
    """A page's headings, as they are written."""
    return _HEADING.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """What a link may put behind ``#``, by GitHub's rule."""
    found: set[str] = set()
    for heading in headings(page):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = sum(1 for known in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", known))
        found.add(f"{slug}-{count}" if count else slug)
    return found


def sections(page: Path) -> dict[str, str]:
    """The text below each heading, up to the next heading of any level; fences included."""
    text = page.read_text(encoding="utf-8")
    hidden = _FENCE.sub(lambda fence: " " * len(fence[0]), text)
    places = [(found[1], found.end(), found.start()) for found in _HEADING.finditer(hidden)]
    ends = [start for _, _, start in places[1:]] + [len(text)]
    return {title: text[begin:end] for (title, begin, _), end in zip(places, ends, strict=True)}


def first_column(text: str) -> list[str]:
    """The code spans in the first cells of the tables in a text."""
    rows = re.findall(r"^\|([^|\n]*)\|", text, re.MULTILINE)
    return [span for cell in rows for span in _CODE.findall(cell)]


def _fences(page: Path) -> Iterator[Fence]:
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        language, _, marks = found["info"].strip().partition(" ")
        yield Fence(page, text.count("\n", 0, found.start()) + 1, language, marks, found["text"])
