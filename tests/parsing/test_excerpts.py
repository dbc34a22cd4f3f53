from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.excerpts import excerpt


@given(st.text(max_size=300), st.integers(1, 200), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_an_excerpt_keeps_both_ends_and_counts_what_is_missing(text: str, limit: int, head: float) -> None:
    shown = excerpt(text, limit, head)
    if len(text) <= limit:
        assert shown == text
        return
    first = int(limit * head)
    mark = f"[{len(text) - limit:,} characters left out]"
    assert shown.startswith(text[:first] or mark)
    assert shown.endswith(text[len(text) - (limit - first) :] if limit > first else mark)
    assert re.search(r"\[[\d,]+ characters left out\]", shown)
