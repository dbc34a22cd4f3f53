from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.boxed import all_boxed, boxed


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("\\boxed{\\frac{3}{8}}", "\\frac{3}{8}"),
        ("\\boxed{\\{1,2\\}}", "\\{1,2\\}"),
        ("\\boxed{\\left\\{x\\right.}", "\\left\\{x\\right."),
        ("Hence \\fbox{12}.", "12"),
        ("so \\boxed 5 holds", "5"),
        ("so \\boxed 1,250.", "1,250"),
        ("\\boxed5", "5"),
        ("\\boxed \\frac{1}{2}!", "\\frac{1}{2}"),
        ("\\boxed {5}", "5"),
        ("we get \\boxed{9}. Check: fine, \\boxed{9}", "9"),
        ("roots \\boxed{2} and \\boxed{3}", "3"),
        ("\\boxed{x = \\fbox{3}}", "3"),
        ("\\boxed{7}, put in \\boxed{}", "7"),
        ("\\boxed{9", None),
        ("\\boxed{9} or rather \\boxed{1", None),
        ("\\boxed", None),
        ("\\boxedanswer{5}", None),
        ("no box", None),
    ],
)
def test_the_last_box_decides(reply: str, answer: str | None) -> None:
    assert boxed(reply) == answer


def test_different_fractions_stay_different() -> None:
    assert boxed("\\boxed{\\frac{3}{8}}") != boxed("\\boxed{\\frac{3}{5}}")


def test_all_boxes_in_order() -> None:
    assert all_boxed("\\boxed{2}, \\boxed{} and \\fbox{3}, \\boxed{4") == ["2", "3"]


def _braced(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(inner, max_size=3).map(lambda parts: "{" + "".join(parts) + "}")


LEAVES = st.sampled_from(["a", "1", "\\{", "\\}", "\\frac", " ", "\\\\", ","])
BALANCED = st.lists(st.recursive(LEAVES, lambda inner: st.one_of(inner, _braced(inner)), max_leaves=12), min_size=1)


@given(BALANCED.map("".join), st.sampled_from(["boxed", "fbox"]), st.text(alphabet="ab. {}", max_size=9))
def test_whatever_is_balanced_comes_out_whole(content: str, command: str, after: str) -> None:
    reply = f"So \\{command}{{{content}}}{after}"
    assert boxed(reply) == (content.strip() or None)


@given(BALANCED.map("".join))
def test_a_cut_box_is_no_answer(content: str) -> None:
    assert boxed(f"\\boxed{{{content}") is None
