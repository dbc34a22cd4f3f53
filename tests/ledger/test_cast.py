"""Who plays a role: what a command says wins over the file, and some roles stand for others."""

from __future__ import annotations

import pytest

from treadle.errors import UserError
from treadle.ledger.cast import Cast

FILE = {"strong": "big", "weak": "small"}


@pytest.mark.parametrize(
    ("cast", "file", "players"),
    [
        (Cast(), FILE, {"manager": "big", "worker": "small", None: "big"}),
        (Cast(("a", "b")), {}, {"manager": "a", "worker": "b", None: "a", "critic": "a"}),
        (Cast(("a", "b")), {"worker": "c"}, {"manager": "a", "worker": "c"}),
        (Cast((), {"worker": "c"}), FILE, {"manager": "big", "worker": "c", "weak": "small"}),
        (Cast((), {"manager": "m"}), {}, {"manager": "m", None: "m", "worker": "m"}),
        (Cast((), {"worker": "w"}), {}, {"worker": "w", None: "w"}),
        (Cast(), {"manager": "m", "worker": "w"}, {"manager": "m", "worker": "w", None: "m"}),
        (Cast(("a",), {"manager": "m", "worker": "w"}), FILE, {"manager": "m", "worker": "w", None: "a"}),
    ],
)
def test_who_manages_and_who_works(cast: Cast, file: dict[str, str], players: dict[str | None, str]) -> None:
    assert {role: cast.model(role, file, ("x", "y")) for role in players} == players


def test_a_judge_alone_answers_no_question() -> None:
    with pytest.raises(UserError, match="no model is given"):
        Cast((), {"judge": "j"}).model(None, {}, ("x", "y"))
