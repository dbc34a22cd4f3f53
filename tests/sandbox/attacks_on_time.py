"""Attacks on time: programs that never end, and cannot be told to."""

from __future__ import annotations

from attack import BRIEF, UNPROTECTED, Attack, outstays

TIME = (
    Attack(
        "deaf",
        "ignore every signal and go on",
        "it ends in time",
        """
import signal
for number in range(1, 65): tried(signal.signal, number, signal.SIG_IGN)
while True: pass
""",
        UNPROTECTED,
        outstays,
        limits=BRIEF,
    ),
    Attack(
        "asleep",
        "stop itself, so that it never ends",
        "it ends in time",
        "import signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        UNPROTECTED,
        outstays,
        limits=BRIEF,
    ),
    Attack(
        "closed streams",
        "look as if it had ended: close its streams and go on",
        "it ends in time",
        "os.closerange(0, 3)\nwhile True: time.sleep(9)",
        UNPROTECTED,
        outstays,
        limits=BRIEF,
    ),
    Attack(
        "output without end",
        "write to both streams without end",
        "it ends in time, and this process takes no more memory for it",
        "while True: os.write(1, b'x' * 65536); os.write(2, b'y' * 65536)",
        UNPROTECTED,
        outstays,
        lambda seen: seen.result.truncated and seen.result.status != "ok",
        limits=BRIEF,
    ),
    Attack(
        "huge number",
        "compute a number that is never done, where no signal of Python's is heard",
        "it ends in time",
        "10 ** 10 ** 8",
        UNPROTECTED,
        outstays,
        limits=BRIEF,
    ),
    Attack(
        "regular expression",
        "match a regular expression for ever",
        "it ends in time",
        "import re\nre.match('(a+)+b', 'a' * 60)",
        UNPROTECTED,
        outstays,
        limits=BRIEF,
    ),
    Attack(
        "busy children",
        "compute on, in a process whose parent has ended",
        "it ends in time, and no process of it is alive",
        "if os.fork(): os.wait()\nos.setsid()\nwhile True: pass",
        UNPROTECTED,
        outstays,
        limits=BRIEF,
    ),
)
