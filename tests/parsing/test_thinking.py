from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.thinking import without_thinking

TAGS = ("think", "thinking", "reasoning")


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("<{t}>it is 4</{t}>\n\n5", "5"),
        ("it is 4\n</{t}>\n5", "5"),
        ("5\n<{t}>or is it", "5"),
        ("<{t}>never closed", ""),
        ("<{t}>a</{t}>5 <{t}>b</{t}>apples", "5 apples"),
        ("<{t}>I write <{t}> here</{t}> and on</{t}>5", "5"),
        ("<{t} depth='2'>a</{t}>5", "5"),
    ],
)
def test_thoughts_go_however_they_are_marked(tag: str, reply: str, left: str) -> None:
    assert without_thinking(reply.format(t=tag)) == left
    assert without_thinking(reply.format(t=tag.upper())) == left


@given(st.text(alphabet=st.characters(exclude_characters="<"), max_size=200))
def test_a_reply_without_tags_is_left_alone(reply: str) -> None:
    assert without_thinking(reply) == reply


@given(
    st.text(alphabet=st.characters(exclude_characters="<"), max_size=50),
    st.text(alphabet=st.characters(exclude_characters="<"), max_size=50),
    st.sampled_from(TAGS),
)
def test_what_follows_a_thought_stays_whole(thought: str, answer: str, tag: str) -> None:
    assert without_thinking(f"<{tag}>{thought}</{tag}>{answer}") == answer.strip()
    assert without_thinking(f"{thought}</{tag}>{answer}") == answer.strip()
    assert without_thinking(f"{answer}<{tag}>{thought}") == answer.strip()


def test_other_tags_are_not_thoughts() -> None:
    assert without_thinking("<thinker>a</thinker> <b>5</b>") == "<thinker>a</thinker> <b>5</b>"
