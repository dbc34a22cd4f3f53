"""Downloads one file of a Hugging Face repository over HTTPS, checked against the hash the hub states."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from treadle.errors import UserError
from treadle.models.failures import shown

HUB = "https://huggingface.co"
_BLOCK = 2**20
_TIMEOUT_S = 30.0
_SHA256 = re.compile(r"[0-9a-f]{64}")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to the hub's storage and keeps the hash that only the hub's own answer carries."""

    def __init__(self) -> None:
        self.sha256: str | None = None

    def note(self, headers: Any) -> None:
        etag = str(headers.get("X-Linked-Etag") or "").strip('"').lower()
        if _SHA256.fullmatch(etag):
            self.sha256 = etag

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        self.note(headers)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(repo: str, file: str, revision: str, target: Path, report: Callable[[int, int | None], None]) -> None:
    """Download one file; ``$HF_ENDPOINT`` names another hub, ``$HF_TOKEN`` opens gated repositories.

    Args:
        repo: Owner and repository.
        file: The file's path in it.
        revision: A branch, tag or commit.
        target: Where to write.
        report: Called with the bytes so far and the bytes in all, where these are known.

    Raises:
        UserError: It cannot be had, broke off, or is not what the hub says it is.
    """
    hub = os.environ.get("HF_ENDPOINT", HUB).rstrip("/")
    address = f"{hub}/{repo}/resolve/{urllib.parse.quote(revision, safe='')}/{urllib.parse.quote(file)}"
    request = urllib.request.Request(address, headers={"User-Agent": "treadle"})
    token = os.environ.get("HF_TOKEN")
    if token:
        # Not sent on to the storage that the hub redirects to.
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    redirects = _Redirects()
    try:
        with urllib.request.build_opener(redirects).open(request, timeout=_TIMEOUT_S) as response:
            redirects.note(response.headers)
            length = response.headers.get("Content-Length")
            total = int(length) if length and length.isdecimal() else None
            digest, done = hashlib.sha256(), 0
            with target.open("wb") as sink:
                while block := response.read(_BLOCK):
                    digest.update(block)
                    sink.write(block)
                    done += len(block)
                    report(done, total)
    except urllib.error.HTTPError as error:
        error.close()
        raise UserError(f"{address} answered {error.code}: {_remedy(error.code, bool(token))}") from None
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        raise UserError(f"{address} cannot be fetched: {shown(str(error), (token or '',))}; try again") from None
    if total is not None and done != total:
        raise UserError(f"{address} broke off after {done} of {total} bytes; try again")
    if redirects.sha256 is not None and digest.hexdigest() != redirects.sha256:
        raise UserError(f"{address}: what arrived has the hash {digest.hexdigest()}, not {redirects.sha256}; try again")


def _remedy(status: int, has_token: bool) -> str:
    if status in (401, 403):
        return "accept its terms on the hub" if has_token else "it needs an account: set HF_TOKEN"
    return "check owner, repository, file and revision" if status == 404 else "try again later"
