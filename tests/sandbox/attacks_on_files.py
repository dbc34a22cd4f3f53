"""Attacks on this machine's files."""

from __future__ import annotations

import socket
import stat
from pathlib import Path

from attack import PLAIN, UNPROTECTED, Attack, Seen, by_root, reached, says_won

_NOT_OF_THIS_MACHINE = ("root:x:0:", "127.0.0.1", "::1")


def knows_the_machine(seen: Seen) -> bool:
    """Whether a line of a file that tells who this machine is came out."""
    lines = [line for path in ("/etc/passwd", "/etc/machine-id") for line in _lines(Path(path))]
    return socket.gethostname() in seen.texts or any(line in seen.texts for line in lines)


def _lines(path: Path) -> list[str]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [line for line in lines if len(line) > 10 and not line.startswith(_NOT_OF_THIS_MACHINE)]


def knows_the_project(seen: Seen) -> bool:
    """Whether the text of this project's own files came out."""
    return "[build-system]" in seen.texts


def finds_the_name(seen: Seen) -> bool:
    """Whether the name of the canaries' folder came out."""
    return seen.canaries.root.name in seen.texts


def got_rights(seen: Seen) -> bool:
    """Whether a file of another user's rights was left in the folder."""
    return any(path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID) for path in seen.canaries.work.iterdir())


def made_a_device(seen: Seen) -> bool:
    """Whether a device was left in the folder."""
    return any(stat.S_ISCHR(path.lstat().st_mode) for path in seen.canaries.work.iterdir())


def left_a_core(seen: Seen) -> bool:
    """Whether a core file was left in the folder."""
    return any(path.name.startswith("core") for path in seen.canaries.work.iterdir())


def planted(seen: Seen) -> bool:
    """Whether a link out of the folder was left in it."""
    return (seen.canaries.work / "out").is_symlink()


FILES = (
    Attack(
        "read a file",
        "read a file of this machine that everybody may read",
        "its secret is in no output",
        "print(open(bait['file']).read())",
        UNPROTECTED,
    ),
    Attack(
        "read by another path",
        "read it through the roots and working folders that `/proc` shows, and past the root",
        "its secret is in no output",
        """
for process in ("self", "1", str(os.getppid()), "thread-self"):
    for way in ("root", "cwd", "cwd" + 12 * "/.."):
        print(tried(lambda: open(f"/proc/{process}/{way}{bait['file']}").read()))
print(tried(lambda: open(12 * "/.." + bait["file"]).read()))
""",
        UNPROTECTED,
    ),
    Attack(
        "find files",
        "walk the file system and list what lies there",
        "the canaries' folder is in no output",
        """
skipped = ("/proc", "/sys", "/usr", "/dev")
waiting = ["/var/tmp", "/"]
for folder in waiting:
    for name in tried(os.listdir, folder) or ():
        path = os.path.join(folder, name)
        if path not in skipped and os.path.isdir(path) and path.count("/") < 4 and len(waiting) < 2000:
            waiting.append(path)
print([path for path in waiting if "canaries" in path])
""",
        UNPROTECTED,
        finds_the_name,
    ),
    Attack(
        "read the project",
        "read the project whose tests are being run",
        "its text is in no output",
        "print(open(os.path.join(bait['project'], 'pyproject.toml')).read())",
        UNPROTECTED,
        knows_the_project,
    ),
    Attack(
        "know the machine",
        "learn the machine's name, number and users",
        "no line of its files and not its name is in any output",
        """
print(os.uname().nodename)
for path in ("passwd", "shadow", "machine-id", "hostname", "resolv.conf", "ssh/sshd_config"):
    print(tried(lambda: open("/etc/" + path).read()))
""",
        UNPROTECTED,
        knows_the_machine,
        not_claimed={"landlock": "the kernel tells the machine's name to whoever has no namespace of names"},
    ),
    Attack(
        "write outside",
        "make a file outside of the work folder, in a canary's folder and in the system's",
        "no such file is there",
        """
for folder in (bait["folder"], *bait["elsewhere"]):
    tried(lambda: open(os.path.join(folder, bait["mark"]), "w").write("out"))
""",
        UNPROTECTED,
    ),
    Attack(
        "change a file",
        "overwrite, truncate, rename or remove a file outside",
        "the file is what it was",
        """
path = bait["file"]
tried(lambda: open(path, "a").write("!"))
tried(os.truncate, path, 0)
tried(os.rename, path, path + "!")
tried(os.unlink, path)
""",
        UNPROTECTED,
    ),
    Attack(
        "open up a file",
        "let everybody write to a file outside",
        "the file's mode is what it was",
        "os.chmod(bait['file'], 0o666)",
        UNPROTECTED,
        not_claimed={"landlock": "Landlock knows no right to change a file's mode, owner or times"},
    ),
    Attack(
        "link out",
        "make a symbolic link to a folder outside, then read and write through it",
        "the secret is in no output, nothing was written",
        """
os.symlink(bait["folder"], "link")
print(tried(lambda: open("link/secret").read()))
tried(lambda: open("link/" + bait["mark"], "w").write("out"))
""",
        UNPROTECTED,
    ),
    Attack(
        "hard link",
        "make a hard link to a file outside, then write through it",
        "the file is what it was",
        "os.link(bait['file'], 'link')\nopen('link', 'a').write('!')",
        PLAIN,
    ),
    Attack(
        "plant a link",
        "leave a link to a file outside in a folder of the user's, for the next work's files to be written through",
        "the file is what it was after the next work",
        "os.symlink(bait['file'], 'out')",
        UNPROTECTED,
        effect=planted,
        after="tried(lambda: open('out', 'w').write('out'))",
        folder=True,
    ),
    Attack(
        "leave rights",
        "leave a set-user-id program in a folder of the user's",
        "no file there has the bit",
        """
for path, mode in (("user", 0o4755), ("group", 0o2755)):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o755))
    tried(os.chmod, path, mode)
tried(lambda: os.close(os.open("made", os.O_CREAT | os.O_WRONLY, 0o6755)))
""",
        UNPROTECTED,
        got_rights,
        folder=True,
    ),
    Attack(
        "leave a device",
        "leave a device file in a folder of the user's",
        "none is there",
        "os.mknod('device', 0o20666, os.makedev(1, 5))",
        by_root("unprotected"),
        made_a_device,
        folder=True,
    ),
    Attack(
        "dump core",
        "leave its memory as a core file in a folder of the user's",
        "none is there",
        """
import resource
hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
os.abort()
""",
        PLAIN,
        left_a_core,
        folder=True,
    ),
    Attack(
        "own copy of a tool",
        "read a file outside with a copied executable",
        "its secret is in no output",
        """
import shutil, subprocess
shutil.copy("/bin/cat", "tool")
subprocess.run(["./tool", bait["file"]])
""",
        UNPROTECTED,
    ),
    Attack(
        "tool from memory",
        "read a file outside with an executable that is no file",
        "its secret is in no output",
        """
held = os.memfd_create("tool", 0)
os.write(held, open("/bin/cat", "rb").read())
os.execv(f"/proc/self/fd/{held}", [bait["mark"], bait["file"]])
""",
        UNPROTECTED,
    ),
    Attack(
        "open descriptors",
        "use descriptors that were left open",
        "the secret is in no output",
        """
for number in range(3, 256):
    print(tried(lambda: os.read(os.open("secret", os.O_RDONLY, dir_fd=number), 99)))
    os.path.exists(f"/proc/self/fd/{number}") and won()
""",
        PLAIN,
        says_won,
    ),
    Attack(
        "devices",
        "open a device that is more than a source of bytes",
        "the program does not say that it could",
        """
plain = ("null", "zero", "full", "random", "urandom")
for name in ("ptmx", "tty", "console", "kmsg", "mem", "vda", "sda", "fuse", "kvm", "net/tun", "vsock", "userfaultfd"):
    if tried(os.open, "/dev/" + name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY) is not None:
        won()
""",
        UNPROTECTED,
        says_won,
    ),
    Attack(
        "change the library",
        "put a module among those that the next program imports, or change the sandbox's own",
        "no such file is there",
        """
for folder in bait["libraries"]:
    tried(lambda: open(os.path.join(folder, bait["mark"]), "w").write("out"))
    tried(os.chmod, folder, 0o777)
""",
        UNPROTECTED,
        reached,
    ),
)
