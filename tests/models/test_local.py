"""Local models: a real llama.cpp server in a real child process."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from treadle.errors import ConnectionFailedError, RejectedError, UserError
from treadle.models.base import Message, Request
from treadle.models.local import LocalModel, Serving, local_model
from treadle.models.pull import model_path


def gguf() -> Path:
    try:
        if importlib.util.find_spec("xllamacpp") is None:
            raise UserError("xllamacpp is not installed")
        return model_path("smollm2")
    except UserError as error:
        if os.environ.get("TREADLE_REQUIRE") == "all":
            pytest.fail(f"required here: {error}")
        pytest.skip(f"no local model: {error}")


@pytest.fixture
async def model() -> AsyncIterator[LocalModel]:
    local = LocalModel(gguf(), Serving(slots=2, context=512), "smollm2", "v")
    yield local
    await local.aclose()


def asked(text: str, **settings: object) -> Request:
    return Request("smollm2", (Message("user", text),), {"max_tokens": 12, "temperature": 0.0, "seed": 1, **settings})


def child(model: LocalModel) -> subprocess.Popen[bytes]:
    running = model._running  # pyright: ignore[reportPrivateUsage]
    assert running is not None
    return running.process


def environment_of(process: subprocess.Popen[bytes]) -> bytes:
    return Path(f"/proc/{process.pid}/environ").read_bytes()


def alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


async def gone(pid: int) -> None:
    descriptor = os.pidfd_open(pid) if alive(pid) else None
    if descriptor is not None:
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(descriptor, ended.set)
        async with asyncio.timeout(10):
            await ended.wait()
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)
    assert not alive(pid)


async def test_it_answers_counts_tokens_and_stops_with_its_owner(model: LocalModel) -> None:
    first, second = await asyncio.gather(model.complete(asked("Say hello.")), model.complete(asked("Say hello.")))
    assert first.text.strip()
    assert first.usage is not None
    assert first.usage.input > 5
    assert 0 < first.usage.output <= 12
    assert second.finish_reason in {"stop", "length"}
    environment = environment_of(child(model))
    assert b"OMP_WAIT_POLICY=passive" in environment
    pid = child(model).pid
    await model.aclose()
    await model.aclose()
    assert not alive(pid)


async def test_a_schema_is_kept(model: LocalModel) -> None:
    schema = {
        "type": "object",
        "properties": {"capital": {"enum": ["Paris", "Rome"]}},
        "required": ["capital"],
        "additionalProperties": False,
    }
    request = Request("smollm2", (Message("user", "The capital of Italy?"),), {"max_tokens": 60}, schema=schema)
    completion = await model.complete(request)
    assert msgspec.json.decode(completion.text)["capital"] in {"Paris", "Rome"}


async def test_a_prompt_too_long_names_the_context(model: LocalModel) -> None:
    with pytest.raises(RejectedError, match="512 tokens"):
        await model.complete(asked("word " * 2000))


async def test_no_key_of_ours_reaches_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-test-123")
    model = LocalModel(gguf(), Serving(slots=1, context=512), "smollm2", "v")
    await model.start()
    assert b"sk-test-123" not in environment_of(child(model))
    await model.aclose()


async def test_a_server_that_dies_is_a_failed_connection_and_starts_again(model: LocalModel) -> None:
    await model.start()
    dying = asyncio.create_task(model.complete(asked("Count to one thousand.", max_tokens=400)))
    await asyncio.sleep(0)
    pid = child(model).pid
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(ConnectionFailedError):
        await dying
    assert (await model.complete(asked("Say hello."))).text
    assert child(model).pid != pid


async def test_it_dies_with_a_parent_that_is_killed() -> None:
    program = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from treadle.models.local import LocalModel, Serving\n"
        "async def main():\n"
        "    model = LocalModel(Path(sys.argv[1]), Serving(slots=1, context=512), 'smollm2', 'v')\n"
        "    await model.start()\n"
        "    print(model._running.process.pid, flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(gguf()), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())
    assert alive(pid)
    parent.kill()
    await parent.wait()
    await gone(pid)


async def test_cancelling_the_first_call_leaves_no_process_behind() -> None:
    model = LocalModel(gguf(), Serving(slots=1, context=512), "smollm2", "v")
    calls = [asyncio.create_task(model.complete(asked("Say hello."))) for _ in range(2)]
    await asyncio.sleep(0.05)
    calls[0].cancel()
    assert (await calls[1]).text
    await model.aclose()


async def test_closing_while_it_starts_stops_it() -> None:
    model = LocalModel(gguf(), Serving(slots=1, context=512), "smollm2", "v")
    call = asyncio.create_task(model.complete(asked("Say hello.")))
    await asyncio.sleep(0.05)
    await model.aclose()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_a_damaged_file_says_so(tmp_path: Path) -> None:
    gguf()
    path = tmp_path / "damaged.gguf"
    path.write_bytes(b"GGUF" + bytes(2000))
    model = local_model("damaged.gguf", tmp_path)
    with pytest.raises(ConnectionFailedError, match="cannot be loaded"):
        await model.complete(asked("Say hello."))
    await model.aclose()


class TestNames:
    def test_a_missing_file_is_found_before_any_call(self, tmp_path: Path) -> None:
        gguf()
        with pytest.raises(UserError, match="models pull"):
            local_model("nothing.gguf", tmp_path)

    def test_another_kind_of_file_is_refused(self, tmp_path: Path) -> None:
        gguf()
        (tmp_path / "notes.txt").write_text("hello")
        with pytest.raises(UserError, match="no GGUF file"):
            local_model("notes.txt", tmp_path)

    def test_the_identity_is_the_files_content(self, tmp_path: Path) -> None:
        gguf()
        for name, content in (("a.gguf", b"GGUF one"), ("b.gguf", b"GGUF two")):
            (tmp_path / name).write_bytes(content)
        first, second = (local_model(name, tmp_path).identity for name in ("a.gguf", "b.gguf"))
        assert first.endpoint != second.endpoint
        assert first == local_model("a.gguf?slots=2&context=99", tmp_path).identity

    def test_options_are_read_strictly(self, tmp_path: Path) -> None:
        gguf()
        with pytest.raises(UserError, match="did you mean slots"):
            local_model("a.gguf?slot=2", tmp_path)
        with pytest.raises(UserError, match="from 1"):
            local_model("a.gguf?slots=0", tmp_path)
