r"""Reading numbers out of replies.

Rules, the same for predictions and references. Currency signs, thousands separators (``,``, ``{,}``, ``\!``, ``,\!``,
``\,``, thin spaces, ``'``, ``_``) and a full stop that ends the sentence are no part of a number. A comma separates
thousands only before groups of exactly three digits, and not where the digits stand alone in brackets: ``(12,500)`` is
a pair. A percent sign is a unit: ``50%`` is 50, not 0.5. A comma is never a decimal point.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Context, Decimal, InvalidOperation

from treadle.parsing.boxed import boxed
from treadle.parsing.final_answer import final_answer
from treadle.parsing.thinking import without_thinking

MOST_DIGITS = 2_000
LARGEST_EXPONENT = 4_000

_PLAIN = str.maketrans("０１２３４５６７８９．，＋－−﹣％＄", "0123456789.,+---%$")
_SEPARATOR = r"(?:\{,\}|,\\!|\\[!,]|[,'_\u2009\u202f\u00a0])"
_GROUPED = rf"[1-9][0-9]{{0,2}}(?:{_SEPARATOR}[0-9]{{3}}){{1,12}}(?![0-9]|,[0-9])"
_POWER = r"[ ]?(?:\\times|\\cdot|[×·*x])[ ]?10[ ]?\^[ ]?(?:\{[ ]?(?P<braced>[-+]?[0-9]+)[ ]?\}|(?P<bare>[-+]?[0-9]+))"
_NUMBER = re.compile(
    rf"""(?<![A-Za-z0-9])(?<![A-Za-z0-9]_)
    (?P<sign>(?<![)\]}}%])[-+])?
    (?P<currency>\\?[$€£¥₹₩][ ]?)?
    (?P<inner>(?<=[$€£¥₹₩ ])[-+])?
    (?P<whole>(?:(?P<grouped>{_GROUPED})|[0-9]++)(?:\.[0-9]++)?|(?<!\.)\.[0-9]++)
    (?:[eE](?P<exponent>[-+]?[0-9]++)(?![A-Za-z])|{_POWER})?""",
    re.VERBOSE,
)
_NOT_DIGIT = re.compile(r"[^0-9.]")
_MARKS = re.compile(r"^(?:[\s*]|\\\(|\\\[|\$(?=[-+]?\s*[\\(\[]))+")
_UNIT = re.compile(
    r"""(?:\s|\\[ ,;!])*(?:\\?%|°|\^\s*(?:\\circ|\{\s*\\circ\s*\})|\\(?:text|mathrm|textrm|mbox)\s*\{[^{}]*\})?"""
    r"""(?:\s|\\[)\] ,;!]|[$*.])*"""
)
_MAGNITUDE = re.compile(r"hundred|thousand|million|billion|trillion|dozen", re.IGNORECASE)
_FRACTION = re.compile(
    r"(?P<sign>[-+]?)\s*(?:\\[dt]?frac\s*(?:\{\s*(?P<a>-?[0-9.]+)\s*\}|(?P<a1>[0-9]))"
    r"\s*(?:\{\s*(?P<b>-?[0-9.]+)\s*\}|(?P<b1>[0-9]))|(?P<c>[0-9.]+)\s*[/\u2044]\s*(?P<d>[0-9.]+))"
)
_EXACT = Context(prec=4 * (MOST_DIGITS + LARGEST_EXPONENT), Emax=999_999, Emin=-999_999, traps=[])
_QUOTIENT = Context(prec=60, Emax=999_999, Emin=-999_999, traps=[])
_HASH = re.compile(r"####(?!#)[ \t]*(?P<rest>[^\n]*)")
_OFFICIAL = re.compile(r"#### (\-?[0-9\.\,]+)")


def last_number(text: str) -> str | None:
    """Find the last number of a reply.

    Args:
        text: A reply.

    Returns:
        The number in plain form, such as ``-1045.00`` or ``3e5``: no currency, separators or trailing full stop.
    """
    last = None
    for number in _numbers(text):
        last = number
    return last


def first_number(text: str) -> str | None:
    """Find the first number of a text; plain form as in `last_number`.

    Args:
        text: A reply.
    """
    return next(_numbers(text), None)


def to_number(text: str) -> Decimal | None:
    r"""Read a text that is one number and nothing else.

    Around the number may stand: currency, mathematics and bold marks, a percent sign (dropped), a degree sign, a unit
    in ``\text{…}``, one pair of brackets, a full stop. Fractions (``3/4``, ``\frac34``) are read to 60 digits.

    Args:
        text: A number as people and models write it.

    Returns:
        Its value; None for anything else, for more than 2,000 digits and for exponents beyond ±4,000.
    """
    if len(text) > 4 * MOST_DIGITS:
        return None
    plain = _MARKS.sub("", text.translate(_PLAIN)).strip()
    bracketed = len(plain) > 2 and plain[0] + plain[-1] in ("()", "[]")
    if bracketed:
        plain = plain[1:-1].strip()
    signed = re.sub(r"^([-+])\s+(?=[0-9.\\])", r"\1", plain)
    fraction = _FRACTION.match(signed)
    if fraction is not None:
        return _quotient(fraction) if _only_unit(signed, fraction.end()) else None
    found = _NUMBER.match(signed)
    if found is None or (bracketed and _has_plain_commas(found)) or not _only_unit(signed, found.end()):
        return None
    return _decimal(_plain_form(found))


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
    marker, the last box, the last number of the text. Of ``15 * 3 = 45`` the result counts.

    Args:
        text: A reply or a reference solution.

    Returns:
        The number in the plain form of `last_number`.
    """
    reply = without_thinking(text)
    hashes = [found["rest"] for found in _HASH.finditer(reply)]
    for statement in (hashes[-1] if hashes else None, final_answer(reply), boxed(reply)):
        number = _stated(statement) if statement else None
        if number is not None:
            return number
    return last_number(reply)


def _stated(statement: str) -> str | None:
    box = boxed(statement)
    claim = re.split(r"\s\(", box or statement, maxsplit=1)[0]
    return first_number(claim.rpartition("=")[2]) or first_number(claim) or first_number(statement)


def _numbers(text: str) -> Iterator[str]:
    plain = text.translate(_PLAIN)
    for found in _NUMBER.finditer(plain):
        if _is_pair(plain, found):
            yield from found["whole"].split(",")
        else:
            yield _plain_form(found)


def _has_plain_commas(found: re.Match[str]) -> bool:
    grouped = found["grouped"]
    return grouped is not None and not found["currency"] and grouped.replace(",", "").isdecimal() and "," in grouped


def _is_pair(text: str, found: re.Match[str]) -> bool:
    if not _has_plain_commas(found):
        return False
    before = text[max(0, found.start() - 8) : found.start()].rstrip()
    after = text[found.end() : found.end() + 16].lstrip()
    return before.endswith(("(", "[", "\\{")) and after.startswith((")", "]", "\\right", "\\}"))


def _plain_form(found: re.Match[str]) -> str:
    sign = "-" if "-" in (found["sign"], found["inner"]) else ""
    digits = _NOT_DIGIT.sub("", found["whole"])
    exponent = found["exponent"] or found["braced"] or found["bare"]
    return f"{sign}{'0' if digits.startswith('.') else ''}{digits}{'e' + exponent if exponent else ''}"


def _only_unit(text: str, begin: int) -> bool:
    unit = _UNIT.match(text, begin)
    return unit is not None and unit.end() == len(text) and _MAGNITUDE.search(unit[0]) is None


def _quotient(fraction: re.Match[str]) -> Decimal | None:
    above = _decimal(fraction["a"] or fraction["a1"] or fraction["c"])
    below = _decimal(fraction["b"] or fraction["b1"] or fraction["d"])
    if above is None or not below:
        return None
    quotient = _QUOTIENT.divide(above, below)
    return _QUOTIENT.minus(quotient) if fraction["sign"] == "-" else quotient


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
