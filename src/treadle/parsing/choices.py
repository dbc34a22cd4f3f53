"""Reading the option that a reply chooses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from treadle.parsing.boxed import boxed
from treadle.parsing.final_answer import statements
from treadle.parsing.thinking import without_thinking

LETTERS = "ABCDEFGHIJ"

_COSMETIC = re.compile(
    r"\\(?:text|textbf|textit|mathrm|mathbf|boxed|fbox)(?![A-Za-z])|\\(?:left|right)(?![A-Za-z])|\\[()\[\],;! ]"
    r"|[*_`$~\"“”{}]|(?<![A-Za-z])'|'(?![A-Za-z])"
)
_BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])")
_OPTION_LINE = re.compile(r"^[ \t>]*(?:[-*+•][ \t]+)?\**\(?(?P<letter>[A-Za-z])[).:]\**(?=\s)", re.MULTILINE)
_OPTION_INLINE = re.compile(r"\((?P<letter>[A-Za-z])\)")
_FILLER = (
    r"(?:(?:therefore|thus|clearly|most|likely|probably|simply|then|so|the|option|choice|letter|answer|is)[ ,:]++|:)"
)
_ENDS = r"(?=[ \t]*+(?:$|[\n)\]>!?,;:–—]|\.(?![A-Za-z0-9])|-[ ]|/|(?:because|since|as|which|due|given|for|or|and)\b))"
_VERBS = "is|was|are|would|could|can|seems?|says|states|means|does|has|and|or"
_HEDGE = r"[ \t]*+(?:/|&|,?[ \t]*+(?:or|and)\b|,)[ \t]*+(?:option[ ])?"


def choice(text: str, letters: str = LETTERS) -> str | None:
    r"""Read the letter that a reply chooses.

    Thoughts are taken out first. What counts, the first kind that is there: a statement (``Answer: B) foo``,
    ``\boxed{\text{(C)}}``, ``option B is correct``, ``I choose B``); a line that is nothing but a letter; lines that
    begin like one option (``B. foo``); a letter in brackets; one capital letter that stands alone. Of several the last
    counts, and a last statement that names two letters (``B or C``) chooses nothing. The article ``A`` and the pronoun
    ``I`` are words.

    Args:
        text: A reply.
        letters: The options' letters in capitals, as `option_letters` gives them.

    Returns:
        One of ``letters``.
    """
    if not letters:
        return None
    forms = _forms(letters)
    reply = without_thinking(text)
    plain = _plain(reply)
    stated = list(_stated(reply, plain, forms))
    if stated:
        last = max(stated)[1]
        return last if len(last) == 1 else None
    return _mentioned(plain, forms)


def option_letters(question: str) -> str:
    """Find the letters of the options that a question lists.

    ``(A) …`` anywhere, or ``A) …``, ``A. …``, ``A: …`` at the start of a line, counting up from A; the longest such
    list, of equal ones the last.

    Args:
        question: A question.

    Returns:
        Such as ``"ABCD"``; empty where no two options are listed.
    """
    best = ""
    for pattern in (_OPTION_LINE, _OPTION_INLINE):
        for letters in _runs(found["letter"].upper() for found in pattern.finditer(question)):
            if len(letters) >= max(2, len(best)):
                best = letters
    return best


class _Forms:
    def __init__(self, letters: str) -> None:
        capitals = re.escape(letters)
        both = re.escape("".join(dict.fromkeys(letters + letters.lower())))
        nouns = re.escape("".join(letter for letter in letters if letter not in "AI"))
        noun = rf"[{nouns}]" if nouns else r"(?!)[A]"
        one = rf"(?:[(\[<][ ]*[{both}][ ]*[)\]>]|[{both}](?![A-Za-z0-9'’]){_ENDS}|{noun}(?![A-Za-z0-9'’]))"
        firm = rf"(?:\([{both}]\)|(?<![A-Za-z0-9'’(])[{capitals}](?![A-Za-z0-9'’]))"
        self.claim = re.compile(rf"\s*+(?i:{_FILLER}[ ]*+){{0,9}}+\s*+(?P<one>{one})(?:{_HEDGE}(?P<other>{one}))?")
        self.verdict = re.compile(
            rf"(?P<one>{firm})[ ]+(?i:is|must[ ]be|would[ ]be)[ ]+(?i:(?:the|most|only)[ ]+){{0,3}}"
            rf"(?i:correct|right|best|better)(?![A-Za-z])"
            rf"|(?i:choose|chose|pick|select|go[ ]with)[ ]+(?i:(?:option|choice|answer|letter)[ ]+)?(?P<picked>{one})"
            rf"(?:{_HEDGE}(?P<other>{one}))?"
            rf"|(?i:(?:correct|right|best)[ ]+(?:option|choice|letter)[ ]+is)[ :]*(?P<called>{one})"
        )
        self.line = re.compile(
            rf"^[ \t>#-]*+(?i:(?:option|choice|letter)[ ]++)?+"
            rf"[(\[<]?+[ ]*+([{both}])[ ]*+[)\]>]?+[ ]*+[.:]?+[ \t\r]*+$",
            re.MULTILINE,
        )
        self.beginning = re.compile(
            rf"^[ \t>#-]*+\(?+([{capitals}])(?:[).:]|[ ]-)(?=\s)(?![ ]+(?i:{_VERBS})\b)", re.MULTILINE
        )
        self.negated = re.compile(rf"(?i:\bnot|n't)[ ]+(?i:(?:option|choice|answer)[ ]+)?{one}")
        self.bracketed = re.compile(rf"[(\[]([{capitals}])[)\]]")
        self.alone = re.compile(rf"(?<![A-Za-z0-9'’.\\-])({noun})(?![A-Za-z0-9'’-])")


@lru_cache(maxsize=64)
def _forms(letters: str) -> _Forms:
    return _Forms(letters)


def _plain(text: str) -> str:
    return _COSMETIC.sub(lambda found: " " * len(found[0]), text)


def _stated(reply: str, plain: str, forms: _Forms) -> Iterator[tuple[int, str]]:
    for statement in statements(reply):
        yield from _claims(statement.start, _plain(statement.text), forms)
    boxes = [found.start() for found in _BOX.finditer(reply)]
    content = boxed(reply) if boxes else None
    if content is not None:
        yield from _claims(boxes[-1], _plain(content), forms)
    for found in forms.verdict.finditer(plain):
        first = found["one"] or found["picked"] or found["called"]
        yield found.start(), _letters(first, found["other"])


def _claims(start: int, text: str, forms: _Forms) -> Iterator[tuple[int, str]]:
    claim = forms.claim.match(text)
    if claim is not None:
        yield start, _letters(claim["one"], claim["other"])
        return
    bracketed = forms.bracketed.findall(text)
    if bracketed:
        yield start, _letters(*bracketed)


def _letters(*found: str | None) -> str:
    letters = [form.strip("()[]<> ").upper() for form in found if form]
    return "".join(dict.fromkeys(letters))


def _mentioned(plain: str, forms: _Forms) -> str | None:
    lines: list[str] = forms.line.findall(plain)
    if lines:
        return lines[-1].upper()
    plain = forms.negated.sub(" ", plain)
    beginnings: list[str] = forms.beginning.findall(plain)
    if len(set(beginnings)) == 1:
        return beginnings[0]
    rest = forms.beginning.sub(" ", plain) if beginnings else plain
    bracketed: list[str] = forms.bracketed.findall(rest)
    if bracketed:
        return bracketed[-1]
    alone: set[str] = set(forms.alone.findall(rest))
    return alone.pop() if len(alone) == 1 else None


def _runs(letters: Iterable[str]) -> Iterator[str]:
    run = ""
    for letter in letters:
        if letter == "A":
            yield run
            run = "A"
        elif run and ord(letter) == ord(run[-1]) + 1:
            run += letter
    yield run
