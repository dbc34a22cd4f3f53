"""Models in a GGUF file, served by llama.cpp (through xllamacpp) in a child process on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib.util
import os
import secrets
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import aiohttp
import msgspec

from treadle.errors import ConnectionFailedError, UserError
from treadle.models.base import Completion, ModelIdentity, Request
from treadle.models.failures import shown
from treadle.models.openai_api import OpenAIModel
from treadle.models.options import read_options
from treadle.models.pull import is_fetchable, known_models, model_path

_SERVER = Path(__file__).with_name("local_server.py")
_PASSED_ON = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SYSTEMROOT",
    "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
)
_MAGIC = b"GGUF"
_SAMPLED_BYTES = 2**20
_MOST_STARTS = 3
_STOP_S = 3.0


@dataclass(frozen=True, slots=True)
class Serving:
    """How a local model is served.

    Args:
        slots: Requests answered at once; more wait.
        context: Tokens of prompt and reply together, per slot.
        threads: Threads that compute; 0 takes every core this process may use.
    """

    slots: int = 8
    context: int = 4096
    threads: int = 0

    def __post_init__(self) -> None:
        if self.slots < 1 or self.context < 1 or self.threads < 0:
            raise UserError("a local model needs slots and context from 1, and threads from 0")


@dataclass(slots=True)
class _Running:
    process: subprocess.Popen[bytes]
    client: OpenAIModel
    log: IO[bytes]


def local_model(spec: str, folder: Path) -> LocalModel:
    """Build a model from ``smollm2``, ``hf:owner/repo/file.gguf`` or a path, each with the options of `Serving`.

    Args:
        spec: Such as ``smollm2?slots=4&context=2048``.
        folder: Where a relative path starts.

    Raises:
        UserError: The extra is not installed, the model has not been fetched, or the file is no GGUF file.
    """
    serving = read_options(spec, Serving)
    name = spec.partition("?")[0]
    if importlib.util.find_spec("xllamacpp") is None:
        raise UserError("local models need the extra `local`: pip install 'treadle[local]'")
    if is_fetchable(name):
        path, known = model_path(name), known_models().get(name)
        return LocalModel(path, serving, name, known.version if known is not None else _fingerprint(path))
    path = (folder / Path(name).expanduser()).resolve()
    if not path.is_file():
        raise UserError(
            f"there is no model file {path}; give a GGUF file, or fetch a small model: treadle models pull smollm2"
        )
    return LocalModel(path, serving, path.name, _fingerprint(path))


class LocalModel:
    """A model served in a child process that starts with the first call and ends with this object or this process.

    Args:
        path: The GGUF file.
        serving: Slots, context and threads.
        name: The name in the identity.
        version: What tells this file from another of that name.
    """

    def __init__(self, path: Path, serving: Serving, name: str, version: str) -> None:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise UserError(f"{path} is no GGUF file")
        self._path = path
        self._serving = serving
        self._identity = ModelIdentity("local", name, version)
        self._running: _Running | None = None
        self._starting: asyncio.Task[OpenAIModel] | None = None
        self._starts = 0

    def __repr__(self) -> str:
        return f"LocalModel({str(self._identity)!r})"

    @property
    def identity(self) -> ModelIdentity:
        """Name and content of the file; never the port."""
        return self._identity

    @property
    def slots(self) -> int:
        """Requests answered at once; more wait."""
        return self._serving.slots

    @property
    def context_window(self) -> int:
        """Tokens of prompt and reply together."""
        return self._serving.context

    @property
    def source(self) -> str:
        """The name of the file that it serves."""
        return self._path.name

    async def start(self) -> None:
        """Start the server and wait until it is ready, so that the first call's latency is the model's own."""
        await self._client()

    async def complete(self, request: Request) -> Completion:
        """Make one attempt, starting the server if it does not run.

        Raises:
            ProviderError: As for an OpenAI-compatible endpoint; a server that died is a failed connection.
        """
        client = await self._client()
        try:
            return await client.complete(request)
        except ConnectionFailedError:
            # The connection breaks a moment before the process is seen to end.
            if self._running is None or not await _ends(self._running.process, 1.0):
                raise
            raise ConnectionFailedError(f"{self._identity}: {self._epitaph(self._running)}") from None

    async def aclose(self) -> None:
        """Stop the server."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
            self._starting = None
        await self._end()

    async def _end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            await running.client.aclose()
            await _stop(running.process)
            running.log.close()

    async def _client(self) -> OpenAIModel:
        if self._running is not None and self._running.process.poll() is None:
            return self._running.client
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start())
        # One caller's timeout must not end the start that others wait for.
        return await asyncio.shield(self._starting)

    async def _start(self) -> OpenAIModel:
        await self._end()
        if self._starts >= _MOST_STARTS:
            raise ConnectionFailedError(f"{self._identity}: its server did not last, {_MOST_STARTS} times; giving up")
        self._starts += 1
        key = secrets.token_urlsafe()
        log = tempfile.TemporaryFile()  # noqa: SIM115
        process = self._spawn(key, log)
        try:
            address = await self._address(process, log)
            client = OpenAIModel(
                self._identity.name,
                base_url=f"{address}/v1",
                api_key=key,
                max_concurrency=self._serving.slots + 2,
                provider="local",
            )
            await _healthy(address)
        except BaseException:
            await _stop(process, patience_s=0.0)
            log.close()
            raise
        self._running = _Running(process, client, log)
        return client

    def _spawn(self, key: str, log: IO[bytes]) -> subprocess.Popen[bytes]:
        serving = self._serving
        options = {
            "path": str(self._path),
            "key": key,
            "slots": serving.slots,
            "context": serving.context,
            "threads": serving.threads or _cores(),
            "parent": os.getpid(),
        }
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        # Spinning threads starve everything else on the machine, this process included.
        environment["OMP_WAIT_POLICY"] = "passive"
        process = subprocess.Popen(
            [sys.executable, "-I", str(_SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
            start_new_session=True,
        )
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(msgspec.json.encode(options) + b"\n")
            process.stdin.flush()
        return process

    async def _address(self, process: subprocess.Popen[bytes], log: IO[bytes]) -> str:
        assert process.stdout is not None
        line = await asyncio.to_thread(process.stdout.readline)
        try:
            return str(msgspec.json.decode(line)["address"])
        except (msgspec.DecodeError, KeyError, TypeError):
            log.seek(0)
            said = log.read()[-2000:].decode("utf-8", "replace")
            serving = self._serving
            raise ConnectionFailedError(
                f"{self._identity}: {self._path} cannot be loaded; the file is damaged, or there is too little memory "
                f"for {serving.slots} slots of {serving.context} tokens: {shown(said) or 'no reason given'}"
            ) from None

    def _epitaph(self, running: _Running) -> str:
        running.log.seek(0)
        said = shown(running.log.read()[-2000:].decode("utf-8", "replace"))
        return f"its server died (exit {running.process.returncode}){': ' + said if said else ''}"


async def _healthy(address: str) -> None:
    async with aiohttp.ClientSession() as session:
        while True:
            async with session.get(f"{address}/health") as response:
                if response.status == 200:
                    return
            await asyncio.sleep(0.05)


async def _stop(process: subprocess.Popen[bytes], patience_s: float = _STOP_S) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    if not await _ends(process, patience_s):
        process.kill()
        await asyncio.to_thread(process.wait)
    process.stdout.close()


async def _ends(process: subprocess.Popen[bytes], within_s: float) -> bool:
    try:
        await asyncio.to_thread(process.wait, within_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _fingerprint(path: Path) -> str:
    """What tells a file from another: its size, and its two ends (metadata and last weights), not gigabytes between."""
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        digest.update(file.read(_SAMPLED_BYTES))
        file.seek(max(0, size - _SAMPLED_BYTES))
        digest.update(file.read())
    return "ends-sha256:" + digest.hexdigest()[:16]
