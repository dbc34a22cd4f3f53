"""Every error Treadle raises, in one tree.

TreadleError
├── UserError               a mistake in what was asked; the command line exits with 2
│   ├── ConfigError         treadle.toml: file, key and remedy
│   ├── UnknownNameError    a workflow, task, model, scorer… that does not exist, with near matches
│   ├── DatasetError        a data file: path, line and remedy
│   ├── SandboxError        nothing here isolates programs, or what was asked for does not
│   ├── EndpointError       an endpoint that has never answered and cannot: key, address, model name
│   └── NotYetError         a name kept free for a later version
├── RunLimitError           the run's budget or clock ended it; the command line exits with 3
└── SampleFailure           one question failed; recorded as a value, never ends the run
    ├── ProviderError       class ``infra``: the provider or the machine is at fault
    │   ├── RateLimitError
    │   ├── ServerError
    │   ├── ConnectionFailedError
    │   │   └── UnreachableError
    │   ├── CallTimeoutError
    │   ├── RejectedError   400, 401, 403, 404: asking again would not help
    │   │   └── ContextLengthError
    │   └── QuotaError      the account has no credit left
    ├── FormatError         class ``format``: the reply could not be used
    │   └── PatchError      a patch that does not apply
    ├── CrashError          class ``crash``: the workflow's own code raised
    ├── SampleTimeoutError  class ``timeout``: the question's own time limit
    ├── TruncatedError      class ``truncated``: the reply was cut by its token limit
    └── SampleBudgetError   class ``budget``: the question's own cap of calls or dollars
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal

FailureClass = Literal["infra", "format", "crash", "timeout", "truncated", "budget"]
FAILURE_CLASSES: tuple[FailureClass, ...] = ("infra", "format", "crash", "timeout", "truncated", "budget")
_SHOWN = 8
"""How many names an error lists, when none is near."""


class Caution(UserWarning):
    """Something that works and will disappoint: said once, before anything is spent."""


class TreadleError(Exception):
    """The root of the tree; its text says what happened, where, and what to do."""


class UserError(TreadleError):
    """A mistake in what was asked: nothing is spent where it can be known before a call."""


class ConfigError(UserError):
    """Something in treadle.toml is wrong; the text names the file, the key and the remedy."""


class UnknownNameError(UserError):
    """A name that does not exist.

    Args:
        kind: What was named, such as ``"workflow"``.
        name: The name as it was written.
        known: The names that exist: close ones are suggested, or else the first few (of a set, in order) are listed.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = list(dict.fromkeys(known)) if isinstance(known, Sequence) else sorted(set(known))
        self.kind = kind
        self.name = name
        self.near = difflib.get_close_matches(name, names, n=3, cutoff=0.55)
        hint = f"did you mean {' or '.join(self.near)}?" if self.near else f"known: {_first(names)}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN + 1 else ""
    return (", ".join(names[:_SHOWN] if more else names) or "none") + more


class DatasetError(UserError):
    """A data file cannot be used; the text names the file, the line and the remedy."""


class SandboxError(UserError):
    """Nothing here isolates programs, or the sandbox that was named does not: says what was tried, and the remedy."""


class EndpointError(UserError):
    """An endpoint that has never answered in this session refuses for a reason that only its user can mend."""


class NotYetError(UserError):
    """A name that the contract keeps free for a later version."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is not yet there; `treadle --help` lists what this version does")


class RunLimitError(TreadleError):
    """The run's budget or clock ended it; everything paid for is kept.

    Args:
        unit: ``"usd"``, ``"calls"``, ``"tokens"`` or ``"seconds"``.
        message: What was reached, and the smallest budget that would do.
    """

    def __init__(self, unit: str, message: str) -> None:
        self.unit = unit
        super().__init__(message)


class SampleFailure(TreadleError):
    """One question failed; ``failure`` is its class in every report."""

    failure: ClassVar[FailureClass] = "crash"


class ProviderError(SampleFailure):
    """The provider or the machine is at fault.

    Args:
        message: What happened and what to do.
        status: HTTP status, where there was one.
        retry_after: Seconds the provider asked to wait, where it did.
    """

    failure = "infra"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, status: int | None = None, retry_after: float | None = None) -> None:
        self.status = status
        self.retry_after = retry_after
        super().__init__(message)


class RateLimitError(ProviderError):
    """429: too many requests or tokens for now."""

    retryable = True


class ServerError(ProviderError):
    """5xx, or a body that is not the protocol's."""

    retryable = True


class ConnectionFailedError(ProviderError):
    """A connection broke before the reply was there."""

    retryable = True


class UnreachableError(ConnectionFailedError):
    """No connection could be made at all."""


class CallTimeoutError(ProviderError):
    """The call's wall clock ran out, however much the server dripped."""

    retryable = True


class RejectedError(ProviderError):
    """400, 401, 403, 404, or a page instead of an API: asking again would not help."""


class ContextLengthError(RejectedError):
    """The prompt, with what the reply may take, is longer than the model's context."""


class QuotaError(ProviderError):
    """The account has no credit left: asking again would not help."""


class FormatError(SampleFailure):
    """The reply could not be used, after the stated repair."""

    failure = "format"


class PatchError(FormatError):
    """A patch that does not apply; the text says where."""


class CrashError(SampleFailure):
    """The workflow's own code, or a program it ran, raised."""

    failure = "crash"


class SampleTimeoutError(SampleFailure):
    """The question's own time limit ran out."""

    failure = "timeout"


class TruncatedError(SampleFailure):
    """The reply was cut by its token limit before an answer was there.

    Args:
        message: Which model, and the remedy.
        text: What had been written so far.
    """

    failure = "truncated"

    def __init__(self, message: str, text: str = "") -> None:
        self.text = text
        super().__init__(message)


class SampleBudgetError(SampleFailure):
    """The question's own cap of calls or dollars is spent."""

    failure = "budget"
