"""What an attack on a sandbox is: a program, its goal, how its success is seen from outside, how it is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from canaries import KEY, Canaries

from treadle.sandbox.base import MIB, ExecResult, Limits

USUAL = Limits(seconds=3, memory=128 * MIB, processes=16, file_bytes=16 * MIB, open_files=64, output_bytes=16 * 1024)
BRIEF = replace(USUAL, seconds=0.3)
TIGHT = replace(USUAL, memory=48 * MIB)
BOUNDED = 60
"""MiB that an attack takes at most, so that it can be shown where nothing stops it."""

HEAD = """\
import ctypes, json, os, sys, time
bait = json.loads({bait!r})
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.prctl(15, bait["mark"].encode(), 0, 0, 0)
def won(): print("won", flush=True)
def tried(act, *arguments):
    try: return act(*arguments)
    except Exception: return None
def call(name, *arguments):
    return libc.syscall(bait["calls"][name], *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
"""
"""Every program begins with this; its name, that of all its forks and threads, is the mark of the canaries."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What is seen from outside once an attack is over: its result, the next program's, and the canaries."""

    result: ExecResult
    after: ExecResult | None
    seconds: float
    canaries: Canaries
    limits: Limits

    @property
    def texts(self) -> str:
        """Everything that either program wrote."""
        later = self.after.stdout + self.after.stderr if self.after else ""
        return self.result.stdout + self.result.stderr + later


@dataclass(frozen=True, slots=True)
class Shown:
    """How an attack is shown to succeed where nothing stops it.

    Attributes:
        how: ``unprotected``: in the sandbox called none. ``plain``: started as any program is, by somebody who takes
            no care. ``one interpreter``: run by ``exec`` in one interpreter with what came before and what comes
            next. ``without``: in a sandbox without some parts. Empty: it is not shown.
        without: The parts left out.
        root: Whether only root can show it.
        reason: Why it is not shown, or to root only.
    """

    how: str = ""
    without: tuple[str, ...] = ()
    root: bool = False
    reason: str = ""

    def words(self) -> str:
        """For the page."""
        if not self.how:
            return f"not shown: {self.reason}"
        by_root = ", by root" if self.root else ""
        if self.how == "without":
            return f"in a sandbox without {' and '.join(self.without)}{by_root}"
        return {"unprotected": "unprotected", "plain": "as a plain process", "one interpreter": "in one interpreter"}[
            self.how
        ] + by_root


UNPROTECTED = Shown("unprotected")
PLAIN = Shown("plain")
ONE_INTERPRETER = Shown("one interpreter")


def without(*parts: str, root: bool = False) -> Shown:
    """Shown in a sandbox without some parts; see `weakened.PARTS`."""
    return Shown("without", parts, root)


def by_root(how: str) -> Shown:
    """Shown by root only."""
    return Shown(how, root=True)


def not_shown(reason: str) -> Shown:
    """Not shown."""
    return Shown(reason=reason)


def reached(seen: Seen) -> bool:
    """Whether any canary was touched."""
    return seen.canaries.touched() or seen.canaries.secret in seen.texts or KEY in seen.texts


def says_won(seen: Seen) -> bool:
    """Whether a canary was touched, or a program says that it got what it wanted; it has no reason to deny it."""
    return reached(seen) or "won\n" in seen.texts


def outstays(seen: Seen) -> bool:
    """Whether it took longer than it may, with a second's grace."""
    return seen.seconds > seen.limits.seconds + 1


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack.

    Attributes:
        name: Its name.
        goal: What the program wants.
        observed: What has to be observed from outside, in words.
        source: The program, after `HEAD`.
        shown: How it is shown to be no dud.
        won: Whether it succeeded.
        effect: What is seen where nothing stops it, where that is not ``won``.
        before: A program that runs before it and has the secret.
        after: The next program, which must find nothing of it.
        limits: What it may take.
        victim: Whether a process of this user's holds the secret meanwhile.
        folder: Whether it gets a folder of this machine to work in.
        not_claimed: Sandboxes that do not claim to stop it, with the reason.
    """

    name: str
    goal: str
    observed: str
    source: str
    shown: Shown
    won: Callable[[Seen], bool] = reached
    effect: Callable[[Seen], bool] | None = None
    before: str = ""
    after: str = ""
    limits: Limits = USUAL
    victim: bool = False
    folder: bool = False
    not_claimed: dict[str, str] = field(default_factory=dict[str, str])

    def program(self, bait: dict[str, Any], source: str | None = None) -> str:
        """The whole text of the program, or of another that knows the same."""
        return HEAD.format(bait=json.dumps(bait)) + (self.source if source is None else source)
