from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.errors import UserError
from treadle.parsing.templates import Template


@given(st.text(), st.text())
def test_values_arrive_as_they_are(question: str, draft: str) -> None:
    template = Template("Q: {question}\nDraft {{1}}: {draft}\nAgain: {question}", fields=("question", "draft"))
    assert template.fill(question=question, draft=draft) == f"Q: {question}\nDraft {{1}}: {draft}\nAgain: {question}"


@pytest.mark.parametrize("value", ["Simplify \\frac{a}{b} for {a: 1}", "{x}", "{{", "}", "{question}", "%s {0}"])
def test_braces_in_questions_and_replies_are_text(value: str) -> None:
    reply = Template("{question}").fill(question=value)
    assert Template("Improve: {reply}").fill(reply=reply) == f"Improve: {value}"


@given(st.text())
def test_doubled_braces_are_literal(text: str) -> None:
    assert Template(text.replace("{", "{{").replace("}", "}}")).fill() == text


def test_fields_are_known_when_the_template_is_built() -> None:
    assert Template("{b} {a} {b}").fields == ("b", "a")
    assert Template("{a} {b}", fields=("b", "a")).fields == ("b", "a")
    assert Template("{a}") == Template("{a}", fields=("a",))


@pytest.mark.parametrize(
    ("text", "fields", "message"),
    [
        ("{question} {context}", ("question",), "names {context}, which nothing fills; it may use {question}"),
        ("hello", ("question",), "does not use {question}"),
        ("{oops} ", (), "names {oops}"),
        ("one\n{ two", None, "lone { in line 2"),
        ("a } b", None, "lone } in line 1"),
        ("{}", None, "lone { in line 1"),
        ("{a.b}", None, "lone { in line 1"),
        ("{a!r}", None, "lone { in line 1"),
    ],
)
def test_a_wrong_template_is_refused_at_once(text: str, fields: tuple[str, ...] | None, message: str) -> None:
    with pytest.raises(UserError) as refused:
        Template(text, fields)
    assert message in str(refused.value)


def test_missing_and_extra_values_are_errors() -> None:
    template = Template("{question}")
    with pytest.raises(TypeError, match="'question' is missing"):
        template.fill()
    with pytest.raises(TypeError, match="'draft' has no place"):
        template.fill(question="x", draft="y")
