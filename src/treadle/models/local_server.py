"""The child process of a local model: run by its path, it imports nothing of Treadle and dies with its parent."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
import threading
from typing import Any

_PR_SET_PDEATHSIG = 1


def _die_with(parent: int) -> None:
    """Make the kernel end this process with its parent, where it can: loading a model holds the interpreter."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def _serve(options: dict[str, Any]) -> Any:
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = options["path"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [options["key"]]
    params.n_parallel = options["slots"]
    # The library splits one context over all slots.
    params.n_ctx = options["slots"] * options["context"]
    params.n_threads_http = options["slots"] + 8
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options["threads"]
    # Its default keeps up to 8 GiB of old prompts.
    params.cache_ram_mib = 0
    params.offline = True
    params.ui = False
    params.verbosity = 0
    return xllamacpp.Server(params)


def main() -> None:
    """Read options from the first line of the input, serve, report the address, end when the input ends."""
    options = json.loads(sys.stdin.buffer.readline())
    _die_with(options["parent"])
    server = _serve(options)
    print(json.dumps({"address": server.listening_address}), flush=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    threading.Thread(target=_end_with_input, daemon=True).start()
    forever = threading.Event()
    while os.getppid() == options["parent"]:
        forever.wait(1.0)
    os._exit(0)


if __name__ == "__main__":
    main()
