r"""Reading numbers out of replies.

Rules, the same for predictions and references. Currency signs, thousands separators (``,``, ``{,}``, ``\!``, ``,\!``,
``\,``, thin spaces, ``'``, ``_``) and a full stop that ends the sentence are no part of a number. A comma separates
thousands only before groups of exactly three digits, and not where the digits stand alone in brackets: ``(12,500)`` is
a pair. A percent sign is a unit: ``50%`` is 50, not 0.5. A comma is never a decimal point. Fractions and mixed numbers
are numbers (``2 1/2`` is 2.5), and magnitudes in words count: ``5 million`` is 5,000,000.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Context, Decimal, InvalidOperation

from treadle.parsing.boxed import boxed
from treadle.parsing.final_answer import statements
from treadle.parsing.quantities import TERM, Quantity, has_plain_commas, plain_digits, quantities, read_term
from treadle.parsing.thinking import without_thinking

MOST_DIGITS = 2_000
LARGEST_EXPONENT = 4_000

_MARKS = re.compile(r"^(?:[\s*]|\\\(|\\\[|\$(?=[-+]?\s*[\\(\[]))+")
_UNIT = re.compile(
    r"""(?:\s|\\[ ,;!])*(?:\\?%|°|\^\s*(?:\\circ|\{\s*\\circ\s*\})|\\(?:text|mathrm|textrm|mbox)\s*\{[^{}]*\})?"""
    r"""(?:\s|\\[)\] ,;!]|[$*.])*"""
)
_MAGNITUDE = re.compile(r"hundred|thousand|million|billion|trillion|dozen", re.IGNORECASE)
_EXACT = Context(prec=4 * (MOST_DIGITS + LARGEST_EXPONENT), Emax=999_999, Emin=-999_999, traps=[])
_QUOTIENT = Context(prec=60, Emax=999_999, Emin=-999_999, traps=[])
_HASH = re.compile(r"####(?!#)[ \t]*(?P<rest>[^\n]*)")
_NUMBERLIKE = re.compile(r"[-+]?\*{0,2}[$€£¥₹\\-]{0,3}\.?[0-9]|\\(?:boxed|[dtc]?frac)|\$")
_SIGN = re.compile(r"^([-+])\s+(?=[0-9.\\])")
_BRACKET = re.compile(r"(?<=\S)\s\(")
_SENTENCE = re.compile(r"(?<=[^\s.])[.!?]\s+(?=[A-Z])")
_REASON = re.compile(r"(?<=\S)\s(?:because|since|given that|which)\b", re.IGNORECASE)
_ASSIGNED = re.compile(r"(?:^|[,;\n]|\b(?:and|or)\b)[\s$(\\]{0,4}[A-Za-z]\w{0,9}\s?=[\s$]{0,2}")
_LISTED = re.compile(r"[\s$\\()]*(?:[,;:/–-]|(?:,\s?)?\b(?:and|or|to)\b)[\s$\\()]*")
_OR = re.compile(r"[^.\n]*\bor\b[^.\n]*")
_OFFICIAL = re.compile(r"#### (\-?[0-9\.\,]+)")


def last_number(text: str) -> str | None:
    """Find the last number of a reply.

    Args:
        text: A reply.

    Returns:
        The number in plain form, such as ``-1045.00``, ``3e5`` or ``3/4``: no currency, separators or trailing full
        stop; None where there is none, and where it goes on in a way that is not read, such as ``2^10`` or ``3:30``.
    """
    last = None
    for found in quantities(plain_digits(text)):
        last = found.plain
    return last


def first_number(text: str) -> str | None:
    """Find the first number of a text; plain form as in `last_number`.

    Args:
        text: A reply.
    """
    found = next(quantities(plain_digits(text)), None)
    return found.plain if found is not None else None


def to_number(text: str) -> Decimal | None:
    r"""Read a text that is one number and nothing else.

    Around the number may stand: currency, mathematics and bold marks, a percent sign (dropped), a degree sign, a unit
    in ``\text{…}``, one pair of brackets, a full stop. Fractions (``3/4``, ``\frac34``) and mixed numbers (``2 1/2``)
    are read to 60 digits.

    Args:
        text: A number as people and models write it.

    Returns:
        Its value; None for anything else, for more than 2,000 digits and for exponents beyond ±4,000.
    """
    if len(text) > 4 * MOST_DIGITS:
        return None
    plain = _MARKS.sub("", plain_digits(text)).strip()
    bracketed = len(plain) > 2 and plain[0] + plain[-1] in ("()", "[]")
    if bracketed:
        plain = plain[1:-1].strip()
    signed = _SIGN.sub(r"\1", plain)
    found = TERM.match(signed)
    if found is None or (bracketed and has_plain_commas(found)):
        return None
    number, end = read_term(signed, found)
    return _worth(number) if number is not None and _only_unit(signed, end) else None


def same_number(a: str | int | float | Decimal, b: str | int | float | Decimal, tolerance: float | Decimal = 0) -> bool:
    """Whether two numbers are one.

    Args:
        a: A number, or a text that `to_number` reads.
        b: The other.
        tolerance: The greatest distance that still counts as the same, in the numbers' own unit.

    Returns:
        False where either is no finite number.
    """
    left, right = _value(a), _value(b)
    if left is None or right is None:
        return False
    if not tolerance:
        return left == right
    return _EXACT.abs(_EXACT.subtract(left, right)) <= Decimal(str(tolerance))


def gsm8k_official(text: str) -> str | None:
    """Read a GSM8K answer exactly as the official grader does (openai/grade-school-math, dataset.py).

    The first ``#### `` followed by digits, dots and commas, commas removed: the dot of ``#### 45.`` stays and
    ``#### $45`` has no answer. For parity with published figures; `gsm8k_answer` is the lenient way.

    Args:
        text: A reply or a reference solution.
    """
    found = _OFFICIAL.search(text)
    return found[1].replace(",", "") if found else None


def gsm8k_answer(text: str) -> str | None:
    """Read the number that a reply to a word problem gives, leniently.

    Thoughts are taken out first. Then the first that holds a number: the last ``####`` line, the last final-answer
    marker, the last box, a reply that is little else than numbers, the last number of the text (behind the last
    marker, where there is one). Of ``15 * 3 = 45`` the result counts. A statement with several unequal numbers and no
    ``=``, and one whose number is denied or goes on in a way that is not read, gives no answer.

    Args:
        text: A reply or a reference solution.

    Returns:
        The number in the plain form of `last_number`.
    """
    reply = plain_digits(without_thinking(text)).strip()
    marked = statements(reply)
    bare = "\n" not in reply and len(re.findall(r"[A-Za-z]{2,}", reply)) < 2
    for statement in (_hashed(reply), marked[-1].text if marked else "", boxed(reply), reply if bare else ""):
        said = _stated(statement) if statement else ()
        if said:
            return said[0]
    return _last(reply[marked[-1].start if marked else 0 :])


def _hashed(reply: str) -> str:
    """The last ``####`` line that is a statement and no heading."""
    for found in reversed(list(_HASH.finditer(reply))):
        if _NUMBERLIKE.match(found["rest"]) or not reply[found.end() :].strip():
            return found["rest"]
    return ""


def _stated(statement: str) -> tuple[()] | tuple[str | None]:
    """The one number that a statement gives, or ``None`` for none of those in it; empty where there are none."""
    text = _SIGN.sub(r"\1", boxed(statement) or statement)
    claims = _SENTENCE.split(_REASON.split(_BRACKET.split(text, maxsplit=1)[0], maxsplit=1)[0])
    for claim in (*claims, text):
        found = list(quantities(claim))
        if found:
            return (_single(claim, [one for one in found if not one.denied]),)
    return ()


def _single(claim: str, found: Sequence[Quantity]) -> str | None:
    equals = claim.rfind("=")
    results = [one for one in found if one.start > equals]
    if equals >= 0 and results:
        assigned = list(_ASSIGNED.finditer(claim))
        if assigned and assigned[-1].start() <= equals < assigned[-1].end():
            ends = {match.end() for match in assigned}
            if not _agree([one for one in found if one.start in ends]):
                return None
        listed = len(results) > 1 and (
            results[1].joined or _LISTED.fullmatch(claim, results[0].end, results[1].start) is not None
        )
        return None if listed and not _agree(results[:2]) else results[0].plain
    if not found or any(one.joined for one in found) or not _agree(found):
        return None
    return found[0].plain


def _agree(found: Sequence[Quantity]) -> bool:
    return len({_worth(one.plain) if one.plain else None for one in found}) < 2


def _last(text: str) -> str | None:
    found = list(quantities(text))
    while len(found) > 1 and found[-1].denied and not re.search(r"[.\n]", text[found[-2].end : found[-1].start]):
        found.pop()
    if not found or found[-1].denied or found[-1].joined:
        return None
    if len(found) > 1 and found[-1].start - found[-2].end <= 40 and not _agree(found[-2:]):
        either = _OR.fullmatch(text, found[-2].end, found[-1].start) is not None
        return None if either else found[-1].plain
    return found[-1].plain


def _only_unit(text: str, begin: int) -> bool:
    unit = _UNIT.match(text, begin)
    return unit is not None and unit.end() == len(text) and _MAGNITUDE.search(unit[0]) is None


def _worth(plain: str) -> Decimal | None:
    """The value of a plain form."""
    above, slash, below = plain.partition("/")
    value = _decimal(above)
    if value is None or not slash:
        return value
    divisor = _decimal(below)
    return _QUOTIENT.divide(value, divisor) if divisor else None


def _value(number: str | int | float | Decimal) -> Decimal | None:
    if isinstance(number, str):
        return to_number(number)
    if isinstance(number, int) and number.bit_length() > 3 * MOST_DIGITS:
        return None
    return _decimal(str(number))


def _decimal(text: str) -> Decimal | None:
    if len(text) > 2 * MOST_DIGITS:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    if not value.is_finite() or len(value.as_tuple().digits) > MOST_DIGITS:
        return None
    return value if abs(value.adjusted()) <= LARGEST_EXPONENT or not value else None
