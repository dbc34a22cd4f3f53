"""What the filter and Landlock keep a process from, seen from inside; beside it what happens without."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from guest_programs import MACHINE, NEEDS_KERNEL, ROOT, landlock_version, needs_landlock, start, told
from system_calls import ABSENT, BY_ARGUMENT, REFUSED, numbers

pytestmark = NEEDS_KERNEL

BAD = 1  # an address that nothing can be read from
ALL = 2**32 - 1
MINUS = 2**64 - 1
NOBODY = 999_999_999
FOR_EVERYBODY: dict[str, tuple[int, ...]] = {
    # Arguments with which the call, were it let through, fails early or changes nothing.
    "ptrace": (2, NOBODY),
    "process_vm_readv": (NOBODY,),
    "process_vm_writev": (NOBODY,),
    "process_madvise": (MINUS,),
    "kcmp": (NOBODY, NOBODY),
    "pidfd_getfd": (MINUS,),
    "move_pages": (NOBODY, 1, BAD, BAD, BAD, 2),
    "migrate_pages": (NOBODY, 64, BAD, BAD),
    "mount": (BAD, BAD, BAD, 0, BAD),
    "umount2": (BAD, 0x80),
    "open_tree": (MINUS, BAD, ALL),
    "chroot": (BAD,),
    "unshare": (),
    "setns": (MINUS,),
    "keyctl": (9999,),
    "add_key": (BAD, BAD, BAD, 1, 0),
    "request_key": (BAD, BAD, BAD, 0),
    "shmget": (0, 0, 0),
    "semget": (0x5EED5EED, 1, 0),
    "msgget": (0x5EED5EED, 0),
    "name_to_handle_at": (MINUS, BAD, BAD, BAD, ALL),
    "perf_event_open": (BAD, 0, 0, MINUS, ALL),
    "userfaultfd": (ALL,),
    "memfd_secret": (ALL,),
    "lookup_dcookie": (1, BAD, 0),
    "nfsservctl": (9999,),
    "settimeofday": (BAD, 0),
    "clock_settime": (0, BAD),
    "clock_adjtime": (0, BAD),
    "adjtimex": (BAD,),
    "quotactl_fd": (MINUS, ALL),
    "clone3": (0, 0),
    "memfd_create": (BAD,),
    "mmap": (0, 4096, 0, 0x21, MINUS, 0),
    "openat2": (MINUS, BAD, BAD, 24),
    "io_uring_setup": (0, BAD),
    "io_uring_enter": (MINUS,),
    "io_uring_register": (MINUS,),
    "clone": (0x10000 | 0x20000,),
    "ioctl": (MINUS, 0x5412),
    "personality": (0x0040000,),
    "prlimit64": (NOBODY, 4, BAD, 0),
    "fchmod": (MINUS, 0o4755),
    "fchmodat": (MINUS, BAD, 0o4755),
    "fchmodat2": (MINUS, BAD, 0o4755, 0),
    "openat": (MINUS, BAD, 0o101, 0o4755),
    "mknodat": (MINUS, BAD, 0o4644, 0),
    "socketpair": (40, 1, 0, BAD),
    "vmsplice": (MINUS, BAD, 1, 0),
}
FOR_EVERYBODY_X86: dict[str, tuple[int, ...]] = {
    "modify_ldt": (99,),
    "uselib": (BAD,),
    "_sysctl": (BAD,),
    "create_module": (0, 0),
    "get_kernel_syms": (0,),
    "query_module": (0,),
    "iopl": (4,),
    "ioperm": (0, 0, 0),
    "chmod": (BAD, 0o4755),
    "creat": (BAD, 0o4755),
    "open": (BAD, 0o101, 0o4755),
    "mknod": (BAD, 0o4644, 0),
}
FOR_ROOT: dict[str, tuple[int, ...]] = {
    # Refused to everybody else anyway, with the same error.
    "pivot_root": (BAD, BAD),
    "move_mount": (MINUS, BAD, MINUS, BAD, ALL),
    "fsopen": (BAD, ALL),
    "fsconfig": (MINUS, ALL, 0, 0, 0),
    "fsmount": (MINUS, ALL, 0),
    "fspick": (MINUS, BAD, ALL),
    "mount_setattr": (MINUS, BAD, ALL, BAD, 0),
    "sethostname": (BAD, MINUS),
    "setdomainname": (BAD, MINUS),
    "open_by_handle_at": (MINUS, BAD, 0),
    "bpf": (9999, BAD, 0),
    "fanotify_init": (ALL, 0),
    "fanotify_mark": (MINUS, 0, 0, MINUS, 0),
    "kexec_load": (0, 0, 0, ALL),
    "kexec_file_load": (MINUS, MINUS, 0, BAD, ALL),
    "init_module": (BAD, 0, BAD),
    "delete_module": (BAD, 0),
    "finit_module": (MINUS, BAD, ALL),
    "reboot": (0, 0, 0, 0),
    "swapon": (BAD, ALL),
    "swapoff": (BAD,),
    "quotactl": (ALL, BAD, 0, 0),
    "acct": (BAD,),
    "syslog": (99, 0, 0),
    "socket": (17, 3, 0),
}
NOT_SHOWN = {"vhangup"}  # It has no arguments, and unfiltered it ends the terminal of whoever runs the tests.
CALLS = FOR_EVERYBODY | (FOR_EVERYBODY_X86 if MACHINE == "x86_64" else {}) | (FOR_ROOT if ROOT else {})

TRY_CALLS = """
confine()
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
results = {}
for name, (number, arguments) in plan["calls"].items():
    ctypes.set_errno(0)
    failed = libc.syscall(ctypes.c_long(number), *map(ctypes.c_ulong, arguments), *[ctypes.c_ulong(0)] * 6) < 0
    results[name] = errno.errorcode[ctypes.get_errno()] if failed else "ok"
tell(**results)
"""


@cache
def tried(network: str | None) -> dict[str, str]:
    known = {
        name: number for table in (REFUSED, ABSENT, BY_ARGUMENT) for name, number in numbers(table, MACHINE).items()
    }
    return told(TRY_CALLS, network=network, calls={name: (known[name], CALLS[name]) for name in CALLS})


@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_no_program_needs_is_refused(call: str) -> None:
    expected = "ENOSYS" if call in numbers(ABSENT, MACHINE) else "EPERM"
    assert tried("none")[call] == expected
    assert tried(None)[call] != expected


def test_every_refused_call_is_tried() -> None:
    names = {name for table in (REFUSED, ABSENT, BY_ARGUMENT) for name in numbers(table, MACHINE)}
    assert names - NOT_SHOWN == CALLS.keys() | FOR_ROOT.keys()


def test_ordinary_arguments_of_the_same_calls_pass() -> None:
    calls = {
        "ioctl": (MINUS, 0x5401),
        "personality": (ALL,),
        "prlimit64": (0, 4, 0, 0),
        "fchmod": (MINUS, 0o755),
        "openat": (MINUS, BAD, 0o101, 0o755),
        "mknodat": (MINUS, BAD, 0o010644, 0),
        "mmap": (0, 0, 0, 0x22, MINUS, 0),
        "clone": (0x10000,),  # a thread that shares no memory: no such thing
    }
    known = numbers(BY_ARGUMENT, MACHINE)
    plan = {name: (known[name], arguments) for name, arguments in calls.items()}
    without, within = (told(TRY_CALLS, network=network, calls=plan) for network in (None, "none"))
    assert within == without
    assert within == {
        **dict.fromkeys(("personality", "prlimit64"), "ok"),
        **dict.fromkeys(("ioctl", "fchmod"), "EBADF"),
        **dict.fromkeys(("openat", "mknodat"), "EFAULT"),
        **dict.fromkeys(("clone", "mmap"), "EINVAL"),
    }


FILES = """
os.chdir(plan["folder"]); open("file", "w").close(); confine()
def make(mode): os.close(os.open("made", os.O_CREAT | os.O_WRONLY, mode)); os.unlink("made")
tell(
    set_user=outcome(os.chmod, "file", 0o4755), set_group=outcome(os.fchmod, os.open("file", os.O_RDONLY), 0o2755),
    born=outcome(make, 0o4755), plain=outcome(make, 0o755), again=outcome(os.chmod, "file", 0o700),
    pipe=outcome(os.mkfifo, "pipe"),
)
"""


def test_files_get_no_rights_of_another_user(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("free", "confined")]
    for folder in folders:
        folder.mkdir()
    free = told(FILES, folder=str(folders[0]))
    confined = told(FILES, folder=str(folders[1]), network="none")
    assert set(free.values()) == {"ok"}
    assert confined == free | {"set_user": "EPERM", "set_group": "EPERM", "born": "EPERM"}


DEVICE = """
os.chdir(plan["folder"]); confine()
tell(device=outcome(os.mknod, "whiteout", 0o020600, os.makedev(0, 0)))
"""


def test_no_device_is_made_not_even_the_one_that_everybody_may_make(tmp_path: Path) -> None:
    assert told(DEVICE, folder=str(tmp_path), network="none") == {"device": "EPERM"}
    assert told(DEVICE, folder=str(tmp_path)) == {"device": "ok"}


OPEN_SOCKETS = """
confine()
def open_one(family, kind, protocol=0): socket.socket(family, kind, protocol).close()
def pair(kind): [end.close() for end in socket.socketpair(socket.AF_UNIX, kind)]
tell(
    unix=outcome(open_one, socket.AF_UNIX, socket.SOCK_STREAM),
    tcp=outcome(open_one, socket.AF_INET, socket.SOCK_STREAM),
    udp6=outcome(open_one, socket.AF_INET6, socket.SOCK_DGRAM), netlink=outcome(open_one, 16, socket.SOCK_RAW),
    pair=outcome(pair, socket.SOCK_STREAM), datagrams=outcome(pair, socket.SOCK_DGRAM),
)
"""


@pytest.mark.parametrize(
    ("network", "refused"),
    [
        (None, ""),
        ("pairs", "unix tcp udp6 netlink datagrams"),
        ("none", "tcp udp6 netlink"),
        ("loopback", "netlink"),
        ("host", "netlink"),
    ],
)
def test_sockets_are_those_of_the_network(network: str | None, refused: str) -> None:
    results = told(OPEN_SOCKETS, network=network)
    assert {name for name, result in results.items() if result == "EPERM"} == set(refused.split())
    assert {result for name, result in results.items() if name not in refused.split()} == {"ok"}


FOREIGN = """
import mmap
confine()
page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex(plan["code"]))
tell(started=True)
ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
"""


@pytest.mark.skipif(MACHINE != "x86_64", reason="only x86_64 has other entrances")
@pytest.mark.parametrize(
    "code",
    [
        pytest.param("b814000000 cd80 c3", id="i386"),  # mov eax, getpid; int 0x80; ret
        pytest.param("b827000040 0f05 c3", id="x32"),  # mov eax, getpid | x32; syscall; ret
    ],
)
def test_another_architectures_entrance_kills(code: str) -> None:
    confined = start(FOREIGN, network="none", code=code)
    assert '{"started": true}' in confined.stdout
    assert confined.returncode == -signal.SIGSYS
    assert start(FOREIGN, code=code).returncode != -signal.SIGSYS


ORDINARY = """
import asyncio, mmap, multiprocessing, subprocess, tempfile, threading
confine()
def threads():
    done = []
    started = [threading.Thread(target=done.append, args=(n,)) for n in range(3)]
    [thread.start() for thread in started]; [thread.join() for thread in started]
    assert sorted(done) == [0, 1, 2]
def child(): assert subprocess.check_output(["/bin/sh", "-c", "echo hello"]) == b"hello\\n"
async def both(): return await asyncio.gather(asyncio.to_thread(int, "3"), asyncio.sleep(0, 4))
def loop(): assert asyncio.run(both()) == [3, 4]
def pool():
    with multiprocessing.get_context("fork").Pool(1) as workers: assert workers.map(abs, [-1, -2]) == [1, 2]
def temporary():
    with tempfile.TemporaryFile(dir=plan["landlock"] and plan["landlock"]["writable"][0]) as file:
        file.write(b"text"); file.flush(); assert len(mmap.mmap(file.fileno(), 4)) == 4
tell(**{act.__name__: outcome(act) for act in (threads, child, loop, pool, temporary)})
"""


@pytest.mark.parametrize("network", ["pairs", "none", "loopback"])
def test_ordinary_programs_run_confined(network: str, tmp_path: Path) -> None:
    reach = {"readable": ["/"], "writable": [str(tmp_path), "/dev/shm", "/dev/null"]}
    limits = {"cpu_seconds": 20, "address_space": 4 << 30, "file_bytes": 1 << 20, "open_files": 64}
    results = told(ORDINARY, network=network, limits=limits, landlock=reach if landlock_version() else None)
    assert results == dict.fromkeys(("threads", "child", "loop", "pool", "temporary"), "ok")


REACH = """
confine()
def read(path): open(path).close()
def write(path): open(path, "a").close()
def make(path): os.mkdir(path); os.rmdir(path)
def run(path):
    pid = os.posix_spawn(path, [path], {})
    os.waitpid(pid, 0)
def truncate(path): os.truncate(path, 0)
acts = {"read": read, "write": write, "list": os.listdir, "make": make, "run": run, "truncate": truncate}
tell(**{f"{act} {path}": outcome(acts[act], os.path.join(plan["folder"], path)) for act, path in plan["acts"]})
"""
ACTS = [
    # what, where, what is said within
    ("read", "work/file", "ok"),
    ("write", "work/file", "ok"),
    ("truncate", "work/file", "ok"),
    ("make", "work/new", "ok"),
    ("list", "work", "ok"),
    ("read", "library/file", "ok"),
    ("list", "library", "ok"),
    ("run", "library/program", "ok"),
    ("write", "library/file", "EACCES"),
    ("make", "library/new", "EACCES"),
    ("read", "single/allowed", "ok"),
    ("write", "single/allowed", "EACCES"),
    ("read", "single/file", "EACCES"),
    ("list", "single", "EACCES"),
    ("read", "outside/file", "EACCES"),
    ("write", "outside/file", "EACCES"),
    ("list", "outside", "EACCES"),
    ("make", "outside/new", "EACCES"),
    ("run", "outside/program", "EACCES"),
    ("read", "work/link", "EACCES"),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("work", "library", "single", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("text")
        program = tmp_path / name / "program"
        program.write_bytes(Path("/bin/true").read_bytes())
        program.chmod(0o755)
    (tmp_path / "single" / "allowed").write_text("text")
    (tmp_path / "work" / "link").symlink_to(tmp_path / "outside" / "file")
    return tmp_path


def reach_of(tree: Path) -> dict[str, Any]:
    system = [path for path in ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/no/such/place") if path]
    readable = [
        *system,
        str(tree / "library"),
        str(tree / "single" / "allowed"),
        str(tree / "library" / "file" / "none"),
    ]
    return {"readable": readable, "writable": [str(tree / "work")]}


def test_only_the_files_named_are_within_reach(tree: Path) -> None:
    needs_landlock()
    acts = [act[:2] for act in ACTS]
    assert set(told(REACH, folder=str(tree), acts=acts).values()) == {"ok"}
    confined = told(REACH, folder=str(tree), acts=acts, landlock=reach_of(tree))
    assert confined == {f"{act} {path}": said for act, path, said in ACTS}


def test_no_file_outside_is_truncated(tree: Path) -> None:
    needs_landlock(3)
    acts = [("truncate", "outside/file"), ("truncate", "library/file")]
    assert set(told(REACH, folder=str(tree), acts=acts, landlock=reach_of(tree)).values()) == {"EACCES"}
    assert (tree / "outside" / "file").read_text() == "text"
    assert set(told(REACH, folder=str(tree), acts=acts).values()) == {"ok"}


def test_every_version_of_landlock_takes_the_rules_made_for_it(tree: Path) -> None:
    needs_landlock()
    older = "landlock.abi = lambda: plan['version']\n"
    for version in range(1, landlock_version() + 1):
        acts = [("read", "outside/file"), ("write", "work/file")]
        results = told(older + REACH, version=version, folder=str(tree), acts=acts, landlock=reach_of(tree))
        assert list(results.values()) == ["EACCES", "ok"], version


def test_where_there_is_no_landlock_confining_is_an_error() -> None:
    refused = """
    kernel.no_new_privileges(); seccomp.install("none")
    landlock._CREATE_RULESET = 9999
    tell(version=landlock.abi(), said=outcome(landlock.confine, [], []))
    """
    assert told(refused) == {"version": 0, "said": "ENOSYS"}


NEIGHBOURS = """
confine()
def connect(): socket.create_connection(("127.0.0.1", plan["port"]), 5).close()
def bind(): listener = socket.socket(); listener.bind(("127.0.0.1", 0)); listener.close()
def abstract(): one = socket.socket(socket.AF_UNIX); one.connect(plan["name"]); one.close()
tell(connect=outcome(connect), bind=outcome(bind), abstract=outcome(abstract), signal=outcome(os.kill, os.getppid(), 0))
"""


@pytest.fixture
def listeners() -> Iterator[dict[str, Any]]:
    name = f"\0treadle-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(name)
        unix.listen()
        yield {"port": tcp.getsockname()[1], "name": name}


@pytest.mark.parametrize(
    ("choice", "refused"),
    [
        ({}, {"connect": "EACCES", "bind": "EACCES", "abstract": "EPERM", "signal": "EPERM"}),
        ({"tcp": True}, {"abstract": "EPERM", "signal": "EPERM"}),
        ({"scoped": False}, {"connect": "EACCES", "bind": "EACCES"}),
        ({"scoped": False, "tcp": True}, {}),
    ],
)
def test_ports_sockets_and_processes_outside_are_out_of_reach(
    choice: dict[str, bool], refused: dict[str, str], listeners: dict[str, Any]
) -> None:
    needs_landlock(6)
    free = dict.fromkeys(("connect", "bind", "abstract", "signal"), "ok")
    confined = {"readable": ["/"], "writable": [], **choice}
    assert told(NEIGHBOURS, landlock=confined, **listeners) == free | refused
    assert told(NEIGHBOURS, **listeners) == free


PATH_SOCKET = """
confine()
def connect(): one = socket.socket(socket.AF_UNIX); one.connect(plan["path"]); one.close()
tell(connect=outcome(connect))
"""


def test_only_without_sockets_of_its_own_can_a_program_not_reach_a_path_that_others_listen_at(tmp_path: Path) -> None:
    needs_landlock()
    reach = {"readable": ["/usr", "/lib", "/lib64"], "writable": []}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        listener.listen()
        path = str(tmp_path / "socket")
        assert told(PATH_SOCKET, path=path, landlock=reach, network="pairs") == {"connect": "EPERM"}
        by_landlock = "EACCES" if landlock_version() >= 9 else "ok"
        assert told(PATH_SOCKET, path=path, landlock=reach, network="none") == {"connect": by_landlock}
