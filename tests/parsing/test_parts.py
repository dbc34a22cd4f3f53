from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.parts import parts


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("<idea_1>\na\n</idea_1>\n<idea_2>b</idea_2>", ["a", "b"]),
        ("Here:\n<idea_1>a</idea_1> and <IDEA 2>b", ["a", "b"]),
        ("<idea_1>a <idea_2>b</idea_2>", ["a", "b"]),
        ("<idea_1>...</idea_1><idea_2>b</idea_2>", ["b"]),
        ("<idea_1>a</idea_1><idea_2>b</idea_2><idea_3>c</idea_3><idea_4>d</idea_4>", ["a", "b", "c"]),
        ("<think><idea_1>x</idea_1></think>just one", ["just one"]),
        ("", []),
        ("  ...  ", []),
    ],
)
def test_parts_are_read_between_their_tags(reply: str, found: list[str]) -> None:
    assert parts(reply, "idea", 3) == found


@given(st.lists(st.text(alphabet="ab c\n", min_size=1).filter(str.strip), min_size=1, max_size=5))
def test_whatever_was_written_between_tags_comes_back(texts: list[str]) -> None:
    reply = "\n".join(f"<idea_{number}>{text}</idea_{number}>" for number, text in enumerate(texts, 1))
    assert parts(reply, "idea", 9) == [text.strip() for text in texts]
