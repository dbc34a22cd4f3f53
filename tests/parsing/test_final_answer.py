from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.final_answer import final_answer, statements


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Answer: x", "x"),
        ("ANSWER: x", "x"),
        ("**Answer**: x", "x"),
        ("**Answer: x**", "x"),
        ("**Final Answer:** x", "x"),
        ("The answer is x", "x"),
        ("So the answer is: **5** dollars", "5 dollars"),
        ("The final answer would be x", "x"),
        ("The correct answer to the question is: Paris", "Paris"),
        ("Answer (in km): 5", "5"),
        ("The answers are 2 and 3", "2 and 3"),
        ("Final result: 7", "7"),
        ("### Answer\n\n- 5\n", "5"),
        ("Answer:\n$$\n\\boxed{5}\n$$", "\\boxed{5}"),
        ("Answer:\n```\nx\n```", "x"),
        ("<answer>\n5\n</answer> done", "5"),
        ("<answer>The answer is 5</answer>", "5"),
        ("work\n#### 45", "45"),
        ("Final Answer: The final answer is $5$. I hope it is correct.", "$5$."),
        ("Answer: 1\nno, wait\nAnswer: 2", "2"),
        ("#### Step 3\nadd\nAnswer: (B)\n#### Explanation\nbecause", "(B)"),
        ("The answer is not 5", None),
        ("Answer:", None),
        ("the answers vary", None),
        ("", None),
    ],
)
def test_the_last_statement_counts(reply: str, answer: str | None) -> None:
    assert final_answer(reply) == answer


def test_statements_come_in_order_with_their_places() -> None:
    reply = "The answer is 1. Then\nAnswer: 2"
    found = statements(reply)
    assert [statement.text for statement in found] == ["1. Then", "2"]
    assert [reply[statement.start :][:10].casefold() for statement in found] == ["the answer", "answer: 2"]


WORDS = st.text(alphabet="bcdfgh 123", min_size=1, max_size=20).filter(lambda text: text.strip() != "")


@given(WORDS, WORDS, st.sampled_from(["Answer: {}", "**Answer:** {}", "The answer is {}", "Answer:\n\n{}", "#### 1{}"]))
def test_any_answer_is_read_from_any_marker(before: str, answer: str, form: str) -> None:
    expected = ("1" if "####" in form else "") + answer.rstrip() if "####" in form else answer.strip()
    assert final_answer(f"{before}\n{form.format(answer)}\n") == expected
