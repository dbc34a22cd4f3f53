"""Attacks on other processes, on whoever watches, and on the end that every program has to have."""

from __future__ import annotations

import re

from attack import PLAIN, UNPROTECTED, Attack, Seen, reached, says_won, without

VISIBLE = """
processes = [str(bait["victim"])]
if bait["sandboxed"]:
    processes += [p for p in tried(os.listdir, "/proc") or () if p.isdigit() and int(p) != os.getpid()]
    processes += [str(p) for p in (1, os.getppid()) if p]
"""
"""Where nothing protects the rest of this machine, it is the victim alone."""


def survives(seen: Seen) -> bool:
    """Whether a process of it is alive."""
    return reached(seen) or bool(seen.canaries.alive())


def holds_on(seen: Seen) -> bool:
    """Whether a process of it is alive, or was waited for."""
    return survives(seen) or seen.seconds > 2


def ends_otherwise(seen: Seen) -> bool:
    """Whether its end is reported as another than the one it had: exit code 7."""
    return reached(seen) or (seen.result.status, seen.result.exit_code) != ("failed", 7)


def counted(seen: Seen) -> int:
    """The highest number that it printed on a line of its own."""
    return max((int(line) for line in re.findall(r"^\d+$", seen.result.stdout, re.MULTILINE)), default=0)


def too_many(seen: Seen) -> bool:
    """Whether it had more processes or threads at one time than it may."""
    return counted(seen) > seen.limits.processes


def is_over(seen: Seen) -> bool:
    """Whether the parent was ended."""
    return seen.result.status == "crashed"


PROCESSES = (
    Attack(
        "own environment",
        "find keys in its own environment",
        "the secret of this process's environment is in no output",
        "print(dict(os.environ), open('/proc/self/environ').read())",
        PLAIN,
    ),
    Attack(
        "others' environment",
        "find keys in the environments of other processes",
        "the secret of a process's environment is in no output",
        VISIBLE + "for p in processes: print(tried(lambda: open(f'/proc/{p}/environ').read()))",
        UNPROTECTED,
        victim=True,
    ),
    Attack(
        "others' files",
        "read files that other processes have open",
        "the secret of an open file is in no output",
        VISIBLE
        + """
for p in processes:
    for number in range(32):
        print(tried(lambda: os.pread(os.open(f"/proc/{p}/fd/{number}", os.O_RDONLY | os.O_NONBLOCK), 99, 0)))
""",
        UNPROTECTED,
        victim=True,
    ),
    Attack(
        "others' memory by /proc",
        "read another process's memory from `/proc`",
        "the secret of a process's memory is in no output",
        VISIBLE
        + """
for p in processes:
    print(tried(lambda: os.pread(os.open(f"/proc/{p}/mem", os.O_RDONLY), 99, bait["address"])))
    if int(p) != bait["victim"] and tried(os.open, f"/proc/{p}/mem", os.O_RDONLY): won()
""",
        UNPROTECTED,
        says_won,
        victim=True,
    ),
    Attack(
        "others' memory by a call",
        "read another process's memory by `process_vm_readv`",
        "the secret of a process's memory is in no output",
        VISIBLE
        + """
class Part(ctypes.Structure): _fields_ = [("start", ctypes.c_void_p), ("size", ctypes.c_size_t)]
held = ctypes.create_string_buffer(99)
mine, theirs = Part(ctypes.addressof(held), 64), Part(bait["address"], 40)
for p in processes:
    call("process_vm_readv", int(p), ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
print(held.value)
""",
        UNPROTECTED,
        victim=True,
    ),
    Attack(
        "ptrace",
        "attach to another process as a debugger",
        "no process stops or ends, and the program does not say that it could",
        VISIBLE
        + """
for p in processes:
    if call("ptrace", 16, int(p), 0, 0) == 0: won()
""",
        UNPROTECTED,
        says_won,
        victim=True,
    ),
    Attack(
        "signals",
        "end or stop another process",
        "the process lives and runs",
        "import signal\n" + VISIBLE + "for p in processes[::-1]: tried(os.kill, int(p), signal.SIGKILL)",
        PLAIN,
        victim=True,
    ),
    Attack(
        "signals to everybody",
        "end every process that it may signal, its supervisor first",
        "its own end is reported as it was; the next program runs",
        """
import signal
if not bait["sandboxed"] or tried(os.readlink, "/proc/self/ns/pid") == bait["processes"]: os._exit(7)
for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
    for p in (os.getppid(), 1, -1): p and tried(os.kill, p, number)
os._exit(7)
""",
        without("a process namespace of its own", "a user of its own", "the loss of capabilities"),
        ends_otherwise,
    ),
    Attack(
        "signals to the parent",
        "end the process that started it",
        "its own end is reported as it was; the next program runs",
        """
import signal, subprocess
if bait["sandboxed"]:
    os.getppid() and tried(os.kill, os.getppid(), signal.SIGKILL)
    os._exit(7)
subprocess.run([sys.executable, "-c", "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"])
""",
        PLAIN,
        ends_otherwise,
        is_over,
    ),
    Attack(
        "seem to be stopped",
        "tell its supervisor to stop it, in somebody else's name, so that it was never graded",
        "its end is reported as it was",
        """
import signal
told = ctypes.create_string_buffer(128)
ctypes.c_int.from_buffer(told, 0).value, ctypes.c_int.from_buffer(told, 8).value = signal.SIGTERM, -1
for p in (1, os.getppid()) if bait["sandboxed"] else ():
    if p:
        libc.syscall({"x86_64": 129, "aarch64": 138}[os.uname().machine], p, signal.SIGTERM, told)
        tried(os.kill, p, signal.SIGTERM)
time.sleep(0.1)
os._exit(7)
""",
        without("the look at who sent a signal", "a user of its own", "the loss of capabilities"),
        ends_otherwise,
    ),
    Attack(
        "false report",
        "write a report of success to every descriptor",
        "its end is reported as it was",
        """
for number in range(3, 256):
    tried(os.write, number, b'{"exit": 0, "signal": null, "cause": "", "seconds": 0.0, "peak": 0}')
os._exit(7)
""",
        without("closed descriptors"),
        ends_otherwise,
    ),
    Attack(
        "fork bomb",
        "start processes without end",
        "there are never more than the limit",
        """
count = 0
while count < 48:
    try: child = os.fork()
    except OSError: break
    if child == 0: time.sleep(2); os._exit(0)
    count += 1
    print(count, flush=True)
os._exit(7)
""",
        UNPROTECTED,
        too_many,
    ),
    Attack(
        "fork bomb of forks",
        "start processes that start processes",
        "there are never more than the limit",
        """
for _ in range(5):
    tried(os.fork)
os.write(1, b"here\\n")
time.sleep(0.5)
""",
        UNPROTECTED,
        lambda seen: seen.result.stdout.count("\n") > seen.limits.processes,
    ),
    Attack(
        "threads",
        "start threads without end",
        "there are never more than the limit",
        """
import threading
ended = threading.Event()
try:
    for count in range(1, 49):
        threading.Thread(target=ended.wait, daemon=True).start()
        print(count, flush=True)
finally:
    os._exit(7)
""",
        UNPROTECTED,
        too_many,
    ),
    Attack(
        "daemon",
        "leave a process of a session of its own behind that holds the output open",
        "nobody waits for it, and no process of it is alive",
        """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(2.5)
    os._exit(0)
time.sleep(0.1)
os.closerange(1, 3)
""",
        PLAIN,
        holds_on,
    ),
    Attack(
        "moving target",
        "be gone before it is found: processes that fork and end, each in a session of its own",
        "no process of it is alive",
        """
if os.fork() == 0:
    os.closerange(0, 3)
    until = time.monotonic() + 3
    while time.monotonic() < until:
        try: child = os.fork()
        except OSError: continue
        if child: os._exit(0)
        os.setsid()
os._exit(0)
""",
        PLAIN,
        survives,
    ),
    Attack(
        "terminal",
        "write to a terminal, and type into it",
        "nothing appears there",
        """
import fcntl
for path in (bait["terminal"], "/dev/tty", "/dev/console", *(f"/dev/pts/{n}" for n in range(8))):
    if not bait["sandboxed"] and path != bait["terminal"]: continue
    terminal = tried(os.open, path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    if terminal is not None:
        os.write(terminal, b"out")
        tried(fcntl.ioctl, terminal, 0x5412, b"x")
""",
        UNPROTECTED,
    ),
)
