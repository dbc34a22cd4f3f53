r"""Strict UTF-8 and strict JSON for everything that is kept, and the stated rules for what neither can hold.

1. JSON (`encode`, `canonical`): a lone surrogate survives as its ``\udXXX`` escape, and two that stand side by
   side as a pair become their character; ``NaN``, ``Infinity`` and ``-Infinity`` become those texts, and bytes become
   base64 text (both as in the JSON mapping of protocol buffers 3).
2. Plain text columns (`storable`, `restored`): a lone surrogate, NUL and SUBSTITUTE (U+001A) become U+001A and four
   hex digits, so every text comes back as it was and different texts stay different.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar, cast, overload

import msgspec

from treadle.errors import UserError

T = TypeVar("T")

_ESCAPE = "\x1a"
_UNSTORABLE = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile("\x1a([0-9a-f]{4})")
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_PACKED_NON_FINITE = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]")


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int):
        return int(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)
_CANONICAL_ENCODER = msgspec.json.Encoder(enc_hook=_plain, order="sorted")
_PACKER = msgspec.msgpack.Encoder(enc_hook=_plain)
_DECODER = msgspec.json.Decoder()


def encode(value: Any) -> bytes:
    """Write a value (plain values, dataclasses, mappings, sets) as strict JSON in UTF-8.

    Raises:
        UserError: The value has a part that JSON cannot hold by any rule, or nests too deeply.
    """
    return _encode(value, _ENCODER)


def canonical(value: Any) -> bytes:
    """Write a value as `encode` does, with sorted keys: equal values give equal bytes, fit for content addresses.

    Numbers keep their type (``1`` and ``1.0`` differ); whoever wants them equal makes them so before.

    Raises:
        UserError: As `encode`.
    """
    return _encode(value, _CANONICAL_ENCODER)


@overload
def decode(data: bytes) -> Any: ...
@overload
def decode(data: bytes, type: type[T]) -> T: ...
def decode(data: bytes, type: Any = Any) -> Any:
    """Read strict JSON in UTF-8, as a plain value or as a dataclass.

    Args:
        data: One JSON document; a byte-order mark, ``NaN`` and numbers beyond a double are refused.
        type: What the document must be; a float field also reads the texts ``NaN`` and ``±Infinity``.

    Raises:
        UserError: The bytes are not strict JSON or do not fit the type.
    """
    try:
        return _DECODER.decode(data) if type is Any else msgspec.json.decode(data, type=type)
    except (msgspec.DecodeError, RecursionError) as error:
        return _decode_slowly(data, type, error)


def storable(text: str) -> str:
    """A text as a column can hold it: no lone surrogate, no NUL; `restored` gives it back."""
    if text.isascii():
        if _ESCAPE not in text and "\x00" not in text:
            return text
    elif _ESCAPE not in text and "\x00" not in text:
        try:
            text.encode()
        except UnicodeEncodeError:
            pass
        else:
            return text
    return _UNSTORABLE.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def restored(text: str) -> str:
    """The text that `storable` was given."""
    if _ESCAPE not in text:
        return text
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def _encode(value: Any, encoder: msgspec.json.Encoder) -> bytes:
    try:
        return _encode_strictly(value, encoder)
    except RecursionError:
        raise UserError("a value nests too deeply to be kept as JSON") from None
    except (TypeError, ValueError) as error:
        raise UserError(f"a value cannot be kept as JSON: {error}") from None


def _encode_strictly(value: Any, encoder: msgspec.json.Encoder) -> bytes:
    try:
        out = encoder.encode(value)
    except UnicodeEncodeError:
        return _encode_slowly(value, encoder)
    if b"null" in out and _may_be_non_finite(value):
        return _encode_slowly(value, encoder)
    return out


def _may_be_non_finite(value: Any) -> bool:
    try:
        return _PACKED_NON_FINITE.search(_PACKER.encode(value)) is not None
    except (OverflowError, UnicodeEncodeError):
        return True


def _encode_slowly(value: Any, encoder: msgspec.json.Encoder) -> bytes:
    plain = _without_non_finite(msgspec.to_builtins(value, str_keys=True, enc_hook=_plain))
    try:
        return encoder.encode(plain)
    except UnicodeEncodeError:
        text = json.dumps(plain, separators=(",", ":"), sort_keys=encoder is _CANONICAL_ENCODER, allow_nan=False)
        return text.encode("ascii")


def _without_non_finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _without_non_finite(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_without_non_finite(item) for item in cast("list[Any]", value)]
    return value


def _decode_slowly(data: bytes, type: Any, first: Exception) -> Any:
    reason: Exception = first
    if not isinstance(first, RecursionError):
        try:
            if _SURROGATE_ESCAPE.search(data):
                plain = json.loads(data.decode(), parse_constant=_refused, parse_float=_finite)
                return msgspec.convert(plain, type, strict=False)
            if isinstance(first, msgspec.ValidationError):
                return msgspec.json.decode(data, type=type, strict=False)
        except (ValueError, RecursionError) as error:
            reason = error
    raise UserError(f"not the strict JSON that was expected: {reason}") from None


def _refused(literal: str) -> NoReturn:
    raise ValueError(f"{literal} is no JSON")


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError("Number out of range")
    return number
