"""Attacks on memory, disk, output and time."""

from __future__ import annotations

from attack import BOUNDED, PLAIN, TIGHT, UNPROTECTED, Attack, Seen, not_shown, says_won

_HOLD = "\ntime.sleep(0.5)\nwon()\n"


def writes_all(seen: Seen) -> bool:
    """Whether more than the limit of its output was kept."""
    kept = max(len(seen.result.stdout), len(seen.result.stderr))
    return kept > seen.limits.output_bytes + 200


def kills_its_interpreter(seen: Seen) -> bool:
    """Whether the interpreter that it ran in was killed."""
    return seen.result.status in ("crashed", "out_of_memory")


def takes_the_next_along(seen: Seen) -> bool:
    """Whether the next program did not run."""
    return seen.after is None or seen.after.stdout != "next\n"


_NEXT = "print('next')"

RESOURCES = (
    Attack(
        "memory at once",
        "take more memory than it may, in one piece",
        "it is ended before it can use it",
        f"held = bytearray(b'x') * ({BOUNDED} << 20){_HOLD}",
        UNPROTECTED,
        says_won,
        limits=TIGHT,
    ),
    Attack(
        "memory of many",
        "take more memory than it may, a little in each of many processes",
        "it is ended before it can use it",
        """
for _ in range(10):
    if os.fork() == 0:
        held = bytearray(b"x") * (6 << 20)
        time.sleep(2)
        os._exit(0)
"""
        + _HOLD,
        UNPROTECTED,
        says_won,
        limits=TIGHT,
    ),
    Attack(
        "memory behind noise",
        "take more memory than it may while its supervisor is kept busy by signals and orphans",
        "it is ended before it can use it",
        f"""
for noisy in range(2):
    if os.fork() == 0:
        until = time.monotonic() + 1
        while time.monotonic() < until:
            if noisy: bait["sandboxed"] and tried(os.kill, os.getppid(), 15); continue
            child = tried(os.fork)
            if child == 0: tried(os.fork); os._exit(0)
            if child: tried(os.wait)
        os._exit(0)
held = bytearray(b'x') * ({BOUNDED} << 20)
"""
        + _HOLD,
        UNPROTECTED,
        says_won,
        limits=TIGHT,
    ),
    Attack(
        "shared memory",
        "take more memory than it may by sharing it",
        "it is ended before it can use it",
        f"import mmap\nheld = mmap.mmap(-1, {BOUNDED} << 20)\nheld.write(b'x' * 4096 * ({BOUNDED} << 8)){_HOLD}",
        UNPROTECTED,
        says_won,
        limits=TIGHT,
    ),
    Attack(
        "memory out of sight",
        "take more memory than it may where no process's count shows it: shared, then unmapped page by page",
        "it is ended before it can use it",
        f"""
import mmap
held = mmap.mmap(-1, {BOUNDED} << 20)
for at in range(0, len(held), 1 << 20):
    held[at : at + (1 << 20)] = b"x" * (1 << 20)
    held.madvise(mmap.MADV_DONTNEED)
"""
        + _HOLD,
        UNPROTECTED,
        says_won,
        limits=TIGHT,
    ),
    Attack(
        "memory from a device",
        "take more memory than it may by sharing pages of `/dev/zero`",
        "it cannot, or is ended before it can use it",
        f"""
import mmap
held = mmap.mmap(os.open("/dev/zero", os.O_RDWR), {BOUNDED} << 20)
for at in range(0, len(held), 1 << 20):
    held[at : at + (1 << 20)] = b"x" * (1 << 20)
    held.madvise(mmap.MADV_DONTNEED)
"""
        + _HOLD,
        UNPROTECTED,
        says_won,
        limits=TIGHT,
    ),
    Attack(
        "memory as files",
        "take more memory than it may in files that have no name",
        "it cannot, or is ended before it can use it",
        f"""
held = [os.memfd_create("held") for _ in range({BOUNDED // 4})]
for each in held: os.write(each, b"x" * (4 << 20))
"""
        + _HOLD,
        UNPROTECTED,
        says_won,
        limits=TIGHT,
    ),
    Attack(
        "fill the disk with a file",
        "write a file larger than the limit",
        "the file never is",
        f"""
with open("large", "wb") as file:
    for _ in range({BOUNDED}): file.write(b"x" * (1 << 20)); file.flush()
"""
        + _HOLD,
        UNPROTECTED,
        says_won,
    ),
    Attack(
        "fill the disk with files",
        "write more than the limit in many files, and to every folder that it may write to",
        "they never are",
        f"""
import tempfile
places = [place for place in (".", tempfile.gettempdir(), os.path.expanduser("~"))]
for n in range({BOUNDED // 4}):
    with open(os.path.join(places[n % len(places)], f"large{{n}}"), "wb") as file: file.write(b"x" * (4 << 20))
"""
        + _HOLD,
        UNPROTECTED,
        says_won,
    ),
    Attack(
        "fill the disk with what has no name",
        "write more than the limit into files that it has removed and keeps open",
        "they never are",
        f"""
held = []
for n in range({BOUNDED // 4}):
    held.append(open("large", "wb")); os.unlink("large"); held[-1].write(b"x" * (4 << 20)); held[-1].flush()
"""
        + _HOLD,
        UNPROTECTED,
        says_won,
        not_claimed={"landlock": "its folder is on this machine's disk, and looked through by name"},
    ),
    Attack(
        "fill shared memory",
        "write more than the limit into `/dev/shm`",
        "it never is there",
        f"""
places = [f"/dev/shm/{{bait['mark']}}{{n}}" for n in range({BOUNDED // 4})]
try:
    for place in places:
        with open(place, "wb") as file: file.write(b"x" * (4 << 20))
    won()
finally:
    for place in places: tried(os.unlink, place)
""",
        UNPROTECTED,
        says_won,
    ),
    Attack(
        "fill the disk with names",
        "make more files than a private disk has room for, all of them empty",
        "they never are",
        "for n in range(17000): os.close(os.open(f'n{n}', os.O_CREAT | os.O_WRONLY))\nwon()",
        PLAIN,
        says_won,
    ),
    Attack(
        "a hole",
        "make a file that looks larger than the limit",
        "it does not",
        "os.truncate(os.open('hole', os.O_CREAT | os.O_RDWR), 60 << 20)\nwon()",
        UNPROTECTED,
        says_won,
    ),
    Attack(
        "descriptors",
        "open more files than it may",
        "it cannot",
        "held = [os.dup(0) for _ in range(200)]\nwon()",
        UNPROTECTED,
        says_won,
    ),
    Attack(
        "output",
        "write more than anybody can keep",
        "no more than the limit is kept",
        f"for _ in range({BOUNDED}): os.write(1, b'x' * (1 << 20))",
        PLAIN,
        writes_all,
    ),
    Attack(
        "errors",
        "write more errors than anybody can keep",
        "no more than the limit is kept",
        f"for _ in range({BOUNDED}): os.write(2, b'x' * (1 << 20))",
        PLAIN,
        writes_all,
    ),
    Attack(
        "deep recursion",
        "end the interpreter by recursing in C until its stack is full",
        "the next program runs",
        """
sys.setrecursionlimit(10**9)
nested = None
for _ in range(100_000): nested = [nested]
repr(nested)
""",
        UNPROTECTED,
        takes_the_next_along,
        kills_its_interpreter,
        after=_NEXT,
    ),
    Attack(
        "deep source",
        "end the interpreter by source that it cannot compile",
        "the next program runs",
        "sys.setrecursionlimit(10**9)\nexec('-' * 1_000_000 + '1')",
        not_shown("interpreters of the newer versions refuse such source"),
        takes_the_next_along,
        after=_NEXT,
    ),
    Attack(
        "abort",
        "end the interpreter by a fault",
        "the next program runs",
        "ctypes.string_at(0)",
        UNPROTECTED,
        takes_the_next_along,
        kills_its_interpreter,
        after=_NEXT,
    ),
)
