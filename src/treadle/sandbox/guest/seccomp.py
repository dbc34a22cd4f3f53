"""A seccomp filter, assembled here: what no program in a sandbox needs of the kernel is refused.

A filter is a classic BPF program over ``struct seccomp_data``: number, architecture, instruction pointer and six
arguments. System calls that are merely refused get ``EPERM``; those whose arguments lie where a filter cannot look
(``clone3``, ``openat2``, ``io_uring``) and all newer than the table get ``ENOSYS``, upon which C libraries fall back to
calls that can be looked at. Memory that no process's count shows (``memfd_create``, shared mappings without a file) is
not to be had. Other architectures' entrances kill the process. Numbers are those of
``asm/unistd_64.h`` (x86_64) and ``asm-generic/unistd.h`` (aarch64).
"""

from __future__ import annotations

import os
import struct

NETWORKS = ("pairs", "none", "loopback", "host")

_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_SET_SECCOMP, _MODE_FILTER = 22, 2
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_NEWEST = 466

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45

_REFUSED = """
ptrace 101 117  process_vm_readv 310 270  process_vm_writev 311 271  process_madvise 440 440
kcmp 312 272  pidfd_getfd 438 438  move_pages 279 239  migrate_pages 256 238
unshare 272 97  setns 308 268  mount 165 40  umount2 166 39  pivot_root 155 41  chroot 161 51
open_tree 428 428  move_mount 429 429  fsopen 430 430  fsconfig 431 431  fsmount 432 432  fspick 433 433
mount_setattr 442 442  sethostname 170 161  setdomainname 171 162  vmsplice 278 75
add_key 248 217  request_key 249 218  keyctl 250 219  shmget 29 194  semget 64 190  msgget 68 186
name_to_handle_at 303 264  open_by_handle_at 304 265
bpf 321 280  perf_event_open 298 241  userfaultfd 323 282  memfd_secret 447 447
fanotify_init 300 262  fanotify_mark 301 263  lookup_dcookie 212 18  nfsservctl 180 42
modify_ldt 154 -  uselib 134 -  _sysctl 156 -  iopl 172 -  ioperm 173 -
create_module 174 -  get_kernel_syms 177 -  query_module 178 -
init_module 175 105  delete_module 176 106  finit_module 313 273  kexec_load 246 104  kexec_file_load 320 294
reboot 169 142  swapon 167 224  swapoff 168 225  quotactl 179 60  quotactl_fd 443 443  acct 163 89
settimeofday 164 170  clock_settime 227 112  clock_adjtime 305 266  adjtimex 159 171
syslog 103 116  vhangup 153 58
"""

_ABSENT = """
clone3 435 435  openat2 437 437  memfd_create 319 279
io_uring_setup 425 425  io_uring_enter 426 426  io_uring_register 427 427
"""

_LOOKED_AT = """
open 2 -  openat 257 56  creat 85 -  chmod 90 -  fchmod 91 52  fchmodat 268 53  fchmodat2 452 452
mknod 133 -  mknodat 259 33  ioctl 16 29  clone 56 220  personality 135 92  prlimit64 302 261
socket 41 198  socketpair 53 199  mmap 9 222
"""

_SET_ID_BITS = 0o6000
_CREATES = 0o100 | 0o20000000
_FILE_TYPE, _DEVICES = 0o170000, (0o020000, 0o060000)
_SHARED_MEMORY = 0x20 | 0x01
_TERMINAL_INPUT = (0x5412, 0x541C)
_NEW_NAMESPACES = 0x7E020000
_SAME_PERSONALITY = (0, 0xFFFFFFFF)
_UNIX, _INET, _INET6 = 1, 2, 10
_STREAM, _DATAGRAM, _SEQPACKET, _SOCKET_TYPE = 1, 2, 5, 0xF
_CONNECTED = (_STREAM, _SEQPACKET)
_IP_PROTOCOLS = (0, 6, 17)

Code = list[tuple[int, int, int, int]]
"""Instructions (operation, steps to skip where it holds, where not, operand) that always end with a verdict."""

_PASS: Code = [(_RETURN, 0, 0, _ALLOW)]
_REFUSE: Code = [(_RETURN, 0, 0, _ERRNO | _EPERM)]
_NO_SUCH_CALL: Code = [(_RETURN, 0, 0, _ERRNO | _ENOSYS)]
_KILL: Code = [(_RETURN, 0, 0, _KILL_PROCESS)]

_programs: dict[tuple[str, str], bytes] = {}


def filter_program(network: str, machine: str = "") -> bytes:
    """Assemble the filter, as ``struct sock_filter`` entries, which is also what ``bwrap --seccomp`` reads.

    Args:
        network: ``pairs``: no socket but connected pairs, for a sandbox that shares a file system whose sockets
            others listen at; ``none``: unix sockets; ``loopback`` and ``host``: TCP and UDP as well; where
            they lead is for the network namespace to say.
        machine: ``x86_64`` or ``aarch64``; the one that this runs on where it is not given.

    Raises:
        ValueError: There is no such network, or no table for that machine.
    """
    key = (network, machine or os.uname().machine)
    if key not in _programs:
        _programs[key] = _assemble(*key)
    return _programs[key]


def install(network: str) -> None:
    """Filter the system calls of this thread and all that it starts, for good; no new privileges come first.

    Args:
        network: As `filter_program` takes it.

    Raises:
        ValueError: As `filter_program`.
        OSError: The kernel refused it.
    """
    import ctypes

    import kernel

    program = filter_program(network)
    code = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(code)))
    kernel.prctl("PR_SET_SECCOMP", _SET_SECCOMP, _MODE_FILTER, ctypes.addressof(header))


def _assemble(network: str, machine: str) -> bytes:
    if network not in NETWORKS:
        raise ValueError(f"no network is called {network!r}; known: {', '.join(NETWORKS)}")
    if machine not in _AUDIT_ARCH:
        raise ValueError(f"no filter for {machine}; known: {', '.join(_AUDIT_ARCH)}")
    column = 1 if machine == "x86_64" else 2
    verdicts = dict.fromkeys(_numbers(_REFUSED, column).values(), _REFUSE)
    verdicts.update(dict.fromkeys(_numbers(_ABSENT, column).values(), _NO_SUCH_CALL))
    looks = _looks(network)
    verdicts.update((number, looks[name]) for name, number in _numbers(_LOOKED_AT, column).items())
    starts = _intervals(verdicts)
    if machine == "x86_64":
        starts.append((_X32_BIT, _KILL))
    code = [
        (_LOAD, 0, 0, 4),
        *_when(_EQUAL, _AUDIT_ARCH[machine], [(_LOAD, 0, 0, 0), *_search(starts)], _KILL),
    ]
    return struct.pack("=" + "HBBI" * len(code), *[field for instruction in code for field in instruction])


def _numbers(table: str, column: int) -> dict[str, int]:
    words = table.split()
    pairs = zip(words[::3], words[column::3])  # noqa: B905 - Python 3.9 has no strict
    return {name: int(number) for name, number in pairs if number != "-"}


def _intervals(verdicts: dict[int, Code]) -> list[tuple[int, Code]]:
    """Where along the numbers the verdict changes, and to what."""
    starts = [(0, _PASS)]
    for number in sorted(verdicts):
        code = verdicts[number]
        if starts[-1][0] == number:
            starts.pop()
        if not starts or starts[-1][1] is not code:
            starts.append((number, code))
        if number + 1 not in verdicts:
            starts.append((number + 1, _PASS))
    starts.append((_NEWEST + 1, _NO_SUCH_CALL))
    return starts


def _search(starts: list[tuple[int, Code]]) -> Code:
    """Find the interval of the number that is loaded, by halving."""
    if len(starts) == 1:
        return starts[0][1]
    middle = len(starts) // 2
    return _when(_AT_LEAST, starts[middle][0], _search(starts[middle:]), _search(starts[:middle]))


def _looks(network: str) -> dict[str, Code]:
    """Verdicts that hang on arguments."""
    terminal_input = _among(_TERMINAL_INPUT, _REFUSE, _PASS)
    devices = [(_AND, 0, 0, _FILE_TYPE), *_among(_DEVICES, _REFUSE, _PASS)]
    sets_limit = _argument(2, _when(_EQUAL, 0, _argument(2, _when(_EQUAL, 0, _PASS, _REFUSE), high=True), _REFUSE))
    modes = [_argument(index, _when(_ANY_BIT, _SET_ID_BITS, _REFUSE, _PASS)) for index in range(4)]
    pair_types = _argument(1, [(_AND, 0, 0, _SOCKET_TYPE), *_among(_CONNECTED, _PASS, _REFUSE)])
    return {
        "open": _argument(1, _when(_ANY_BIT, _CREATES, modes[2], _PASS)),
        "openat": _argument(2, _when(_ANY_BIT, _CREATES, modes[3], _PASS)),
        "creat": modes[1],
        "chmod": modes[1],
        "fchmod": modes[1],
        "fchmodat": modes[2],
        "fchmodat2": modes[2],
        "mknod": _argument(1, _when(_ANY_BIT, _SET_ID_BITS, _REFUSE, devices)),
        "mknodat": _argument(2, _when(_ANY_BIT, _SET_ID_BITS, _REFUSE, devices)),
        "mmap": _argument(3, [(_AND, 0, 0, _SHARED_MEMORY), *_when(_EQUAL, _SHARED_MEMORY, _REFUSE, _PASS)]),
        "ioctl": _argument(1, terminal_input),
        "clone": _argument(0, _when(_ANY_BIT, _NEW_NAMESPACES, _REFUSE, _PASS)),
        "personality": _argument(0, _among(_SAME_PERSONALITY, _PASS, _REFUSE)),
        "prlimit64": _argument(0, _when(_EQUAL, 0, _PASS, sets_limit)),
        "socket": _sockets(network),
        "socketpair": _argument(0, _when(_EQUAL, _UNIX, pair_types if network == "pairs" else _PASS, _REFUSE)),
    }


def _sockets(network: str) -> Code:
    if network == "pairs":
        return _REFUSE
    if network == "none":
        return _argument(0, _when(_EQUAL, _UNIX, _PASS, _REFUSE))
    protocols = _argument(2, _among(_IP_PROTOCOLS, _PASS, _REFUSE))
    types = _argument(1, [(_AND, 0, 0, _SOCKET_TYPE), *_among((_STREAM, _DATAGRAM), protocols, _REFUSE)])
    return _argument(0, _when(_EQUAL, _UNIX, _PASS, _among((_INET, _INET6), types, _REFUSE)))


def _argument(index: int, code: Code, *, high: bool = False) -> Code:
    """Load half of an argument, the low one where the kernel reads 32 bits, and go on with it."""
    return [(_LOAD, 0, 0, 16 + 8 * index + 4 * high), *code]


def _among(values: tuple[int, ...], then: Code, otherwise: Code) -> Code:
    """Go one way where one of the values is loaded, the other where none is; ``then`` stands once."""
    steps = len(values)
    tests = [(_EQUAL, steps - place - 1 + len(otherwise), 0, value) for place, value in enumerate(values)]
    return [*tests, *otherwise, *then]


def _when(test: int, operand: int, then: Code, otherwise: Code) -> Code:
    return [(test, len(otherwise), 0, operand), *otherwise, *then]
