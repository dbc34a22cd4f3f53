"""Comparing short answers as text: exact match and token F1."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal

from treadle.parsing.numbers import to_number

Token = str | Decimal

_RAISED = re.compile("[⁰¹²³⁴-⁹]+")
_WRAPPING = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox|boxed|fbox)\s*\{([^{}]*)\}")
_SIZE = re.compile(r"\\(?:left|right|displaystyle|bigl?|bigr?|limits)(?![A-Za-z])|\\[,;:!]")
_FRACTION = re.compile(r"\\[dtc]?frac(?![A-Za-z])\s*(?:([0-9])\s*([0-9])(?![0-9]))?")
_NAMED = re.compile(
    r"^(?:[a-z]\s*(?:=|\\in(?![a-z])|∈)\s*)+(?=[-+\u2212]?\s?[$€£¥]?\s?(?:\.?[0-9]|\\[dtc]?frac(?![a-z])|\\?[{(\[]))",
    re.IGNORECASE,
)
_ENDS = " \t\r\n.,;:!?\"'“”‘’`*$"
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_ARTICLES = frozenset(("a", "an", "the"))
_CLOSED = frozenset(("yes", "no", "noanswer"))
_NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_WORDS_AS_NUMBERS = {word: Decimal(value) for value, word in enumerate(_NUMERALS)}
_PIECE = re.compile(r"[\s\u00a0]+")
_JOINTS = re.compile(r"[-\u2010-\u2015/\u2044&]+")
_AND = re.compile(r", and |, | and ")


def normalise_text(text: str, *, case: bool = False) -> str:
    r"""Put a short answer in the form in which answers are compared.

    Unicode NFKC (raised digits become ``^…``), no letter case, one space between words, no punctuation or quotes at the
    ends, no brackets around a single word or number; of LaTeX: ``\text{…}`` and its like unwrapped, ``\dfrac`` and
    ``\frac34`` written ``\frac{3}{4}``, no ``\left``, ``\right`` and spacing; no ``x =`` or ``x \in`` in front of a
    number or a bracket.

    Args:
        text: An answer.
        case: Whether letter case is kept.
    """
    plain = _RAISED.sub(lambda found: "^" + unicodedata.normalize("NFKC", found[0]), text)
    plain = unicodedata.normalize("NFKC", plain)
    plain = plain if case else unicodedata.normalize("NFKC", plain.casefold())
    plain = _WRAPPING.sub(r"\1", _SIZE.sub("", plain))
    plain = _FRACTION.sub(lambda found: rf"\frac{{{found[1]}}}{{{found[2]}}}" if found[1] else r"\frac", plain)
    plain = plain.replace("\\%", "%").replace("\\$", "$").replace("\\(", "").replace("\\)", "")
    plain = " ".join(plain.replace("\\ ", " ").split())
    plain = plain.strip(_ENDS) or plain
    named = _NAMED.match(plain)
    plain = plain[named.end() :] if named else plain
    while len(plain) > 2 and _BRACKETS.get(plain[0]) == plain[-1] and re.fullmatch(r"[\w. -]+", plain[1:-1]):
        plain = plain[1:-1].strip(_ENDS)
    return plain


def exact_match(prediction: str, gold: str, *, case: bool = False) -> bool:
    r"""Whether two short answers are the same text or the same number.

    Reflexive and symmetric on every text. ``7.0`` is ``7``, ``\frac34`` is ``0.75``, ``\text{(C)}`` is ``C`` and
    ``6.5\text{ cents}`` is ``6.5``; ``[-1,4]`` is not ``(-1,4)``.

    Args:
        prediction: An answer.
        gold: The reference.
        case: Whether letter case counts.
    """
    left, right = normalise_text(prediction, case=case), normalise_text(gold, case=case)
    if left == right:
        return True
    a, b = _as_number(prediction, left), _as_number(gold, right)
    return a is not None and a == b


def f1(prediction: str, golds: Sequence[str]) -> float:
    """Score a short answer by the words it shares with the best of several references, from 0 to 1.

    Words lose case, punctuation and articles, and numbers are compared as numbers, as in the DROP evaluation (Dua et
    al. 2019, section 5.1): a reference with a number needs one of its numbers. ``yes`` and ``no`` match only
    themselves, as in HotpotQA (Yang et al. 2018). Where either side lists spans with ``|``, spans are paired one to
    one, best first, and the sum is divided by the longer list: naming every candidate does not pay.

    Args:
        prediction: An answer, without its reasoning.
        golds: Alternative references; each is a whole answer.

    Returns:
        1 for a reference itself; 0 without references.
    """
    return max((_f1(prediction, gold) for gold in golds), default=0.0)


def _f1(prediction: str, gold: str) -> float:
    if "|" not in prediction and "|" not in gold:
        return _overlap(_tokens(prediction), _tokens(gold))
    guesses = [_tokens(span) for span in _spans(prediction)]
    wanted = [_tokens(span) for span in _spans(gold)]
    pairs = sorted(
        ((_overlap(guess, want), i, j) for i, guess in enumerate(guesses) for j, want in enumerate(wanted)),
        key=lambda pair: (-pair[0], pair[1], pair[2]),
    )
    taken: set[int] = set()
    matched: set[int] = set()
    total = 0.0
    for score, i, j in pairs:
        if i not in taken and j not in matched:
            taken.add(i)
            matched.add(j)
            total += score
    return total / max(len(guesses), len(wanted))


def _spans(answer: str) -> list[str]:
    parts = answer.split("|") if "|" in answer else _AND.split(" ".join(answer.split()))
    return [part for part in parts if part.strip()] or [answer]


def _overlap(guess: Sequence[Token], want: Sequence[Token]) -> float:
    if not guess or not want:
        return float(list(guess) == list(want))
    numbers = {token for token in want if isinstance(token, Decimal)}
    if numbers and not numbers.intersection(guess):
        return 0.0
    if list(guess) != list(want) and (_is_closed(guess) or _is_closed(want)):
        return 0.0
    common = sum((Counter(guess) & Counter(want)).values())
    return 2 * common / (len(guess) + len(want))


def _is_closed(tokens: Sequence[Token]) -> bool:
    return len(tokens) == 1 and tokens[0] in _CLOSED


def _tokens(answer: str) -> list[Token]:
    plain = unicodedata.normalize("NFKC", answer).casefold().replace("|", " ")
    return [token for piece in _PIECE.split(plain) for token in _piece_tokens(piece)]


def _piece_tokens(piece: str) -> Iterable[Token]:
    number = to_number(piece.strip(",;:!?\"'()[]"))
    if number is not None and "/" not in piece:
        yield number
        return
    for part in _JOINTS.split(piece):
        number = to_number(part.strip(",;:!?\"'()[]"))
        word = "".join(character for character in part if unicodedata.category(character)[0] not in "PS")
        if number is not None:
            yield number
        elif word in _WORDS_AS_NUMBERS:
            yield _WORDS_AS_NUMBERS[word]
        elif word and word not in _ARTICLES:
            yield word


def _as_number(answer: str, normalised: str) -> Decimal | None:
    number = to_number(answer)
    return number if number is not None else to_number(normalised)
