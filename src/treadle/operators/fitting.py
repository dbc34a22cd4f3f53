"""What a model's context window takes of the candidates it should be shown."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.material import candidate_turns
from treadle.operators.player import Player
from treadle.operators.turns import Turns, again
from treadle.parsing.thinking import without_thinking

BYTES_PER_TOKEN = 3
"""Most texts have more bytes to a token; this errs on the side of a prompt that fits."""
TOKENS_PER_TURN = 8
"""What a chat template adds to a turn."""
CUT = "\n[… a part is left out here …]\n"
REASON = "the model's context window"


def tokens(turns: Turns) -> int:
    """An estimate on the safe side of the tokens of a prompt: bytes / 3, and 8 a turn.

    Args:
        turns: The prompt.
    """
    return sum(-(-_size(turn.content) // BYTES_PER_TOKEN) + TOKENS_PER_TURN for turn in turns)


def fit(
    problem: Problem,
    candidates: Sequence[Candidate],
    player: Player,
    run: Run,
    *,
    instruction: str,
    critiques: bool = True,
    share: float = 1.0,
) -> tuple[Candidate, ...]:
    """The first candidates, in their order, that the player's context window has room for; at least one.

    Their order is that of a ranker or a check before them, else that of the layer that wrote them. Where not even the
    first one fits, its critique is left out, then the middle of its text is cut out behind a mark. What is left out
    is noted; where nobody says how large the window is, all fit.

    Args:
        problem: The question; all its turns count.
        candidates: What should be shown.
        player: Whose window it is.
        run: Where it is noted.
        instruction: What is asked about the candidates.
        critiques: Whether their critiques are shown.
        share: The part of the room that the prompt may take, where more turns will follow it.
    """
    given = tuple(candidates)
    room = run.room(player.role, player.model, player.settings)
    if room is None or not given:
        return given
    room = int(room * share)

    def size(shown: tuple[Candidate, ...]) -> int:
        return tokens(candidate_turns(problem, shown, instruction, critiques=critiques))

    kept = max(1, bisect_right(range(1, len(given) + 1), room, key=lambda count: size(given[:count])))
    if kept < len(given):
        run.note("left out", candidates=[each.id for each in given[kept:]], reason=REASON, room=room)
    over = size(given[:kept]) - room
    if over <= 0:
        return given[:kept]
    lone = replace(given[0], critique=None)
    over = size((lone,)) - room
    if over > 0:
        lone = replace(lone, text=cut(lone.shown, over))
    run.note("cut", candidate=lone.id, critique=given[0].critique is not None, reason=REASON, room=room)
    return (lone,)


def squeeze(
    candidates: Sequence[Candidate], player: Player, run: Run, turns: Callable[[Sequence[Candidate]], Turns]
) -> tuple[Candidate, ...]:
    """All candidates, the longest texts without their middle where the player's context window has no room for them.

    Args:
        candidates: What must be shown together, such as both sides of a comparison.
        player: Whose window it is.
        run: Where it is noted.
        turns: The prompt that shows candidates.
    """
    given = tuple(candidates)
    room = run.room(player.role, player.model, player.settings)
    if room is None or tokens(turns(given)) <= room:
        return given

    def at_most(length: int) -> tuple[Candidate, ...]:
        """The candidates with no text longer than so many bytes."""
        return tuple(_no_longer(each, length) for each in given)

    longest = max(_size(each.shown) for each in given)
    length = bisect_right(range(longest), room, key=lambda length: tokens(turns(at_most(length)))) - 1
    run.note("cut", candidates=[each.id for each in given if _size(each.shown) > length], reason=REASON, room=room)
    return at_most(max(0, length))


def _no_longer(candidate: Candidate, length: int) -> Candidate:
    over = _size(candidate.shown) - length
    if over <= 0:
        return candidate
    return replace(candidate, text=cut(candidate.shown, -(-over // BYTES_PER_TOKEN)), critique=None)


def followed(turns: Turns, reply: str, words: str, player: Player, run: Run) -> Turns:
    """The turns with a reply (without its thoughts) and a further ask.

    The middle of a reply that the player's context window has no room for is cut out, and that is noted. Where the
    reply is empty, or not even the mark of the cut has room, the turns stay as they are: another draw of them is asked
    for then.

    Args:
        turns: What was asked.
        reply: What was said.
        words: What is asked now.
        player: Whose window it is.
        run: Where it is noted.
    """
    said = without_thinking(reply).strip()
    room = run.room(player.role, player.model, player.settings)
    over = 0 if room is None else tokens(again(turns, said, words)) - room
    if room is None or over <= 0 or not said:
        return again(turns, said, words)
    shorter = again(turns, cut(said, over), words)
    fits = tokens(shorter) <= room
    run.note("cut", reply="its middle" if fits else "all of it", reason=REASON, room=room)
    return shorter if fits else turns


def cut(text: str, over: int) -> str:
    """A text without its middle, in whose place a mark stands; what cannot be kept at all is but the mark.

    Args:
        text: A text.
        over: How many tokens it must be shorter, by the estimate of `tokens`.
    """
    written = text.encode("utf-8", "surrogatepass")
    kept = len(written) - over * BYTES_PER_TOKEN - _size(CUT)
    head = max(0, kept) // 2
    tail = max(0, kept) - head
    return written[:head].decode("utf-8", "ignore") + CUT + written[len(written) - tail :].decode("utf-8", "ignore")


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
