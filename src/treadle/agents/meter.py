"""What an assignment took so far, held against its limits."""

from __future__ import annotations

from dataclasses import dataclass

from treadle.agents.base import EndedBy, WorkLimits
from treadle.errors import UserError
from treadle.models.base import Completion


@dataclass(slots=True)
class Meter:
    """Counts of one assignment; every reply counts, also one that cannot be used.

    Attributes:
        limits: What it may take.
        steps: Replies.
        tokens: Input and output.
        usd: Dollars.
        seconds: Latencies and commands.
        format_errors: Replies in a row that could not be used.
    """

    limits: WorkLimits
    steps: int = 0
    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0
    format_errors: int = 0
    _largest_tokens: int = 0
    _largest_usd: float = 0.0

    def reply(self, completion: Completion) -> None:
        """Count a reply.

        Raises:
            UserError: Dollars are limited, and the model has no price.
        """
        tokens = completion.usage.total if completion.usage else 0
        if self.limits.usd is not None and completion.usd is None:
            raise UserError("a worker's limit in dollars needs a price: give its model one, or limit tokens instead")
        usd = completion.usd or 0.0
        self.steps += 1
        self.tokens += tokens
        self.usd += usd
        self.seconds += completion.seconds
        self._largest_tokens, self._largest_usd = max(self._largest_tokens, tokens), max(self._largest_usd, usd)

    def reached(self) -> tuple[EndedBy, str] | None:
        """The limit that allows no further step, and the words for it.

        Tokens and dollars count as reached when one more step as large as the largest so far would be beyond.
        """
        limits = self.limits
        if self.format_errors >= limits.format_errors:
            return "format", f"{self.format_errors} replies in a row could not be used"
        if self.steps >= limits.steps:
            return "steps", f"{self.steps} steps are done"
        if limits.tokens is not None and self.tokens + self._largest_tokens > limits.tokens:
            return "tokens", f"{self.tokens} of {limits.tokens} tokens are spent, and one more step may need more"
        if limits.usd is not None and self.usd + self._largest_usd > limits.usd:
            return "usd", f"${self.usd:g} of ${limits.usd:g} are spent, and one more step may need more"
        return self.late()

    def late(self) -> tuple[EndedBy, str] | None:
        """The limit of time, where it is reached: the only one that actions reach, and not replies alone."""
        if self.limits.seconds is not None and self.seconds >= self.limits.seconds:
            return "seconds", f"{self.seconds:.0f} of {self.limits.seconds:g} s are over"
        return None
