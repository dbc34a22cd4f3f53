r"""Numbers in running text, read to where they end: fractions, mixed numbers and magnitudes are part of them.

What goes on in a way that is not read (``2^{10}``, ``3:30``, ``1/2/2024``, ``2\pi``, ``\frac{x}{2}``, ``5M`` without a
currency) is a quantity without a value, so that its first digits are never taken for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal

LONGEST = 60
"""Digits of a number that a magnitude or a fraction may be joined to."""

_LETTERS: dict[str, str] = dict(zip("０１２３４５６７８９．，＋－−﹣％＄∶", "0123456789.,+---%$:", strict=True))
_VULGAR = {"½": " 1/2", "⅓": " 1/3", "⅔": " 2/3", "¼": " 1/4", "¾": " 3/4", "⅕": " 1/5", "⅖": " 2/5", "⅗": " 3/5",
           "⅘": " 4/5", "⅙": " 1/6", "⅚": " 5/6", "⅛": " 1/8", "⅜": " 3/8", "⅝": " 5/8", "⅞": " 7/8"}  # fmt: skip
_PLAIN = str.maketrans(_LETTERS | _VULGAR)
_SEPARATOR = r"(?:\{,\}|,\\!|\\[!,]|[,'_\u2009\u202f\u00a0])"
_GROUPED = rf"[1-9][0-9]{{0,2}}(?:{_SEPARATOR}[0-9]{{3}}){{1,12}}(?![0-9]|,[0-9])"
_SPACED = r"(?<![0-9][ ])[1-9][0-9]{0,2}(?:[ ][0-9]{3}){1,12}(?![0-9]|[ ,][0-9]|[ ]?[/\u2044])"
_POWER = r"[ ]?(?:\\times|\\cdot|[×·*x])[ ]?10[ ]?\^[ ]?(?:\{[ ]?(?P<braced>[-+]?[0-9]+)[ ]?\}|(?P<bare>[-+]?[0-9]+))"
_FRACTION = (
    r"\\[dtc]?frac(?![A-Za-z])[ ]?(?:\{[ ]?(?P<above>-?[0-9.]+)[ ]?\}|(?P<above1>[0-9]))"
    r"[ ]?(?:\{[ ]?(?P<below>-?[0-9.]+)[ ]?\}|(?P<below1>[0-9]))"
)
TERM = re.compile(
    rf"""(?P<minus>(?<![)\]}}%0-9A-Za-z])[-+][ ]?)?{_FRACTION}
    | (?P<unread>\\[dtc]?frac(?![A-Za-z])(?:[ ]?\{{[^{{}}]{{0,80}}\}}){{0,2}}
        | (?:\\sqrt(?![A-Za-z])|√)[ ]?(?:\{{[^{{}}]{{0,80}}\}}|[0-9]+)?)
    | (?<![A-Za-z0-9])(?<![A-Za-z0-9]_)
    (?P<sign>(?<![)\]}}%])[-+])?
    (?P<currency>\\?[$€£¥₹₩][ ]?)?
    (?P<inner>(?<=[$€£¥₹₩ ])[-+])?
    (?P<whole>(?:(?P<grouped>{_GROUPED}|{_SPACED})|[0-9]++)(?:\.[0-9]++)?|(?<!\.)\.[0-9]++)
    (?:[eE](?P<exponent>[-+]?[0-9]++)(?![A-Za-z])|{_POWER})?""",
    re.VERBOSE,
)
_NOT_DIGIT = re.compile(r"[^0-9.]")
_OVER = re.compile(r"[ ]?[/\u2044][ ]?(?P<below>[0-9]+(?:\.[0-9]+)?)")
_MIXED = re.compile(
    rf"[ ]?{_FRACTION}|[ ]{{1,2}}(?:and[ ])?(?P<above2>[0-9]{{1,9}})[ ]?[/\u2044][ ]?(?P<below2>[0-9]{{1,9}})"
)
_WORDS = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}
_WORD = re.compile(rf"(?:[ ~-]|\\[ ,;:]|\\text[ ]?\{{){{0,3}}(?P<word>{'|'.join(_WORDS)})s?(?![A-Za-z])", re.IGNORECASE)
_SUFFIX = re.compile(r"(?P<suffix>[kKmMbB]|bn|mn)(?![A-Za-z0-9])")
_SUFFIXES = {"k": 10**3, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9}
_GOES_ON = re.compile(
    r"""[ ]?\^(?![ ]?(?:\\circ|\{[ ]?\\circ|°)) | \*\*[0-9({] | [⁰¹²³⁴-⁹] | :[0-9] | [ ]:[ ][0-9] | [/\u2044.'][0-9]
    | [ ]?(?:\\(?:sqrt|pi|pm|mp|ln|log)(?![A-Za-z])|[√π±]) | [xyzn](?![A-Za-z0-9]) | _\{?[0-9]
    | (?:[KMBT]|bn|mn)(?![A-Za-z0-9]) | [ -]?(?:tenth|hundredth|thousandth|millionth|billionth)s?(?![A-Za-z])""",
    re.VERBOSE,
)
_PREFIXED = re.compile(r"(?:[±≤≥≠]|\\(?:pm|mp|leq?|geq?|neq?|ln|log)|!=|[A-Za-z0-9)}][ ]+[<>]=?)[ ]?[{$]?$")
_RAISED = re.compile(r"(?:\^|[0-9]\*\*|[A-Za-z0-9]_)[ ]?\{?[ ]?$")
_DENIED = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bneither|\bnor)[ ]+(?:(?:equal[ ]to|equal|be|exactly|the|number)[ ]+){0,2}[$(*\\]*$",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r"[ ]*(?:[*×·÷/+\u2044]|\\times|\\cdot|\\div|\\pm|±)?[ ]*|[ ]?[-–—][ ]?|[,:]|[ ]?[{}\[\]]+[ ]?|[^\s^]*\^[^\s^]*"
)
_CONTEXT = Context(prec=400)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text.

    Attributes:
        start: Where it begins, in characters of the text that `plain_digits` gives.
        end: Where it ends.
        plain: Digits, such as ``-1045.00``, ``3e5`` or ``3/4``; ``None`` where it goes on in a way that is not read.
        denied: Whether ``not`` or its like stands before it.
        joined: Whether it is the next part of a range, a list without spaces or a calculation.
    """

    start: int
    end: int
    plain: str | None
    denied: bool = False
    joined: bool = False


def plain_digits(text: str) -> str:
    """A text with full-width digits, minus signs and fraction characters written in ASCII.

    Args:
        text: Any text.
    """
    return text.translate(_PLAIN)


def quantities(text: str) -> Iterator[Quantity]:
    """Find the numbers of a text, in order; exponents and indices are part of what they stand at.

    Args:
        text: What `plain_digits` gives.
    """
    position, last = 0, -1
    while (found := TERM.search(text, position)) is not None:
        before = text[max(0, found.start() - 40) : found.start()]
        plain, position = read_term(text, found)
        if found["unread"] is None and _RAISED.search(before):
            continue
        joined = 0 <= last >= found.start() - 12 and _JOINT.fullmatch(text, last, found.start()) is not None
        denied = _DENIED.search(before) is not None
        if is_pair(text, found):
            first, second = (part for part in found["whole"].split(",", 1))
            yield Quantity(found.start(), position, first, denied, joined)
            yield from (Quantity(position, position, part, denied, True) for part in second.split(","))
        else:
            plain, position = _multiplied(text, found, plain, position)
            unread = _GOES_ON.match(text, position) is not None or _PREFIXED.search(before) is not None
            yield Quantity(found.start(), position, None if unread else plain, denied, joined)
        last = position


def read_term(text: str, found: re.Match[str]) -> tuple[str | None, int]:
    """The plain form of what `TERM` found, with the fraction that belongs to it, and where that ends.

    Args:
        text: The text it was found in.
        found: The match.
    """
    end = found.end()
    if found["unread"] is not None:
        return None, end
    if found["whole"] is None:
        sign = "-" if (found["minus"] or "").startswith("-") else ""
        return _ratio(sign, found["above"] or found["above1"], found["below"] or found["below1"]), end
    sign = "-" if "-" in (found["sign"], found["inner"]) else ""
    digits = _NOT_DIGIT.sub("", found["whole"])
    exponent = found["exponent"] or found["braced"] or found["bare"]
    if exponent is None:
        over = _OVER.match(text, end)
        if over is not None:
            return _ratio(sign, digits, over["below"]), over.end()
        mixed = _MIXED.match(text, end) if digits.isdecimal() and len(digits) <= LONGEST else None
        plain = _mixed(sign, digits, mixed) if mixed is not None else None
        if mixed is not None and plain is not None:
            return plain, mixed.end()
    return f"{sign}{'0' if digits.startswith('.') else ''}{digits}{'e' + exponent if exponent else ''}", end


def has_plain_commas(found: re.Match[str]) -> bool:
    """Whether a match of `TERM` is digits grouped by commas alone, which in brackets are a pair."""
    grouped = found["grouped"]
    return grouped is not None and not found["currency"] and grouped.replace(",", "").isdecimal() and "," in grouped


def is_pair(text: str, found: re.Match[str]) -> bool:
    """Whether a match of `TERM` stands alone in brackets, so that its commas part numbers."""
    if not has_plain_commas(found):
        return False
    before = text[max(0, found.start() - 8) : found.start()].rstrip()
    after = text[found.end() : found.end() + 16].lstrip()
    return before.endswith(("(", "[", "\\{")) and after.startswith((")", "]", "\\right", "\\}"))


def _ratio(sign: str, above: str, below: str) -> str | None:
    negative = (sign == "-") ^ above.startswith("-") ^ below.startswith("-")
    above, below = above.removeprefix("-"), below.removeprefix("-")
    readable = all(part.count(".") <= 1 and part != "." for part in (above, below)) and below.strip("0.")
    return f"{'-' if negative else ''}{above}/{below}" if readable else None


def _mixed(sign: str, whole: str, found: re.Match[str]) -> str | None:
    above = found["above"] or found["above1"] or found["above2"]
    below = found["below"] or found["below1"] or found["below2"]
    if not (above.isdecimal() and below.isdecimal() and len(above + below) <= LONGEST and int(above) < int(below)):
        return None
    return f"{sign}{int(whole) * int(below) + int(above)}/{int(below)}"


def _multiplied(text: str, found: re.Match[str], plain: str | None, end: int) -> tuple[str | None, int]:
    factor, after = 1, end
    while (word := _WORD.match(text, after)) is not None:
        factor, after = factor * _WORDS[word["word"].lower()], word.end()
    suffix = _SUFFIX.match(text, end) if factor == 1 else None
    if suffix is not None and (found["currency"] or suffix["suffix"] == "k"):
        factor, after = _SUFFIXES[suffix["suffix"].lower()], suffix.end()
    if factor == 1 or plain is None:
        return plain, after
    above, slash, below = plain.partition("/")
    if len(plain) > LONGEST or "e" in plain or factor > 10**LONGEST:
        return None, after
    product = _CONTEXT.multiply(Decimal(above), Decimal(factor))
    digits = str(int(product)) if product == product.to_integral_value() else f"{product:f}"
    return digits + slash + below, after
