"""Limits, capabilities, namespaces and family ties, seen from inside the process that has them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from guest_programs import NEEDS_KERNEL, ROOT, told

pytestmark = NEEDS_KERNEL

LIMITED = """
import mmap, resource
os.chdir(plan["folder"]); confine()
def write(size):
    with open("file", "wb", buffering=0) as file: file.write(b"x" * size); file.write(b"x")
def descriptors():
    held = []
    try:
        for _ in range(100): held.append(os.open("/dev/null", os.O_RDONLY))
    finally: [os.close(fd) for fd in held]
def memory(): mmap.mmap(-1, 1 << 30).close()
tell(small=outcome(write, 1000), large=outcome(write, 70000), descriptors=outcome(descriptors), memory=outcome(memory),
     core=resource.getrlimit(resource.RLIMIT_CORE), cpu=resource.getrlimit(resource.RLIMIT_CPU))
"""


def test_limits_hold(tmp_path: Path) -> None:
    limits = {"cpu_seconds": 5, "address_space": 512 << 20, "file_bytes": 65536, "open_files": 50}
    within = told(LIMITED, folder=str(tmp_path), limits=limits)
    assert within.pop("core") == [0, 0]
    assert within.pop("cpu") == [5, 6]
    assert within == {"small": "ok", "large": "EFBIG", "descriptors": "EMFILE", "memory": "ENOMEM"}
    without = told(LIMITED, folder=str(tmp_path))
    assert {without[name] for name in within} == {"ok"}


def test_a_limit_is_never_raised() -> None:
    raised = """
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (20, 30)); resource.setrlimit(resource.RLIMIT_CPU, (3, 3))
    limits.apply({"open_files": 1000, "cpu_seconds": 1000})
    tell(files=resource.getrlimit(resource.RLIMIT_NOFILE), cpu=resource.getrlimit(resource.RLIMIT_CPU))
    """
    assert told(raised) == {"files": [30, 30], "cpu": [3, 3]}


CAPABILITIES = """
def sets():
    lines = [line.split() for line in open("/proc/self/status")]
    return {line[0].strip(":"): int(line[1], 16) for line in lines if line[0].startswith("Cap")}
if plan["become"] == "user": os.setgroups([]); os.setresgid(*[65534] * 3); os.setresuid(*[65534] * 3)
if plan["become"] == "owner of a namespace":
    try: kernel.unshare(kernel.NEWUSER)
    except OSError as error: tell(refused=str(error)); sys.exit()
before = sets()
if plan["careful"]: kernel.no_new_privileges()
said = outcome(kernel.drop_capabilities)
tell(before=before, said=said, after=sets())
"""


@pytest.mark.parametrize("become", ["oneself", "owner of a namespace", *(["user"] if ROOT else [])])
def test_capabilities_are_gone(become: str) -> None:
    results = told(CAPABILITIES, become=become, careful=True)
    if "refused" in results:
        pytest.skip(f"no user namespaces: {results['refused']}")
    assert results["said"] == "ok"
    held = ("CapInh", "CapPrm", "CapEff", "CapAmb")
    assert {results["after"][name] for name in held} == {0}
    lowers_bounding_set = become == "owner of a namespace" or (ROOT and become == "oneself")
    assert (results["after"]["CapBnd"] == 0) is lowers_bounding_set
    assert results["before"]["CapBnd"] != 0
    assert (results["before"]["CapEff"] != 0) is lowers_bounding_set


def test_capabilities_that_could_be_had_back_are_an_error() -> None:
    results = told(CAPABILITIES, become="user" if ROOT else "oneself", careful=False)
    assert results["said"] == "EPERM"


NAMESPACE = """
user, group = os.getuid(), os.getgid()
try: kernel.unshare(kernel.NEWUSER | kernel.NEWNET | kernel.NEWUTS | kernel.NEWNS)
except OSError as error: tell(refused=str(error)); sys.exit()
for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
    with open(f"/proc/self/{name}", "w") as file: file.write(text)
def reach():
    listener = socket.socket(); listener.bind(("0.0.0.0", 0)); listener.listen()
    socket.create_connection(("127.0.0.1", listener.getsockname()[1]), 5).close()
down = outcome(reach)
kernel.bring_up_loopback(); kernel.set_hostname("elsewhere")
folder = plan["folder"]
kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
kernel.mount("tmpfs", folder, "tmpfs", kernel.MS_NOSUID, "size=64k")
open(folder + "/inside", "w").close()
mounted = os.listdir(folder)
kernel.set_mount_attributes(folder, kernel.MOUNT_ATTR_RDONLY)
read_only = outcome(open, folder + "/more", "w")
kernel.unmount(folder)
up, host, after = outcome(reach), os.uname().nodename, os.listdir(folder)
tell(down=down, up=up, host=host, mounted=mounted, read_only=read_only, after=after)
"""


def test_a_namespace_has_its_own_loopback_name_and_mounts(tmp_path: Path) -> None:
    results = told(NAMESPACE, folder=str(tmp_path))
    if "refused" in results:
        pytest.skip(f"no user namespaces: {results['refused']}")
    assert results["down"] == "ENETUNREACH"
    assert results == results | {
        "up": "ok",
        "host": "elsewhere",
        "mounted": ["inside"],
        "read_only": "EROFS",
        "after": [],
    }
    assert os.uname().nodename != "elsewhere"


FAMILY = """
orphaned, ready = os.pipe()
kernel.adopt_orphans() if plan["adopt"] else None
child = os.fork()
if child == 0:
    if os.fork() == 0:
        os.close(ready); os.read(orphaned, 1)
        os._exit(7)
    os._exit(0)
os.waitpid(child, 0)
os.close(ready)
try: pid, status = os.wait(); tell(adopted=os.waitstatus_to_exitcode(status))
except ChildProcessError: tell(adopted=None)
"""


def test_orphans_are_adopted() -> None:
    assert told(FAMILY, adopt=True) == {"adopted": 7}
    assert told(FAMILY, adopt=False) == {"adopted": None}


PARENT_ENDS = """
kernel.adopt_orphans()
said, says = os.pipe()
middle = os.fork()
if middle == 0:
    if os.fork() == 0:
        if plan["dies"]: kernel.die_with_parent()
        os.write(says, os.getpid().to_bytes(4, "big"))
        signal.pause()
    os.set_blocking(said, True)
    grandchild = os.read(said, 4)
    os.write(says, grandchild)
    os._exit(0)
os.waitpid(middle, 0)
grandchild = int.from_bytes(os.read(said, 4), "big")
os.kill(grandchild, signal.SIGTERM)
tell(ended=os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
"""


def test_a_process_dies_with_its_parent() -> None:
    assert told(PARENT_ENDS, dies=True) == {"ended": -signal.SIGKILL}
    assert told(PARENT_ENDS, dies=False) == {"ended": -signal.SIGTERM}


def test_memory_is_closed_to_others_and_opened_again() -> None:
    dumpable = """
    asked = lambda: kernel.prctl("PR_GET_DUMPABLE", 3)
    first = asked(); kernel.not_dumpable(); second = asked(); kernel.dumpable()
    tell(states=[first, second, asked()])
    """
    assert told(dumpable) == {"states": [1, 0, 1]}


@pytest.mark.parametrize(
    ("act", "named"),
    [
        ("kernel.join(-1, kernel.NEWNET)", "setns: "),
        ("kernel.unshare(1)", "unshare: "),
        ("kernel.mount('/no/such', '/no/such/place')", "mount(/no/such/place): "),
        ("kernel.unmount('/no/such')", "umount2(/no/such): "),
        ("kernel.pivot_root('/no/such', '/no/such')", "pivot_root(/no/such): "),
        ("kernel.set_mount_attributes('/no/such', 1)", "mount_setattr(/no/such): "),
        ("kernel.set_hostname('x' * 1000)", "sethostname: "),
        ("kernel.die_with_parent(9999)", "prctl(PR_SET_PDEATHSIG): "),
    ],
)
def test_a_refusal_names_the_call(act: str, named: str) -> None:
    said = told(f"""
    try: {act}
    except OSError as error: tell(said=str(error.strerror), number=error.errno)
    """)
    assert said["said"].startswith(named)
    assert said["number"] > 0
