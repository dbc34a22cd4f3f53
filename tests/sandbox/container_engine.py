"""A container engine for tests, under the name ``docker`` or ``podman``: it reads their command line strictly.

What it does not know it refuses as they do. Containers are boxes of bubblewrap that go on when the command that started
them is killed, as those of an engine do. It keeps what runs in ``$HOME/engine``; memory and processes it only checks.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

KNOWN_IMAGES = ("python:3.11-slim",)
SIZE = r"\d+[bkmg]?"
FLAGS = {
    "name": r"[a-zA-Z0-9][a-zA-Z0-9_.-]+",
    "label": r"[^=]+=.*",
    "network": r"none|bridge",
    "pull": r"never",
    "user": r"\d+:\d+",
    "cap-drop": r"ALL",
    "security-opt": r"no-new-privileges(=true)?",
    "tmpfs": rf"/[^:]*:((rw|exec|nosuid|nodev|size={SIZE}|mode=\d+)(,|$))+",
    "shm-size": SIZE,
    "pids-limit": r"\d+",
    "memory": SIZE,
    "memory-swap": SIZE,
    "cpus": r"\d+(\.\d+)?",
    "workdir": r"/.*",
    "hostname": r"[a-z-]+",
    "entrypoint": r".+",
}
ASKED = {
    "docker": {"version": ["{{.Server.Version}}"], "info": ["{{.SecurityOptions}}"]},
    "podman": {"info": ["{{.Version.Version}}", "{{.Host.Security.Rootless}}"]},
}
SECURITY = {
    "{{.SecurityOptions}}": ("[name=seccomp,profile=builtin]", "[name=seccomp,profile=builtin name=rootless]"),
    "{{.Host.Security.Rootless}}": ("false", "true"),
}
PODMAN_ONLY = {"userns": r"keep-id"}
MOUNT = {"type", "source", "target", "readonly"}


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        print(f"{sys.argv[0]}: {message}", file=sys.stderr)
        raise SystemExit(125)


def parser(engine: str) -> Parser:
    top = Parser(prog=engine, allow_abbrev=False)
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser)
    for name, templates in ASKED[engine].items():
        commands.add_parser(name, allow_abbrev=False).add_argument("--format", required=True, choices=templates)
    image = commands.add_parser("image").add_subparsers(dest="about", required=True, parser_class=Parser)
    inspect = image.add_parser("inspect", allow_abbrev=False)
    inspect.add_argument("--format", required=True, choices=["{{.Id}}"])
    inspect.add_argument("image")
    ps = commands.add_parser("ps", allow_abbrev=False)
    ps.add_argument("--all", action="store_true", required=True)
    ps.add_argument("--filter", required=True, type=checked("filter", r"label=\w+"))
    ps.add_argument("--format", required=True, choices=["{{.Names}}"])
    remove = commands.add_parser("rm", allow_abbrev=False)
    remove.add_argument("--force", action="store_true", required=True)
    remove.add_argument("name")
    run = commands.add_parser("run", allow_abbrev=False)
    for switch in ("rm", "interactive", "read-only"):
        run.add_argument(f"--{switch}", action="store_true", required=True)
    for flag, pattern in (FLAGS | (PODMAN_ONLY if engine == "podman" else {})).items():
        run.add_argument(f"--{flag}", type=checked(flag, pattern))
    run.add_argument("--mount", action="append", default=[])
    run.add_argument("image")
    run.add_argument("argv", nargs=argparse.REMAINDER)
    return top


def checked(flag: str, pattern: str):  # noqa: ANN201
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise argparse.ArgumentTypeError(f"invalid argument {value!r} for {flag}")
        return value

    return check


def state() -> Path:
    folder = Path(os.environ["HOME"]) / "engine"
    folder.mkdir(exist_ok=True)
    return folder


def run(asked: argparse.Namespace) -> int:
    if asked.image not in KNOWN_IMAGES:
        print(f"Unable to find image '{asked.image}' locally", file=sys.stderr)
        return 125
    place = state() / f"{asked.name}.json"
    if place.exists():
        print(f'Conflict. The container name "/{asked.name}" is already in use', file=sys.stderr)
        return 125
    print("WARNING: Your kernel does not support swap limit capabilities", file=sys.stderr, flush=True)
    box = subprocess.Popen(boxed(asked), env={"PATH": os.environ["PATH"]}, start_new_session=True)
    place.write_text(json.dumps({"pid": box.pid, "label": asked.label, "flags": sys.argv[2:]}))
    (state() / "last").write_text(place.read_text())
    code = box.wait()
    place.unlink(missing_ok=True)
    return 128 - code if code < 0 else code


def boxed(asked: argparse.Namespace) -> list[str]:
    user, group = asked.user.split(":")
    where, _, options = asked.tmpfs.partition(":")
    size = re.search(r"size=(\d+)", options)
    argv = ["bwrap", "--unshare-user", "--uid", user, "--gid", group, "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    argv += ["--unshare-net"] if asked.network == "none" else []
    argv += ["--as-pid-1", "--cap-drop", "ALL", "--hostname", asked.hostname, "--clearenv"]
    argv += ["--setenv", "PATH", f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME", "/"]
    for path in ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", sys.prefix, sys.base_prefix):
        argv += ["--ro-bind-try", path, path]
    argv += ["--proc", "/proc", "--dev", "/dev"]
    argv += ["--size", asked.shm_size, "--tmpfs", "/dev/shm"]
    argv += ["--size", size[1] if size else "0", "--perms", "1777", "--tmpfs", where]
    for mount in asked.mount:
        (row,) = csv.reader([mount])
        fields = {name: value for name, _, value in (field.partition("=") for field in row)}
        if set(fields) - MOUNT or fields["type"] != "bind" or not Path(fields["source"]).exists():
            print(f"invalid argument {mount!r} for --mount", file=sys.stderr)
            raise SystemExit(125)
        argv += ["--ro-bind" if "readonly" in fields else "--bind", fields["source"], fields["target"]]
    return [*argv, "--chdir", asked.workdir, "--", asked.entrypoint, *asked.argv]


def remove(asked: argparse.Namespace) -> int:
    place = state() / f"{asked.name}.json"
    if not place.exists():
        print(f"Error: No such container: {asked.name}", file=sys.stderr)
        return 1
    pid = json.loads(place.read_text())["pid"]
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    place.unlink(missing_ok=True)
    print(asked.name)
    return 0


def main() -> int:
    engine = Path(sys.argv[0]).name
    asked = parser(engine).parse_args()
    if (state() / "down").exists():
        print("Cannot connect to the Docker daemon. Is the docker daemon running?", file=sys.stderr)
        return 1
    if asked.command in ("version", "info"):
        # A box has users of its own, so the double is as good as rootless unless it is told to say otherwise.
        rootful, rootless = SECURITY.get(asked.format, ("27.0.1", "27.0.1"))
        print(rootful if (state() / "rootful").exists() else rootless)
    elif asked.command == "image":
        if asked.image not in KNOWN_IMAGES:
            print(f"Error: No such image: {asked.image}", file=sys.stderr)
            return 1
        print("sha256:0123abcd")
    elif asked.command == "ps":
        label = asked.filter.removeprefix("label=")
        for place in state().glob("*.json"):
            if json.loads(place.read_text())["label"].partition("=")[0] == label:
                print(place.stem)
    else:
        return run(asked) if asked.command == "run" else remove(asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
