"""Keys and other secrets: recognised where they do not belong, and taken out of what is kept or shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from urllib.parse import quote

REDACTED = "[redacted]"

SHORTEST_SECRET = 8
"""Shorter values are no real keys, and taking them out would spoil ordinary text."""

PLACEHOLDERS = frozenset({"not-needed", "no-key-needed", "no-key-required", "sk-no-key-required", "placeholder"})
"""What people give servers that want some key, in lower case."""

_SECRET_NAME = re.compile(
    r"(.*_)?(api_?key|secret(_key)?|private_key|password|passwd|(access|auth|api|bearer|secret)_token"
    r"|authorization|credentials?)|key|token|bearer"
)
_KEY_SHAPES = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:c?sk|rk|pk)-[A-Za-z0-9_-]{8,}"
    r"|AIza[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{10,}"
    r"|(?:gsk|hf|fw|r8|ghp|gho|ghs|ghu|github_pat|tgp_v1)_[A-Za-z0-9_-]{16,}"
    r"|(?:xai|nvapi|pplx|key|glpat|xox[abp])-[A-Za-z0-9_-]{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}"
    r"|[Bb]earer +\S{6,}"
    r")|-----BEGIN [A-Z ]*PRIVATE KEY"
)


def names_a_secret(name: str) -> bool:
    """Whether a setting or header of this name holds a secret; ``api_key_env`` and ``max_tokens`` do not."""
    return _SECRET_NAME.fullmatch(name.strip().lower().replace("-", "_")) is not None


def holds_a_key(text: str) -> bool:
    """Whether a text has a part in the shape of a known vendor's key, token or private key."""
    return _KEY_SHAPES.search(text) is not None


def redact(text: str, secrets: Iterable[str]) -> str:
    """A text without these secrets, also where they stand escaped for a URL or for JSON."""
    for secret in sorted(secrets, key=len, reverse=True):
        for form in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1]):
            if form and form in text:
                text = text.replace(form, REDACTED)
    return text
