"""Reading the verdicts of judges, managers and raters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from treadle.parsing.thinking import without_thinking

Judgement = Literal["A", "B", "tie"]

_MARKS = re.compile(r"[\s>#*_`~•–—+-]*(?:\(?[0-9]{1,3}[.)][\s*_`]+)?[*_`]*")
_TIE = r"tie|tied|draw|equal|equally[ ]good|neither|both"
_BRACKETED = re.compile(r"\[\[\s*(?P<one>[ABC]|tie|[AB]\s?(?:>>?|<<?|=)\s?[AB])\s*\]\]", re.IGNORECASE)
_WHO = r"(?:(?:assistant|response|answer|model|option|candidate|output)[ ]+)?"
_LABELLED = re.compile(
    rf"(?:^|(?<=[\s*_#]))(?i:(?:final[ ]|overall[ ]|my[ ]|the[ ]){{0,3}}"
    rf"(?:winner|verdict|judge?ment|decision|preferred|better)(?:[ ](?:answer|response|assistant|model|one))?)"
    rf"[*_\s]{{0,3}}(?::|(?i:is(?![a-z])):?)[*_\s]{{0,4}}"
    rf"(?:(?i:(?:an?[ ])?(?P<tie>{_TIE}))|(?i:{_WHO})[\[(*]{{0,3}}(?P<one>[AB]))(?![A-Za-z'’])",
    re.MULTILINE,
)
_SENTENCE = re.compile(
    r"\b(?i:assistant|response|answer|model|option|candidate)[ ]+(?P<one>[AB])[ ]+"
    r"(?i:wins|(?:is|was)[ ](?:the[ ])?(?:clearly[ ]|slightly[ ]|much[ ])?(?:better|best|winner|stronger|preferred))\b"
)
_BARE = re.compile(rf"[\s*_`\"'([]*(?:(?P<tie>(?i:{_TIE}))|(?P<one>[ABC]))[\s*_`\"')\].!]*")
_RATED = re.compile(
    r"\[\[\s*(?P<bracketed>[-+]?[0-9]+(?:\.[0-9]+)?)\s*(?:/\s*(?P<of1>[0-9]+))?\s*\]\]"
    r"|(?<![A-Za-z])(?i:rating|score|grade)s?[*_ ]{0,4}(?:\([^()\n]{0,40}\))?[*_ ]{0,4}"
    r"(?::|=|(?i:is|of)(?![A-Za-z]))[*_\s]{0,4}"
    r"(?P<labelled>[-+]?[0-9]+(?:\.[0-9]+)?)(?![0-9]|\.[0-9]|[ ]?[–-][ ]?[0-9])[*_]{0,3}"
    r"(?:[ ]?(?:/|(?i:out[ ]of))[ ]?(?P<of2>[0-9]+))?"
)
_RIGHTNESS = r"(?P<deny>not[ ])?(?:(?P<right>correct|right)|incorrect|wrong|false)(?![\w-])"
_CORRECTNESS = re.compile(
    rf"^[ \t>#*_`~•+-]*+(?:(?:final|overall|my|the)[ ]){{0,3}}+verdict[*_` ]*+(?::|=|is[ ])[ \t*_`\[(\"']*+{_RIGHTNESS}"
    r"[*_`\])\"' \t]*+(?=$|[.,;:!(–—-]|because\b|since\b)",
    re.IGNORECASE | re.MULTILINE,
)
_ONLY_CORRECTNESS = re.compile(rf"[\s*_`\[(\"']*+{_RIGHTNESS}[\s*_`\])\"'.!]*", re.IGNORECASE)
_NUMBER_ONLY = re.compile(r"[\s*_`]*(?P<number>[-+]?[0-9]+(?:\.[0-9]+)?)[\s*_`]*(?:/[\s*]*(?P<of>[0-9]+))?[\s*_`.]*")


def verdict(text: str, words: Sequence[str]) -> str | None:
    """Find the first line that begins with one of some words.

    Thoughts are taken out first; list, quote, bold and heading marks and numbering before the word are ignored. A word
    counts as it is written in ``words``; in other letter case only where the line ends or a colon follows. A line that
    offers the words (``APPROVE or REVISE``, ``APPROVE/REVISE``) is none.

    Args:
        text: A reply.
        words: The words that count, such as ``("APPROVE", "REVISE")``.

    Returns:
        The word as it stands in ``words``.
    """
    for line in without_thinking(text).split("\n"):
        marks = _MARKS.match(line)
        body = line[marks.end() :] if marks else line
        for word in words:
            if _begins(body, word) and not _offers(body[len(word) :], words):
                return word
    return None


def judgement(text: str) -> Judgement | None:
    """Read which of two answers a judge prefers.

    Thoughts are taken out first. ``[[A]]``, ``[[B]]``, ``[[C]]`` (a tie), ``[[A>>B]]`` and the like, ``Winner: A``,
    ``Verdict: tie``; where none of these stands, ``Response A is better``; else a reply that is nothing but the letter
    or ``tie``.

    Args:
        text: A judge's reply.

    Returns:
        None where nothing is said, or different things are.
    """
    reply = without_thinking(text)
    said = {_bracket(found["one"]) for found in _BRACKETED.finditer(reply)}
    said |= {_said(found) for found in _LABELLED.finditer(reply)}
    if not said:
        said = {_bracket(found["one"]) for found in _SENTENCE.finditer(reply)}
    if not said:
        bare = _BARE.fullmatch(reply)
        said = {_said(bare)} if bare else set[str]()
    match said.pop() if len(said) == 1 else None:
        case "A":
            return "A"
        case "B":
            return "B"
        case "tie":
            return "tie"
        case _:
            return None


def correctness(text: str) -> bool | None:
    """Read whether a verifier finds an answer correct.

    Thoughts are taken out first. The last line that begins with ``Verdict: correct`` or ``Verdict: incorrect`` (marks
    ignored; ``right``, ``wrong`` and ``not correct`` are understood) counts; where there is none, a last line that is
    nothing but the word. What is neither (``partly correct``) or offers both is no verdict.

    Args:
        text: A verifier's reply.
    """
    reply = without_thinking(text).strip()
    said = [*_CORRECTNESS.finditer(reply)] or [_ONLY_CORRECTNESS.fullmatch(reply[reply.rfind("\n") + 1 :])]
    last = said[-1]
    return None if last is None else (last["right"] is None) == (last["deny"] is not None)


def rating(text: str, low: float, high: float) -> float | None:
    """Read the mark that a rater gives.

    Thoughts are taken out first. ``[[7]]``, ``Rating: 7``, ``Score (1-10): 7/10``, ``7 out of 10`` after such a word,
    or a reply that is nothing but the number. The last one counts, also when it is unusable.

    Args:
        text: A rater's reply.
        low: The lowest mark.
        high: The highest mark.

    Returns:
        None where there is no mark, it lies outside ``low`` to ``high``, or is given out of something else than
        ``high``.
    """
    reply = without_thinking(text)
    marks = list(_RATED.finditer(reply))
    if marks:
        last = marks[-1]
        number, scale = last["bracketed"] or last["labelled"], last["of1"] or last["of2"]
    else:
        bare = _NUMBER_ONLY.fullmatch(reply)
        if bare is None:
            return None
        number, scale = bare["number"], bare["of"]
    mark = float(number)
    if (scale is not None and float(scale) != high) or not low <= mark <= high:
        return None
    return mark


def _begins(line: str, word: str) -> bool:
    after = line[len(word) :]
    if word and word[-1].isalnum() and after[:1] and (after[0].isalnum() or after[0] in "_-'’"):
        return False
    if line.startswith(word):
        return True
    return line[: len(word)].casefold() == word.casefold() and re.match(r"[*_`]*\s*(?:[:.!]|$)", after) is not None


def _offers(after: str, words: Sequence[str]) -> bool:
    offered = re.match(r"[*_`]*(?:\s*[/|]\s*|\s*,?\s+or\s+)[*_`]*", after)
    return offered is not None and any(_begins(after[offered.end() :], word) for word in words)


def _said(found: re.Match[str]) -> str:
    return "tie" if found["tie"] else _bracket(found["one"])


def _bracket(said: str) -> str:
    said = "".join(said.upper().split())
    if said in ("A", "B"):
        return said
    if len(said) < 3 or said == "TIE" or "=" in said:
        return "tie"
    if said[0] == said[-1]:
        return "?"
    return said[0] if ">" in said else said[-1]
