"""The process that runs untrusted work: its limits, the last of its privileges, and the work itself."""

from __future__ import annotations

import os
import signal
import struct
import sys

import kernel
import landlock
import limits
import seccomp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from plan import Plan

_HEAD = struct.Struct(">IQ")
CANNOT_START = 126
_SCOPES = 6
_LARGEST_CODE, _NO_CODE = 1 << 63, 255


def run(plan: Plan, streams: Sequence[int], payload: int, faults: int) -> None:
    """Turn this process into the work; never returns.

    Args:
        plan: What to run and what it may: ``argv`` (``None`` for a program), ``folder``, ``env``, ``limits``, ``uid``,
            ``network``, ``landlock``.
        streams: Descriptors of its stdin, stdout and stderr.
        payload: Descriptor of the files to put into its folder, or -1; see `unpack`.
        faults: Descriptor to say on why the work cannot start; closed before it does.
    """
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.chdir(plan["folder"])
    limits.apply(plan["limits"])
    if plan["uid"] is not None:
        os.setgroups([])
        os.setresgid(plan["uid"], plan["uid"], plan["uid"])
        os.setresuid(plan["uid"], plan["uid"], plan["uid"])
    kernel.no_new_privileges()
    reach = plan["landlock"]
    if reach is not None:
        if landlock.abi() < _SCOPES:
            raise OSError(f"the kernel's Landlock is version {landlock.abi()}; without {_SCOPES} signals reach outside")
        landlock.confine(reach["readable"], reach["writable"], tcp=plan["network"] == "host")
    kernel.drop_capabilities()
    if payload >= 0:
        unpack(payload)
    os.closerange(3, faults)
    os.closerange(faults + 1, 4096)
    seccomp.install("loopback" if plan["network"] == "host" else plan["network"])
    os.umask(0o022)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.environ.clear()
    os.environ.update(plan["env"])
    if plan["argv"] is None:
        os.close(faults)
        _program(plan["program"])
    else:
        _command(plan["argv"], plan["env"])


def _command(argv: list[str], env: dict[str, str]) -> None:
    # This interpreter ignores it, and what a command starts would: ``yes | head`` has to end by it.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, env)
    except (OSError, ValueError) as error:
        os.write(2, f"{argv[0]}: {error}\n".encode("utf-8", "replace"))
        os._exit(CANNOT_START)


def unpack(payload: int) -> None:
    """Write files into the current folder.

    Args:
        payload: Descriptor of their bytes: for each file the length of its path (4 bytes), of its content (8 bytes),
            and both.
    """
    with open(payload, "rb", closefd=True) as source:
        while head := source.read(_HEAD.size):
            name_size, size = _HEAD.unpack(head)
            path = os.fsdecode(source.read(name_size))
            folder = os.path.dirname(path)
            if folder:
                os.makedirs(folder, exist_ok=True)
            with open(path, "wb") as target:
                target.write(source.read(size))


def _program(path: str) -> None:
    """Run the program in this interpreter as a fresh one would: no guest module, no frame of ours, is left in sight."""
    kernel.dumpable()
    folder = os.getcwd()
    sys.argv = [path]
    guest = os.path.dirname(__file__)
    sys.path[:] = [folder] + [path for path in sys.path if path != guest]
    for name in [name for name, module in sys.modules.items() if _is_guest(module, guest)]:
        del sys.modules[name]
    main = type(sys)("__main__")
    main.__dict__.update(__builtins__=__builtins__, __file__=path)
    sys.modules["__main__"] = main
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    os._exit(_execute(path, main.__dict__))


def _is_guest(module: object, guest: str) -> bool:
    return os.path.dirname(getattr(module, "__file__", None) or "") == guest


def _execute(path: str, namespace: dict[str, Any]) -> int:
    code = 0
    try:
        with open(path, "rb") as file:
            source = file.read()
        exec(compile(source, path, "exec", dont_inherit=True), namespace)
    except SystemExit as leaving:
        code = _exit_code(leaving)
    except BaseException as error:
        own = error.__traceback__
        shown = error.with_traceback(own.tb_next if own else None)
        sys.excepthook(type(shown), shown, shown.__traceback__)
        code = 1
    return _finish(code)


def _exit_code(leaving: SystemExit) -> int:
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code & 0xFF if -_LARGEST_CODE <= leaving.code < _LARGEST_CODE else _NO_CODE
    sys.stderr.write(f"{leaving.code}\n")
    return 1


def _finish(code: int) -> int:
    """What an interpreter does at its end: wait for threads, run exit functions, flush."""
    try:
        threading = sys.modules.get("threading")
        if threading is not None:
            threading._shutdown()
        atexit = sys.modules.get("atexit")
        if atexit is not None:
            atexit._run_exitfuncs()
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
    for stream in (sys.stdout, sys.stderr):
        try:
            if not getattr(stream, "closed", True):
                stream.flush()
        except (OSError, ValueError, AttributeError):
            code = code or 120
    return code
