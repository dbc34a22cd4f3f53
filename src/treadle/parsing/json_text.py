"""Reading JSON out of a reply."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn, cast

from treadle.errors import FormatError
from treadle.parsing.fences import blocks

MOST_NESTED = 100

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]++|//[^\n]*+)*+")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?P<float>(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?)(?![\w.+])")
_WORD = re.compile(r"(?:true|false|null|True|False|None)(?!\w)")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_OPENING = re.compile(r"[\[{]")
_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)


def read_json(text: str) -> Any:
    """Read the JSON value of a reply.

    The first that applies: the whole text; the last fenced block marked ``json``; the last unmarked block that is
    JSON; the last object or array in the prose (bare lists of numbers, which may be citations, only where there is
    nothing else). Repaired, because they change no value: trailing commas, ``//`` comments, ``True``, ``False`` and
    ``None``, line breaks within a string. Never repaired: anything cut short. Of a repeated key the last value counts.

    Thoughts are not taken out here: a string may well hold the tags.

    Args:
        text: A reply.

    Returns:
        Values made of dict, list, str, int, finite float, bool and None.

    Raises:
        FormatError: The reply has no JSON, or its last JSON is broken, cut, nested deeper than 100 or holds NaN or
            an infinity.
    """
    try:
        return _read(text)
    except _Broken as failure:
        raise FormatError(failure.described()) from None


def _read(text: str) -> Any:
    try:
        return _Reader(text).document()
    except _Broken as failure:
        whole = failure
    fenced = blocks(text)
    marked = [block for block in fenced if block.language in {"json", "jsonc", "json5"}]
    if marked:
        return _Reader(marked[-1].code).document()
    for block in reversed(fenced):
        if not block.language:
            try:
                return _Reader(block.code).document()
            except _Broken:
                continue
    found = _in_prose(text)
    if not found:
        raise whole
    telling = [value for value in found if not _is_citation(value)]
    return (telling or found)[-1]


def _in_prose(text: str) -> list[Any]:
    reader = _Reader(text)
    found: list[Any] = []
    position = 0
    while (begin := _next_bracket(text, position)) >= 0:
        reader.position = begin
        try:
            found.append(reader.value(0))
            position = reader.position
        except _Broken:
            position = max(begin + 1, reader.position)
            if _looks_like_json(text, begin):
                end = _matching(text, begin)
                if end is None:
                    raise
                position = end + 1
    return found


def _next_bracket(text: str, position: int) -> int:
    found = _OPENING.search(text, position)
    return found.start() if found else -1


def _looks_like_json(text: str, begin: int) -> bool:
    inside = _SPACE.match(text, begin + 1)
    first = text[inside.end() : inside.end() + 1] if inside else ""
    return first == '"' or (text[begin] == "[" and first in ("{", "["))


def _matching(text: str, begin: int) -> int | None:
    opened: list[str] = []
    for token in _BRACKET.finditer(text, begin):
        if token[0] in ("{", "["):
            opened.append("}" if token[0] == "{" else "]")
        elif token[0] in ("}", "]"):
            if token[0] != opened.pop():
                return None
            if not opened:
                return token.start()
    return None


def _is_citation(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int for item in cast("list[Any]", value))


class _Broken(Exception):
    def __init__(self, text: str, position: int, what: str) -> None:
        super().__init__(what)
        self.text = text
        self.position = position

    def described(self) -> str:
        line = self.text.count("\n", 0, self.position) + 1
        column = self.position - self.text.rfind("\n", 0, self.position)
        return (
            f"no usable JSON in the reply: {self} (line {line}, column {column}); "
            "ask for one complete JSON value, and raise max_tokens if the reply was cut"
        )


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def document(self) -> Any:
        self.position = 0
        value = self.value(0)
        self._skip()
        if self.position < len(self.text):
            self._fail("there is more text after the JSON value")
        return value

    def value(self, depth: int) -> Any:
        if depth > MOST_NESTED:
            self._fail(f"the JSON is nested deeper than {MOST_NESTED}")
        self._skip()
        match self.text[self.position : self.position + 1]:
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
            case '"':
                return self._string()
            case _:
                return self._scalar()

    def _object(self, depth: int) -> dict[str, Any]:
        self.position += 1
        result: dict[str, Any] = {}
        while not self._takes("}"):
            if not self.text.startswith('"', self.position):
                self._fail('a key in double quotes or "}" is missing')
            key = self._string()
            if not self._takes(":"):
                self._fail('":" is missing after a key')
            result[key] = self.value(depth + 1)
            if not self._takes(","):
                if self._takes("}"):
                    break
                self._fail('"," or "}" is missing')
        return result

    def _array(self, depth: int) -> list[Any]:
        self.position += 1
        result: list[Any] = []
        while not self._takes("]"):
            result.append(self.value(depth + 1))
            if not self._takes(","):
                if self._takes("]"):
                    break
                self._fail('"," or "]" is missing')
        return result

    def _string(self) -> str:
        token = _STRING.match(self.text, self.position)
        if token is None:
            self._fail("a string is never closed")
        try:
            value = json.loads(token[0], strict=False)
        except ValueError:
            self._fail("a string has an escape that JSON does not know")
        self.position = token.end()
        return cast("str", value)

    def _scalar(self) -> Any:
        word = _WORD.match(self.text, self.position)
        if word is not None:
            self.position = word.end()
            return _WORDS[word[0]]
        number = _NUMBER.match(self.text, self.position)
        if number is None:
            self._fail("a JSON value is missing")
        try:
            value = float(number[0]) if number["float"] else int(number[0])
        except ValueError:
            self._fail("a number has too many digits")
        if isinstance(value, float) and not math.isfinite(value):
            self._fail("a number is too large")
        self.position = number.end()
        return value

    def _takes(self, mark: str) -> bool:
        self._skip()
        if not self.text.startswith(mark, self.position):
            return False
        self.position += 1
        return True

    def _skip(self) -> None:
        space = _SPACE.match(self.text, self.position)
        if space is not None:
            self.position = space.end()

    def _fail(self, what: str) -> NoReturn:
        raise _Broken(self.text, self.position, what)
