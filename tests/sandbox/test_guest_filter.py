"""The filter's verdicts, by running its program in a small interpreter: on both machines, over all numbers."""

from __future__ import annotations

import socket
import stat
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from system_calls import ABSENT, BY_ARGUMENT, MACHINES, REFUSED, numbers

from treadle.sandbox.guest.seccomp import NETWORKS, filter_program

I386 = 0x40000003
X32 = 0x40000000
NEWEST = 466
VERDICTS = {0x7FFF0000: "allowed", 0x80000000: "killed", 0x00050000 | 1: "EPERM", 0x00050000 | 38: "ENOSYS"}
NEW = {"NS": 0x20000, "CGROUP": 0x2000000, "UTS": 0x4000000, "IPC": 0x8000000, "USER": 0x10000000, "PID": 0x20000000}
NEW["NET"] = 0x40000000
THREAD = 0x3D0F00
CREAT, TMPFILE, WRITE = 0o100, 0o20200000, 0o1
RAW, DCCP, ICMP, SCTP, MPTCP = socket.SOCK_RAW, 6, 1, 132, 262
UNIX, INET, INET6, NETLINK, PACKET, VSOCK = 1, 2, 10, 16, 17, 40
STREAM, DGRAM, SEQPACKET, CLOEXEC = 1, 2, 5, 0o2000000


def verdict(program: bytes, arch: int, number: int, *arguments: int) -> str:
    """Run a classic BPF program over a system call as the kernel would (``struct seccomp_data``)."""
    call = struct.pack("=IIQ6Q", number, arch, 0, *arguments, *(0,) * (6 - len(arguments)))
    place = register = 0
    while True:
        operation, yes, no, operand = struct.unpack_from("=HBBI", program, 8 * place)
        place += 1
        match operation:
            case 0x20:
                (register,) = struct.unpack_from("=I", call, operand)
            case 0x54:
                register &= operand
            case 0x15:
                place += yes if register == operand else no
            case 0x35:
                place += yes if register >= operand else no
            case 0x45:
                place += yes if register & operand else no
            case 0x06:
                return VERDICTS[operand]
            case _:
                pytest.fail(f"instruction {operation:#x} is not one that a filter needs")


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("network", NETWORKS)
def test_every_number_has_the_verdict_of_the_table(machine: str, network: str) -> None:
    program, arch = filter_program(network, machine), MACHINES[machine]
    expected = dict.fromkeys(numbers(REFUSED, machine).values(), "EPERM")
    expected |= dict.fromkeys(numbers(ABSENT, machine).values(), "ENOSYS")
    by_argument = set(numbers(BY_ARGUMENT, machine).values())
    assert len(program) // 8 < 300
    for number in range(NEWEST + 1):
        if number not in by_argument:
            assert verdict(program, arch, number) == expected.get(number, "allowed"), number
    newer = [*range(NEWEST + 1, 1200), X32 - 1]
    foreign = [X32, *(X32 | number for number in range(600)), 0xFFFFFFFF]
    assert {verdict(program, arch, number) for number in newer} == {"ENOSYS"}
    assert {verdict(program, arch, number) for number in foreign} == {"killed" if machine == "x86_64" else "ENOSYS"}


@pytest.mark.parametrize("machine", MACHINES)
def test_another_architectures_entrance_kills(machine: str) -> None:
    program = filter_program("loopback", machine)
    others = {I386, 0x40000028, 0, *MACHINES.values()} - {MACHINES[machine]}
    assert {verdict(program, arch, number) for arch in others for number in range(500)} == {"killed"}


ARGUMENTS = [
    # call, arguments, verdict
    ("chmod", (0, 0o777), "allowed"),
    ("chmod", (0, 0o1777), "allowed"),
    ("chmod", (0, 0o4755), "EPERM"),
    ("chmod", (0, 0o2755), "EPERM"),
    ("fchmod", (3, 0o644), "allowed"),
    ("fchmod", (3, 0o6644), "EPERM"),
    ("fchmodat", (3, 0, 0o4644), "EPERM"),
    ("fchmodat", (3, 0o4000, 0o644), "allowed"),
    ("fchmodat2", (3, 0, 0o2644, 0), "EPERM"),
    ("fchmodat2", (3, 0, 0o644, 0x100), "allowed"),
    ("creat", (0, 0o644), "allowed"),
    ("creat", (0, 0o4644), "EPERM"),
    ("open", (0, CREAT | WRITE, 0o644), "allowed"),
    ("open", (0, CREAT | WRITE, 0o4644), "EPERM"),
    ("open", (0, WRITE, 0o4644), "allowed"),
    ("openat", (3, 0, CREAT | WRITE, 0o600), "allowed"),
    ("openat", (3, 0, CREAT | WRITE, 0o2600), "EPERM"),
    ("openat", (3, 0, TMPFILE | WRITE, 0o4600), "EPERM"),
    ("openat", (3, 0, 0, 0xDEADBEEF), "allowed"),
    ("mknod", (0, stat.S_IFIFO | 0o600, 0), "allowed"),
    ("mknod", (0, stat.S_IFREG | 0o600, 0), "allowed"),
    ("mknod", (0, stat.S_IFREG | 0o4600, 0), "EPERM"),
    ("mknod", (0, stat.S_IFCHR | 0o600, 0), "EPERM"),
    ("mknodat", (3, 0, stat.S_IFSOCK | 0o600, 0), "allowed"),
    ("mknodat", (3, 0, stat.S_IFCHR | 0o600, 0), "EPERM"),
    ("mknodat", (3, 0, stat.S_IFBLK | 0o600, 0), "EPERM"),
    ("ioctl", (0, 0x5401), "allowed"),
    ("ioctl", (0, 0x5412), "EPERM"),
    ("ioctl", (0, 0x541C), "EPERM"),
    ("clone", (THREAD,), "allowed"),
    ("clone", (17,), "allowed"),
    *[("clone", (17 | flag,), "EPERM") for flag in NEW.values()],
    ("personality", (0xFFFFFFFF,), "allowed"),
    ("personality", (0,), "allowed"),
    ("personality", (0x0040000,), "EPERM"),
    ("mmap", (0, 4096, 3, 0x22, 0xFFFFFFFF, 0), "allowed"),
    ("mmap", (0, 4096, 3, 0x01, 3, 0), "allowed"),
    ("mmap", (0, 4096, 3, 0x21, 0xFFFFFFFF, 0), "EPERM"),
    ("mmap", (0, 4096, 3, 0x23, 0xFFFFFFFF, 0), "EPERM"),
    ("prlimit64", (0, 7, 0x7FFF0000, 0), "allowed"),
    ("prlimit64", (12, 7, 0, 0x7FFF0000), "allowed"),
    ("prlimit64", (12, 7, 0x7FFF0000, 0), "EPERM"),
    ("prlimit64", (12, 7, 0x7F << 32, 0), "EPERM"),
]


def meanings(call: str) -> tuple[int, ...]:
    """Which arguments the kernel reads all 64 bits of."""
    return (2, 3) if call == "prlimit64" else ()


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("call", "arguments", "expected"), ARGUMENTS)
def test_arguments_decide(machine: str, call: str, arguments: tuple[int, ...], expected: str) -> None:
    known = numbers(BY_ARGUMENT, machine)
    if call not in known:
        assert machine == "aarch64"
        return
    for network in NETWORKS:
        program = filter_program(network, machine)
        assert verdict(program, MACHINES[machine], known[call], *arguments) == expected
        # The kernel reads 32 bits of these: what stands above them must not mislead.
        dirty = [value if place in meanings(call) else value | 0xABCD << 32 for place, value in enumerate(arguments)]
        assert verdict(program, MACHINES[machine], known[call], *dirty) == expected


SOCKETS = [
    # call, arguments, networks that allow it
    ("socket", (UNIX, STREAM | CLOEXEC, 0), {"none", "loopback", "host"}),
    ("socket", (UNIX, DGRAM, 0), {"none", "loopback", "host"}),
    ("socket", (INET, STREAM | CLOEXEC, 0), {"loopback", "host"}),
    ("socket", (INET, STREAM, 6), {"loopback", "host"}),
    ("socket", (INET6, DGRAM, 17), {"loopback", "host"}),
    ("socket", (INET, STREAM, SCTP), set[str]()),
    ("socket", (INET, STREAM, MPTCP), set[str]()),
    ("socket", (INET, DGRAM, ICMP), set[str]()),
    ("socket", (INET, DCCP, 0), set[str]()),
    ("socket", (INET, RAW, 0), set[str]()),
    ("socket", (INET6, RAW, 6), set[str]()),
    *[("socket", (family, RAW, 0), set[str]()) for family in range(64) if family not in (UNIX, INET, INET6)],
    *[("socket", (family, DGRAM, 0), set[str]()) for family in (0, NETLINK, PACKET, VSOCK, 0x10001)],
    ("socketpair", (UNIX, STREAM | CLOEXEC, 0), set(NETWORKS)),
    ("socketpair", (UNIX, SEQPACKET, 0), set(NETWORKS)),
    ("socketpair", (UNIX, DGRAM, 0), {"none", "loopback", "host"}),
    ("socketpair", (30, STREAM, 0), set[str]()),
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("network", NETWORKS)
def test_sockets_are_those_of_the_network(machine: str, network: str) -> None:
    program, known = filter_program(network, machine), numbers(BY_ARGUMENT, machine)
    for call, arguments, networks in SOCKETS:
        expected = "allowed" if network in networks else "EPERM"
        for above in (0, 0xABCD << 32):
            dirty = [value | above for value in arguments]
            assert verdict(program, MACHINES[machine], known[call], *dirty) == expected, (call, arguments)


@given(flags=st.integers(0, 2**32 - 1), mode=st.integers(0, 2**16 - 1), machine=st.sampled_from(sorted(MACHINES)))
def test_no_file_is_made_with_another_users_rights(flags: int, mode: int, machine: str) -> None:
    number = numbers(BY_ARGUMENT, machine)["openat"]
    creates = flags & (CREAT | TMPFILE & ~0o200000)
    expected = "EPERM" if creates and mode & (stat.S_ISUID | stat.S_ISGID) else "allowed"
    assert verdict(filter_program("none", machine), MACHINES[machine], number, 0, 0, flags, mode) == expected


@given(flags=st.integers(0, 2**64 - 1), machine=st.sampled_from(sorted(MACHINES)))
def test_no_process_starts_in_new_namespaces(flags: int, machine: str) -> None:
    number = numbers(BY_ARGUMENT, machine)["clone"]
    expected = "EPERM" if any(flags & flag for flag in NEW.values()) else "allowed"
    assert verdict(filter_program("none", machine), MACHINES[machine], number, flags) == expected


@pytest.mark.parametrize(
    ("network", "machine", "said"), [("wide", "x86_64", "known: pairs, none"), ("none", "riscv64", "known: x86_64")]
)
def test_what_it_does_not_know_is_an_error(network: str, machine: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        filter_program(network, machine)
