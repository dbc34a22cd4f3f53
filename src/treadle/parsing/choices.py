"""Reading the option that a reply chooses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from treadle.parsing.boxed import boxed
from treadle.parsing.final_answer import Statement, statements
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
    r"(?:(?:therefore|thus|clearly|most|likely|probably|simply|definitely|certainly|surely|obviously|actually|indeed"
    r"|i[ ](?:think|believe|choose|pick)|i['’]d[ ]say|it[ ]is|it['’]s|that|must|should|would|be|then|so|the"
    r"|option|choice|letter|answer|is)[ ,:]++|:)"
)
_ENDS = r"(?=[ \t]*+(?:$|[\n)\]>!?,;:–—]|\.(?![A-Za-z0-9])|-[ ]|/|(?:because|since|as|which|due|given|for|or|and)\b))"
_VERBS = "is|was|are|would|could|can|seems?|says|states|means|does|has|and|or"
_HEDGE = r"[ \t]*+\(?(?:/|&|,?[ \t]*+(?:or|and|nor)\b|,)[ \t]*+(?:(?:maybe|perhaps|possibly|also)[ ])?(?:option[ ])?"
_DENIES = (
    r"[ ]+(?:(?:is|are|was|were|would[ ]be|must[ ]be|can[ ]be)[ ]+(?:clearly[ ]|also[ ]|both[ ])?"
    r"(?:not|never|wrong|incorrect|false|impossible|out|excluded|eliminated|ruled)\b"
    r"|(?:is|are|was|ca|could|would|does|do|wo)n['’]t\b|cannot\b|can[ ]not\b|does[ ]not\b|fails\b)"
)
_DENIED = (
    r"(?:(?:\bnot|n['’]t|\bnever|\b(?:any|every|all)(?:thing|one)?[ ]but|\bexcept(?:[ ]for)?|\bneither|\bnor"
    r"|\b(?:rather|other)[ ]than|\binstead[ ]of|\brul(?:e|es|ed|ing)[ ]out|\b(?:eliminat|exclud|reject|discard)[a-z]*)"
    r"[ ]+(?:(?:choose|pick|select|be|say|go[ ]with)[ ]+)?)"
)


def choice(text: str, letters: str = LETTERS) -> str | None:
    r"""Read the letter that a reply chooses.

    Thoughts are taken out first. What counts, the first kind that is there: a statement (``Answer: B) foo``,
    ``\boxed{\text{(C)}}``, ``option B is correct``, ``I choose B``); a line that is nothing but a letter; lines that
    begin like one option (``B. foo``); a letter in brackets; one capital letter that stands alone. Of several the last
    counts, and a last statement that names two letters (``B or C``) or denies one (``B is wrong``) chooses nothing.
    Where there are only statements that name no letter, nothing is chosen either; elsewhere lists (``A or B``, letters
    on lines of their own) and what is denied do not count. The article ``A`` and the pronoun ``I`` are words.

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
    marked = statements(reply)
    stated = list(_stated(reply, plain, marked, forms))
    if stated:
        last = max(stated)[1]
        return last if len(last) == 1 else None
    return None if marked else _mentioned(plain, forms)


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
        letter = rf"(?:\([{both}]\)|[{capitals}])(?![A-Za-z0-9'’])"
        bracketed = rf"[(\[][ ]*[{both}][ ]*[)\]]"
        self.claim = re.compile(
            rf"\s*+(?i:{_FILLER}[ ]*+){{0,9}}+\s*+(?P<one>{one})(?![ ]*{_DENIES})(?:{_HEDGE}(?P<other>{one})"
            rf"|(?<=[)\]])[ ]*(?P<next>{bracketed})|(?<![)\]])[ ]+(?P<noun>{noun})(?![A-Za-z0-9'’.]))?"
        )
        self.verdict = re.compile(
            rf"(?:(?P<before>{firm})[ ]*(?:/|&|,?[ ]*(?i:or|and|nor)\b)[ ]*)?"
            rf"(?P<one>{firm})[ ]+(?i:is|must[ ]be|would[ ]be)[ ]+(?i:(?:the|most|only)[ ]+){{0,3}}"
            rf"(?i:correct|right|best|better)(?![A-Za-z])"
            rf"|(?:^|(?<=[.!?:;,]))[ ]*(?i:so|therefore|thus|hence)[ ]*,?[ ]+(?i:(?:it|that)(?:['’]s|[ ]is)[ ]+)?"
            rf"(?i:option[ ]+)?(?P<so>{firm})[ ]*(?=[.!]?[ ]*$|[.!][ ])"
            rf"|(?<!not[ ])(?<!n't[ ])(?<!n’t[ ])(?<!never[ ])"
            rf"(?i:choose|chose|pick|select|go[ ]with)[ ]+(?i:(?:option|choice|answer|letter)[ ]+)?(?P<picked>{one})"
            rf"(?:{_HEDGE}(?P<other>{one}))?"
            rf"|(?i:(?:correct|right|best)[ ]+(?:option|choice|letter)[ ]+is)[ :]*(?P<called>{one})",
            re.MULTILINE,
        )
        self.line = re.compile(
            rf"^[ \t>#-]*+(?i:(?:option|choice|letter)[ ]++)?+"
            rf"[(\[<]?+[ ]*+([{both}])[ ]*+[)\]>]?+[ ]*+[.:]?+[ \t\r]*+$",
            re.MULTILINE,
        )
        self.beginning = re.compile(
            rf"^[ \t>#-]*+\(?+([{capitals}])(?:[).:]|[ ]-)(?=\s)(?![ ]+(?i:{_VERBS})\b)", re.MULTILINE
        )
        self.negated = re.compile(rf"(?i:{_DENIED}(?:option|choice|answer)?[ ]*){one}|{firm}(?i:{_DENIES})")
        self.several = re.compile(
            rf"(?<![A-Za-z0-9'’(]){letter}(?:[ ]*(?:/|&|,?[ ]*(?i:or|and|nor)\b|,)[ ]*(?i:option[ ]+)?{letter})+"
            rf"(?i:{_DENIES})?|{bracketed}(?:[ ]*{bracketed})+"
        )
        self.bracketed = re.compile(rf"[(\[]([{capitals}])[)\]]")
        self.alone = re.compile(rf"(?<![A-Za-z0-9'’.\\-])({noun})(?![A-Za-z0-9'’-])")


@lru_cache(maxsize=64)
def _forms(letters: str) -> _Forms:
    return _Forms(letters)


def _plain(text: str) -> str:
    return _COSMETIC.sub(lambda found: " " * len(found[0]), text)


def _stated(reply: str, plain: str, marked: Sequence[Statement], forms: _Forms) -> Iterator[tuple[int, str]]:
    for statement in marked:
        yield from _claims(statement.start, _plain(statement.text), forms)
    boxes = [found.start() for found in _BOX.finditer(reply)]
    content = boxed(reply) if boxes else None
    if content is not None:
        yield from _claims(boxes[-1], _plain(content), forms)
    for found in forms.verdict.finditer(plain):
        first = found["one"] or found["picked"] or found["called"] or found["so"]
        yield found.start(), _letters(found["before"], first, found["other"])


def _claims(start: int, text: str, forms: _Forms) -> Iterator[tuple[int, str]]:
    claim = forms.claim.match(text)
    if claim is not None:
        yield start, _letters(claim["one"], claim["other"], claim["next"], claim["noun"])
        return
    rest = forms.negated.sub(" ", forms.several.sub(" ", text))
    bracketed = forms.bracketed.findall(rest)
    if bracketed or rest != text:
        yield start, _letters(*bracketed)


def _letters(*found: str | None) -> str:
    letters = [form.strip("()[]<> ").upper() for form in found if form]
    return "".join(dict.fromkeys(letters))


def _mentioned(plain: str, forms: _Forms) -> str | None:
    lines = list(forms.line.finditer(plain))
    if lines:
        last = lines[-1][1].upper()
        listed = len(lines) > 1 and not plain[lines[-2].end() : lines[-1].start()].strip()
        return None if listed and lines[-2][1].upper() != last else last
    several = [found.end() for found in forms.several.finditer(plain)]
    plain = forms.negated.sub(_blank, forms.several.sub(_blank, plain))
    beginnings: list[str] = forms.beginning.findall(plain)
    if len(set(beginnings)) == 1:
        return beginnings[0]
    rest = forms.beginning.sub(_blank, plain) if beginnings else plain
    bracketed: list[str] = forms.bracketed.findall(rest)
    if bracketed:
        return bracketed[-1]
    # A letter before "A or B" is one of those weighed; one behind it may be the choice.
    alone: set[str] = set(forms.alone.findall(rest, several[-1] if several else 0))
    return alone.pop() if len(alone) == 1 else None


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _runs(letters: Iterable[str]) -> Iterator[str]:
    run = ""
    for letter in letters:
        if letter == "A":
            yield run
            run = "A"
        elif run and ord(letter) == ord(run[-1]) + 1:
            run += letter
    yield run
