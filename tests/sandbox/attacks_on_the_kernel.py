"""Attacks that ask the kernel for privileges, or for parts of it that no program needs."""

from __future__ import annotations

import os

from attack import PLAIN, Attack, Seen, by_root, not_shown, reached, says_won, without

_PRIVILEGED = without("the filter of system calls", "the loss of capabilities", "a user of its own")


def is_renamed(seen: Seen) -> bool:
    """Whether the next program, or this machine, has another name."""
    return reached(seen) or "name owned" in seen.texts or os.uname().nodename == "owned"


KERNEL = (
    Attack(
        "clock",
        "set the clock (by a step that changes nothing)",
        "the program does not say that it could",
        """
held = ctypes.create_string_buffer(512)
libc.adjtimex(held)
tick = ctypes.c_long.from_buffer(held, 88).value
again = ctypes.create_string_buffer(512)
ctypes.c_uint.from_buffer(again, 0).value = 0x4000
ctypes.c_long.from_buffer(again, 88).value = tick or 10000
if call("adjtimex", again) >= 0: won()
""",
        by_root("plain"),
        says_won,
    ),
    Attack(
        "restart",
        "restart this machine",
        "the program does not say that it could",
        "if bait['sandboxed'] and call('reboot', 0xfee1dead, 672274793, 0, 0) == 0: won()",
        not_shown("it would change how this machine restarts"),
        says_won,
    ),
    Attack(
        "mount",
        "mount a file system",
        "the program does not say that it could",
        """
was = os.stat("/tmp").st_dev
call("mount", b"none", b"/tmp", b"tmpfs", 0, None)
if os.stat("/tmp").st_dev != was: won()
""",
        _PRIVILEGED,
        says_won,
    ),
    Attack(
        "make it writable",
        "mount the system's folders again so that they can be written",
        "the program does not say that it could",
        """
for folder in (b"/usr", b"/"):
    if call("mount", None, folder, None, 0x1000 | 0x20, None) == 0: won()
""",
        _PRIVILEGED,
        says_won,
    ),
    Attack(
        "new root",
        "change its root, the first step out of one",
        "the program does not say that it could",
        "os.chroot('.')\nwon()",
        by_root("unprotected"),
        says_won,
    ),
    Attack(
        "namespaces",
        "become root in a user namespace of its own, where more of the kernel can be reached",
        "the program does not say that it could",
        "for kind in (0x10000000, 0x10020000, 0x20000000, 0x40000000): call('unshare', kind) or won()",
        without("the filter of system calls"),
        says_won,
    ),
    Attack(
        "others' namespaces",
        "enter the namespaces of another process",
        "the program does not say that it could",
        """
for process in ("1", str(os.getppid()), "self"):
    for kind in ("mnt", "net", "uts", "ipc", "pid", "user"):
        space = tried(os.open, f"/proc/{process}/ns/{kind}", os.O_RDONLY)
        if space is not None and call("setns", space, 0) == 0: won()
""",
        _PRIVILEGED,
        says_won,
    ),
    Attack(
        "become root",
        "become root",
        "the program does not say that it could",
        """
was = os.getresuid()
for act in (lambda: os.setresuid(0, 0, 0), lambda: os.setuid(0), lambda: os.seteuid(0), lambda: os.setgroups([0])):
    tried(act)
if os.geteuid() == 0 or 0 in os.getgroups() or any(int(line.split()[1], 16) for line in
        tried(lambda: open("/proc/self/status").readlines()) or () if line.startswith(("CapEff", "CapPrm"))): won()
""",
        without("the loss of capabilities", "a user of its own"),
        says_won,
    ),
    Attack(
        "set-user-id program",
        "become root by a program of the system's that belongs to root",
        "the program does not say that it could",
        """
import subprocess
if os.geteuid() == 0 and not bait["sandboxed"]: os.setresuid(65534, 65534, 65534)
for tool in ("su", "passwd", "mount", "newgrp", "chsh"):
    path = "/usr/bin/" + tool
    if not os.path.exists(path): continue
    child = tried(lambda: subprocess.Popen([path, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=-1))
    if not child: continue
    for _ in range(50):
        rows = tried(lambda: open(f"/proc/{child.pid}/status").readlines()) or ()
        if any(row.startswith("Uid:") and row.split()[2] == "0" for row in rows): won()
        time.sleep(0.001)
    child.kill()
""",
        PLAIN,
        says_won,
    ),
    Attack(
        "rename the machine",
        "give the machine another name",
        "the next program finds the name that the first one found",
        "call('sethostname', b'owned', 5)",
        _PRIVILEGED,
        is_renamed,
        after="print('name', os.uname().nodename)",
    ),
    Attack(
        "keyring",
        "leave a key in the kernel for the next program",
        "the next program does not find it",
        """
call("keyctl", 0, -4, 1)
call("add_key", b"user", bait["mark"].encode(), b"left", 4, -4)
""",
        PLAIN,
        says_won,
        after="""
found = call("keyctl", 10, -4, b"user", bait["mark"].encode(), 0)
if found > 0: call("keyctl", 9, found, -4); won()
""",
    ),
    Attack(
        "shared memory of System V",
        "leave a segment in the kernel for the next program",
        "the next program does not find it",
        "call('shmget', int(bait['mark'][2:9], 16), 4096, 0o1666)",
        PLAIN,
        says_won,
        after="""
found = call("shmget", int(bait["mark"][2:9], 16), 0, 0)
if found >= 0: libc.shmctl(found, 0, None); won()
""",
    ),
    Attack(
        "message queue",
        "leave a message queue in the kernel for the next program",
        "the next program does not find it",
        "libc.mq_open(b'/' + bait['mark'].encode(), os.O_CREAT | os.O_RDWR, 0o666, None)",
        PLAIN,
        says_won,
        after="""
name = b"/" + bait["mark"].encode()
if libc.mq_open(name, os.O_RDWR) >= 0: libc.mq_unlink(name); won()
""",
    ),
    Attack(
        "BPF",
        "load a map into the kernel",
        "the program does not say that it could",
        """
import struct
asked = ctypes.create_string_buffer(struct.pack("5I", 2, 4, 4, 1, 0), 128)
if call("bpf", 0, asked, 128) >= 0: won()
""",
        by_root("plain"),
        says_won,
    ),
    Attack(
        "io_uring",
        "set up a ring, whose operations no filter sees",
        "the program does not say that it could",
        "if call('io_uring_setup', 4, ctypes.create_string_buffer(256)) >= 0: won()",
        PLAIN,
        says_won,
    ),
    Attack(
        "real time",
        "be scheduled before everybody else",
        "the program does not say that it could",
        """
for act in (lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)), lambda: os.nice(-5)):
    try: act(); won()
    except OSError: pass
""",
        by_root("plain"),
        says_won,
    ),
    Attack(
        "raise limits",
        "give itself higher limits than it has",
        "the program does not say that it could",
        """
import resource
for kind in range(16):
    _, hard = resource.getrlimit(kind)
    if hard >= 0:
        try: resource.setrlimit(kind, (hard, hard + 1)); won()
        except (OSError, ValueError): pass
""",
        not_shown("it takes a privilege that even root has not in many containers"),
        says_won,
    ),
    Attack(
        "settings of the kernel",
        "change a setting of the kernel (to what it is)",
        "the program does not say that it could",
        """
for path in ("/proc/sys/vm/swappiness", "/proc/sys/kernel/printk", "/proc/sys/kernel/domainname"):
    value = tried(lambda: open(path).read())
    try: open(path, "w").write(value or "x"); won()
    except OSError: pass
""",
        by_root("plain"),
        says_won,
    ),
)
