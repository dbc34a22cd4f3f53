"""What the filter has to say to each system call, as ``name x86_64 aarch64`` taken from the kernel's headers."""

from __future__ import annotations

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

REFUSED = """
_sysctl=156/- acct=163/89 add_key=248/217 adjtimex=159/171 bpf=321/280 chroot=161/51 clock_adjtime=305/266
clock_settime=227/112 create_module=174/- delete_module=176/106 fanotify_init=300/262 fanotify_mark=301/263
finit_module=313/273 fsconfig=431/431 fsmount=432/432 fsopen=430/430 fspick=433/433 get_kernel_syms=177/-
init_module=175/105 ioperm=173/- iopl=172/- kcmp=312/272 kexec_file_load=320/294 kexec_load=246/104 keyctl=250/219
lookup_dcookie=212/18 memfd_secret=447/447 migrate_pages=256/238 modify_ldt=154/- mount=165/40 mount_setattr=442/442
move_mount=429/429 move_pages=279/239 msgget=68/186 name_to_handle_at=303/264 nfsservctl=180/42
open_by_handle_at=304/265 open_tree=428/428 perf_event_open=298/241 pidfd_getfd=438/438 pivot_root=155/41
process_madvise=440/440 process_vm_readv=310/270 process_vm_writev=311/271 ptrace=101/117 query_module=178/-
quotactl=179/60 quotactl_fd=443/443 reboot=169/142 request_key=249/218 semget=64/190 setdomainname=171/162
vmsplice=278/75
sethostname=170/161 setns=308/268 settimeofday=164/170 shmget=29/194 swapoff=168/225 swapon=167/224 syslog=103/116
umount2=166/39 unshare=272/97 uselib=134/- userfaultfd=323/282 vhangup=153/58
"""

ABSENT = """
clone3=435/435 io_uring_enter=426/426 io_uring_register=427/427 io_uring_setup=425/425 memfd_create=319/279
openat2=437/437
"""

BY_ARGUMENT = """
chmod=90/- clone=56/220 creat=85/- fchmod=91/52 fchmodat=268/53 fchmodat2=452/452 ioctl=16/29 mknod=133/-
mknodat=259/33 mmap=9/222 open=2/- openat=257/56 personality=135/92 prlimit64=302/261 socket=41/198 socketpair=53/199
"""


def numbers(table: str, machine: str) -> dict[str, int]:
    """Number of each call of a table that the machine has."""
    column = list(MACHINES).index(machine)
    words = [word.partition("=") for word in table.split()]
    found = {name: columns.split("/")[column] for name, _, columns in words}
    return {name: int(number) for name, number in found.items() if number != "-"}
