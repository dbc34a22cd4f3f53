"""Critique and rewriting."""

from __future__ import annotations

from typing import Any

import pytest

from treadle.errors import ProviderError
from treadle.ledger.problem import Problem
from treadle.models.base import Message, Request
from treadle.operators.candidate import Candidate
from treadle.operators.critique import critique, says_nothing_to_change
from treadle.operators.refine import refine
from treadle.testing.stage import stage

DRAFT = Candidate("0", "<think>hm</think>The sum is 5.")


@pytest.mark.parametrize(
    ("words", "content"),
    [
        ("NO CHANGES", True),
        ("**No changes.**", True),
        ("The sum is right, the form too.\n\nNO CHANGES", True),
        ("No changes are needed.", True),
        ("There are no errors; nothing is missing.\nNO CHANGES", True),
        ("It is not wrong.\nNO CHANGES", True),
        ("NO CHANGES\n\nActually the sum is wrong", False),
        ("NO CHANGES\n\nLovely work.", False),
        ("The sum must be 4.\nNO CHANGES", False),
        ("The sum is not right.\nNO CHANGES", False),
        ("Step 2 is wrong, and there is no proof.\n\n**NO CHANGES**", False),
        ("", False),
        ("NO CHANGES to the first part.\nThe sum must be 4.", False),
        ("The sum must be 4.\n- no changes\nSay why.", False),
        ("The sum must be 4.", False),
    ],
)
def test_a_critic_is_content_when_the_stated_word_ends_words_without_objection(words: str, content: bool) -> None:
    assert says_nothing_to_change(words) is content


async def test_a_critique_belongs_to_its_text_and_goes_when_the_text_does() -> None:
    def reply(request: Request) -> str:
        return "The sum must be 4." if request.model == "critic" else "The sum is 4."

    async with stage({"m": reply, "critic": reply}, roles={"critic": "critic"}) as here:
        reviewed = await critique(Problem("2+2?"), DRAFT, run=here.run)
        assert (reviewed.id, reviewed.text, reviewed.critique) == ("0", DRAFT.text, "The sum must be 4.")
        better = await refine(Problem("2+2?"), reviewed, run=here.run)
        assert (better.text, better.critique) == ("The sum is 4.", None)
        asked, rewritten = here.requests
        assert asked.messages[:2] == (Message("user", "2+2?"), Message("assistant", "The sum is 5."))
        assert "The sum must be 4." in rewritten.messages[-1].content
        assert (asked.model, rewritten.model) == ("critic", "m")


@pytest.mark.parametrize("said", ["", "<think>The sum", {"text": "", "finish_reason": "length"}])
async def test_a_critic_that_says_nothing_counts_as_content_and_is_noted(said: str | dict[str, Any]) -> None:
    async with stage(lambda _: said) as here:
        reviewed = await critique(Problem("?"), DRAFT, run=here.run)
        assert reviewed.critique is None
        assert len(here.notes("fallback")) == 1


@pytest.mark.parametrize("said", ["", "<think>x</think>", {"text": "The s", "finish_reason": "length"}])
async def test_a_rewriting_that_is_empty_or_cut_leaves_the_text_as_it_was(said: str | dict[str, Any]) -> None:
    async with stage(lambda _: said) as here:
        kept = await refine(Problem("?"), Candidate("0", "old", "It is old."), run=here.run)
        assert kept.text == "old"
        assert len(here.notes("fallback")) == 1


async def test_a_provider_that_fails_is_no_critique() -> None:
    def fails(_: Request) -> str:
        raise RuntimeError("down")

    async with stage(fails) as here:
        with pytest.raises(ProviderError):
            await critique(Problem("?"), DRAFT, run=here.run)
        with pytest.raises(ProviderError):
            await refine(Problem("?"), Candidate("0", "old", "bad"), run=here.run)
