"""No attack gets anything out of a sandbox, or hurts what comes after it; and each does where nothing stops it."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import resource
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from attack import HEAD, Attack, Seen, outstays, reached
from attacks import ATTACKS, tables
from attacks_on_resources import RESOURCES
from attacks_on_time import TIME
from canaries import KEY, Canaries, laid_out
from system_calls import MACHINES
from weakened import PARTS, in_one_interpreter, in_sandbox, plain, unprotected, weakened

from treadle.errors import SandboxError
from treadle.sandbox.base import MIB, Command, ExecResult, Limits, Program, Sandbox, Surroundings
from treadle.sandbox.bubblewrap import Bubblewrap
from treadle.sandbox.choose import open_sandbox
from treadle.sandbox.linux import LinuxSandbox
from treadle.sandbox.namespaces import Namespaces

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform != "linux", reason="these sandboxes are Linux's"),
    pytest.mark.skipif(platform.machine() not in MACHINES, reason=f"there is no filter for {platform.machine()}"),
]
ROOT = os.name == "posix" and os.geteuid() == 0
HOST_BYTES = 48 * MIB
PRISTINE = """
import atexit, builtins, gc, signal, threading
def listed(folder): return sorted(tried(os.listdir, folder) or ())
print(json.dumps({
    "environment": dict(os.environ), "name": os.uname().nodename, "argv": sys.argv[:1], "path": sys.path,
    "here": [os.getcwd(), *listed(".")], "files": [listed(f) for f in ("/tmp", "/dev/shm", os.path.expanduser("~"))],
    "builtins": sorted((k, str(type(v))) for k, v in vars(builtins).items()), "modules": sorted(sys.modules),
    "hooks": [len(sys.meta_path), len(gc.callbacks), atexit._ncallbacks(), str(sys.getprofile())],
    "signals": [str(tried(signal.getsignal, n)) for n in range(1, 65)], "threads": threading.active_count(),
    "open": [n for n in range(3, 256) if tried(os.fstat, n)], "mask": os.umask(0o22),
    "processes": sum(p.isdigit() for p in listed("/proc")),
}))
"""


def open_to_all(path: Path) -> bool:
    """Whether every user may read what lies there."""
    return all(parent.stat().st_mode & 0o001 for parent in path.parents)


BOXES = ("bubblewrap", "namespaces", "nsjail")
# Landlock has no box: root's work, which is another user's, needs an interpreter that everybody may read.
LANDLOCK = ("landlock",) if not ROOT or open_to_all(Path(sys.executable).resolve()) else ()
CASES = [
    *((kind, "program", attack) for kind in (*BOXES, *LANDLOCK) for attack in ATTACKS.values()),
    *((BOXES[0], "command", attack) for attack in ATTACKS.values() if attack not in TIME),
    *((kind, "command", attack) for kind in BOXES[1:] for attack in RESOURCES),
]
CLAIMED = [(kind, form, attack.name) for kind, form, attack in CASES if kind not in attack.not_claimed]


class Opened:
    """A sandbox under attack, and what a program that nothing was done to finds in it."""

    def __init__(self, sandbox: Sandbox, *, alone: bool) -> None:
        self.sandbox = sandbox
        self.alone = alone

    async def run(self, source: str, limits: Limits, surroundings: Surroundings, stdin: bytes = b"") -> ExecResult:
        work = Command((sys.executable, "-c", source)) if self.alone else Program(source)
        return await self.sandbox.execute(work, stdin=stdin, limits=limits, surroundings=surroundings)

    async def state(self) -> str:
        """What a program finds."""
        source = HEAD.format(bait=json.dumps({"mark": "pristine"})) + PRISTINE
        result = await self.run(source, Limits(), Surroundings())
        assert result.status == "ok", result
        private = json.loads(result.stdout)["environment"]["HOME"].removesuffix("/home")
        return result.stdout.replace(private, "private")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandboxes() -> AsyncGenerator[dict[str, Sandbox]]:
    """Every sandbox that was opened so far; cells stay warm from one attack to the next."""
    os.environ["TREADLE_CANARY_KEY"] = KEY
    sandboxes: dict[str, Sandbox] = {}
    yield sandboxes
    for sandbox in sandboxes.values():
        await sandbox.aclose()
    del os.environ["TREADLE_CANARY_KEY"]


@pytest_asyncio.fixture(loop_scope="module")
async def opened(kind: str, form: str, sandboxes: dict[str, Sandbox]) -> Opened:
    if kind not in sandboxes:
        try:
            sandboxes[kind] = await open_sandbox(kind)
        except SandboxError as error:
            pytest.skip(str(error))
    return Opened(sandboxes[kind], alone=form == "command")


def weak_kind() -> type[LinuxSandbox]:
    """A kind that can be had here, of which parts are left out."""
    try:
        Bubblewrap()
    except SandboxError:
        return Namespaces
    return Bubblewrap


async def attacked(opened: Opened, attack: Attack, canaries: Canaries) -> Seen:
    bait = canaries.bait(sandboxed=True)
    surroundings = Surroundings(folder=canaries.work) if attack.folder else Surroundings()
    if attack.before:
        stdin = canaries.secret.encode()
        before = await opened.run(attack.program(bait, attack.before), attack.limits, surroundings, stdin)
        assert before.stdout == f"{len(stdin)}\n"
    began = time.monotonic()
    result = await opened.run(attack.program(bait), attack.limits, surroundings)
    seconds = time.monotonic() - began
    after = None
    if attack.after:
        after = await opened.run(attack.program(bait, attack.after), attack.limits, surroundings)
    return Seen(result, after, seconds, canaries, attack.limits)


@pytest.mark.parametrize(("kind", "form", "name"), CLAIMED, ids=["-".join(case) for case in CLAIMED])
async def test_an_attack_fails(name: str, opened: Opened) -> None:
    attack = ATTACKS[name]
    with laid_out(victim=attack.victim) as canaries:
        pristine = "" if opened.alone else await opened.state()
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        seen = await attacked(opened, attack, canaries)
        assert not attack.won(seen), seen.result
        assert not reached(seen), seen.result
        assert not outstays(seen), seen.seconds
        assert not canaries.alive()
        assert seen.result.status != "refused", seen.result
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held < HOST_BYTES / 1024
        assert opened.alone or await opened.state() == pristine


async def succeeds(attack: Attack) -> bool:
    """Whether an attack has its effect where nothing stops it."""
    with laid_out(victim=attack.victim) as canaries:
        if attack.shown.how == "unprotected":
            seen = await unprotected(attack, canaries)
        elif attack.shown.how == "plain":
            seen = plain(attack, canaries)
        elif attack.shown.how == "one interpreter":
            seen = in_one_interpreter(attack, canaries)
        else:
            sandbox = weakened(weak_kind(), attack.shown.without)
            bait = canaries.bait(sandboxed=True)
            seen = await in_sandbox(sandbox, attack, canaries, attack.program(bait), attack.limits)
            await sandbox.aclose()
        return (attack.effect or attack.won)(seen)


SHOWN = [each for each in ATTACKS.values() if each.shown.how and (ROOT or not each.shown.root)]
ENDLESS = [each for each in SHOWN if each in TIME]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def endless() -> dict[str, bool]:
    """Those that take time and nothing else, all at once."""
    return dict(zip((each.name for each in ENDLESS), await asyncio.gather(*map(succeeds, ENDLESS)), strict=True))


@pytest.mark.parametrize("name", [each.name for each in ENDLESS])
async def test_an_attack_on_time_is_no_dud(name: str, endless: dict[str, bool]) -> None:
    assert endless[name]


@pytest.mark.parametrize("name", [each.name for each in SHOWN if each not in TIME])
async def test_an_attack_is_no_dud(name: str) -> None:
    assert await succeeds(ATTACKS[name])


async def test_every_attack_is_shown_or_says_why_not() -> None:
    assert len(ATTACKS) >= 40
    for attack in ATTACKS.values():
        assert bool(attack.shown.how) != bool(attack.shown.reason), attack.name
        assert bool(attack.shown.without) == (attack.shown.how == "without")
        assert set(attack.shown.without) <= set(PARTS)
    assert sum(not attack.shown.how for attack in ATTACKS.values()) <= 3
    assert sum(len(attack.not_claimed) for attack in ATTACKS.values()) <= 3


async def test_the_page_lists_the_attacks() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "sandbox-attacks.md"
    assert tables() in page.read_text(), "paste what `python tests/sandbox/attacks.py` prints into the page"
