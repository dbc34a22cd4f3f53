"""When to ask again, and how long to wait: the provider's word first, full jitter otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from treadle.errors import ProviderError, UnreachableError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently a failed call is made again.

    ``attempts`` counts the first one; waits are drawn from 0 to ``base_s``·2ⁿ and never exceed ``cap_s`` unless the
    provider asked for more; a provider that asks for more than ``patience_s`` is not waited for. An endpoint that has
    never answered gets ``first_contact_attempts`` when it cannot even be connected to.
    """

    attempts: int = 6
    base_s: float = 0.5
    cap_s: float = 30.0
    patience_s: float = 300.0
    first_contact_attempts: int = 2

    def wait(self, error: ProviderError, attempt: int, answered: bool, rng: Random) -> float | None:
        """Seconds to wait before the next attempt, or ``None`` when there is to be none.

        Args:
            error: What the attempt that just failed ended with.
            attempt: Its number, from 1.
            answered: Whether this endpoint has answered before.
            rng: Source of the jitter.
        """
        allowed = self.attempts
        if isinstance(error, UnreachableError) and not answered:
            allowed = min(allowed, self.first_contact_attempts)
        if not error.retryable or attempt >= allowed:
            return None
        if error.retry_after:
            return error.retry_after if error.retry_after <= self.patience_s else None
        return rng.uniform(0, min(self.cap_s, self.base_s * 2 ** (attempt - 1)))
