"""Patches in replies: the unified diff that an answer is or holds, kept byte for byte."""

from __future__ import annotations

import re

from treadle.parsing.fences import Block, blocks
from treadle.parsing.thinking import without_thinking

_LANGUAGES = ("diff", "patch", "udiff")
_START = re.compile(r"^(?:diff --git |--- (?=\S[^\n]*\n\+\+\+ ))", re.MULTILINE)
_WHOLE = re.compile(r"\s*(?:diff --git |--- \S[^\n]*\n\+\+\+ |Index: |From [0-9a-f]{40} )")
_NAMED = re.compile(
    r"^(?:diff --git (?P<both>.+)|(?:---|\+\+\+) (?P<one>[^\t\r\n]+).*|rename (?:from|to) (?P<moved>.+))$", re.M
)
_PAIR = re.compile(r'(?P<a>"(?:[^"\\]|\\.)*"|\S.*?) (?P<b>"b/(?:[^"\\]|\\.)*"|b/.+)$')
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)")
_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_MAKES = re.compile(r"^(?:new file mode [0-9]+|--- /dev/null)$", re.MULTILINE)
_NOISE = re.compile(r"^(?:index [0-9a-f]+\.\.[0-9a-f]+.*|similarity index .*|dissimilarity index .*)$")
_HUNK = re.compile(r"^@@ -[0-9,]+ \+[0-9,]+ @@.*$")


def patch_in(reply: str) -> str | None:
    r"""The patch that a reply is or holds.

    A reply that begins as a diff is one as a whole. Else its fenced blocks of the language ``diff`` or ``patch``, or
    without a language and beginning as a diff: all of them where they change different files, else the last. Else what
    follows from where a diff begins. One line end is put behind it where it has none; nothing else is changed, so blank
    context lines and ``\r`` stay.

    Args:
        reply: A whole reply.

    Returns:
        The patch; empty where a block for one is empty; ``None`` where there is none.
    """
    if _WHOLE.match(reply):
        return _ended(reply)
    text = without_thinking(reply)
    named = [block for block in blocks(text) if block.language in _LANGUAGES]
    found = [block.code for block in named or blocks(text) if block.language in _LANGUAGES or _is_bare(block)]
    if found:
        filled = [code for code in found if code.strip()]
        return _ended(_joined(filled)) if filled else ""
    start = _START.search(text)
    return None if start is None else _ended(text[start.start() :])


def patched_paths(patch: str) -> frozenset[str]:
    """The files that a patch names, in its headers.

    Args:
        patch: A unified diff, of git or plain.
    """
    found: set[str] = set()
    for match in _NAMED.finditer(patch.replace("\r\n", "\n")):
        pair = _PAIR.match(match["both"]) if match["both"] else None
        names = [pair["a"], pair["b"]] if pair else [each for each in (match["one"],) if each]
        found.update(_without_prefix(_unquoted(name)) for name in names if name.strip() != "/dev/null")
        if match["moved"]:
            found.add(_unquoted(match["moved"]))
    return frozenset(found)


def added_paths(patch: str) -> frozenset[str]:
    """The files that a patch makes.

    Args:
        patch: A unified diff, of git or plain.
    """
    sections = re.split(r"^(?=diff --git )", patch.replace("\r\n", "\n"), flags=re.MULTILINE)
    return frozenset(path for each in sections if _MAKES.search(each) for path in patched_paths(each))


def normal_patch(patch: str) -> str:
    """A patch in the form in which two that do the same to the same lines are equal.

    Line numbers, hashes, the words behind a hunk's numbers, and the order of files do not count.

    Args:
        patch: A unified diff.
    """
    files: list[list[str]] = []
    for line in patch.split("\n"):
        if not files or line.startswith("diff --git ") or (line.startswith("--- ") and _has_body(files[-1])):
            files.append([])
        if line.startswith("diff --git ") or _NOISE.match(line.rstrip("\r")):
            continue
        body = line.partition("\t")[0] if line.startswith(("--- ", "+++ ")) else line
        files[-1].append("@@" if _HUNK.match(line.rstrip("\r")) else " " if body == "" else body)
    kept = ["\n".join(lines).rstrip() for lines in files]
    return "\n".join(sorted(text for text in kept if text.strip()))


def _has_body(lines: list[str]) -> bool:
    return "@@" in lines


def _is_bare(block: Block) -> bool:
    return block.language == "" and _WHOLE.match(block.code) is not None


def _joined(codes: list[str]) -> str:
    seen: set[str] = set()
    for code in codes:
        paths = patched_paths(code)
        if paths & seen:
            return codes[-1]
        seen |= paths
    return "".join(_ended(code) for code in codes)


def _ended(patch: str) -> str:
    if patch.endswith("\n"):
        return patch
    body = [
        line
        for line in patch.split("\n")[:-1]
        if line.startswith((" ", "+", "-")) and not line.startswith(("+++ ", "--- "))
    ]
    returned = bool(body) and body[-1].endswith("\r") and not patch.endswith("\r")
    return patch + ("\r\n" if returned else "\n")


def _without_prefix(name: str) -> str:
    return name[2:] if name.startswith(("a/", "b/")) else name


def _unquoted(name: str) -> str:
    name = name.strip()
    if not (len(name) > 1 and name.startswith('"') and name.endswith('"')):
        return name
    raw = _ESCAPED.sub(lambda match: _byte(match[1]), name[1:-1].encode(errors="surrogateescape"))
    return raw.decode(errors="surrogateescape")


def _byte(code: bytes) -> bytes:
    return bytes([int(code, 8) % 256]) if code.isdigit() else _LETTERS.get(code, code)
