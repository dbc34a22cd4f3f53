"""From ``provider:model`` to a model; each kind is imported only when it is named."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from treadle.errors import UnknownNameError, UserError
from treadle.models.base import Model


@dataclass(frozen=True, slots=True)
class Address:
    """Where a provider is found, and which environment variables (the first one set) hold its key."""

    base_url: str
    keys: tuple[str, ...] = ()


OPENAI_COMPATIBLE = {
    "openai": Address("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    "cerebras": Address("https://api.cerebras.ai/v1", ("CEREBRAS_API_KEY",)),
    "deepseek": Address("https://api.deepseek.com/v1", ("DEEPSEEK_API_KEY",)),
    "fireworks": Address("https://api.fireworks.ai/inference/v1", ("FIREWORKS_API_KEY",)),
    "groq": Address("https://api.groq.com/openai/v1", ("GROQ_API_KEY",)),
    "mistral": Address("https://api.mistral.ai/v1", ("MISTRAL_API_KEY",)),
    "openrouter": Address("https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",)),
    "together": Address("https://api.together.xyz/v1", ("TOGETHER_API_KEY",)),
    "xai": Address("https://api.x.ai/v1", ("XAI_API_KEY",)),
    "ollama": Address("http://127.0.0.1:11434/v1"),
    "vllm": Address("http://127.0.0.1:8000/v1"),
}
"""Providers that speak the OpenAI protocol; any other server of it is ``openai:`` with its ``base_url``."""

VENDORS = {
    "anthropic": Address("https://api.anthropic.com", ("ANTHROPIC_API_KEY",)),
    "google": Address("https://generativelanguage.googleapis.com", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
    "cohere": Address("", ("CO_API_KEY",)),
    "huggingface": Address("", ("HF_TOKEN",)),
    "bedrock": Address(""),
    "google-cloud": Address(""),
}
"""Providers reached through pydantic-ai; without a variable here, the vendor's SDK finds its credentials itself."""


def build_model(
    spec: str,
    *,
    base_url: str | None = None,
    api_key_env: str | None = None,
    max_concurrency: int = 64,
    folder: Path | None = None,
    keyless: bool = False,
) -> Model:
    """Build the model that a name stands for; nothing is asked of it yet.

    A key is sent only where it belongs: to the provider's own address, or to another ``base_url`` when
    ``api_key_env`` names one for it.

    Args:
        spec: ``provider:model``, such as ``openai:gpt-5-mini``, ``local:smollm2``, ``scripted:model.py``.
        base_url: Another address of the provider's protocol.
        api_key_env: The environment variable that holds the key.
        max_concurrency: The most calls in flight.
        folder: Where relative paths start; the current folder when not given.
        keyless: Build it without its key, to estimate with; it is never called.

    Raises:
        UserError: The name is not of this form, a key is not set, a part is not installed, a file cannot be used.
        UnknownNameError: No such provider.
    """
    provider, colon, name = (part.strip() for part in spec.partition(":"))
    if not colon or not provider or not name:
        raise UserError(f"the model {spec!r} must be written provider:model, such as openai:gpt-5-mini")
    if provider in OPENAI_COMPATIBLE:
        key_name, key = (None, None) if keyless else api_key(spec, base_url, api_key_env)
        return _openai(provider, name, base_url, key_name, key, max_concurrency)
    if provider in VENDORS:
        return _vendor(spec, base_url, api_key_env, keyless=keyless)
    if provider not in _ON_THIS_MACHINE:
        raise UnknownNameError("provider", provider, [*OPENAI_COMPATIBLE, *VENDORS, *_ON_THIS_MACHINE])
    for option, value in (("base_url", base_url), ("api_key_env", api_key_env)):
        if value is not None:
            raise UserError(f"{spec}: a {provider} model takes no {option}; remove it")
    return _ON_THIS_MACHINE[provider](name, (folder or Path.cwd()).absolute())


def _openai(
    provider: str, name: str, base_url: str | None, key_name: str | None, key: str | None, max_concurrency: int
) -> Model:
    from treadle.models.openai_api import OpenAIModel

    return OpenAIModel(
        name,
        base_url=base_url or OPENAI_COMPATIBLE[provider].base_url,
        api_key=key,
        key_name=key_name,
        max_concurrency=max_concurrency,
        provider=provider,
    )


def _vendor(spec: str, base_url: str | None, api_key_env: str | None, *, keyless: bool) -> Model:
    provider, _, name = (part.strip() for part in spec.partition(":"))
    # Looked at first: the import is slow.
    key_name, key = (None, None) if keyless else api_key(spec, base_url, api_key_env)
    try:
        from treadle.models.vendor import VendorModel
    except ImportError:
        raise UserError(f"{provider}: models need the extra `vendors`: pip install 'treadle[vendors]'") from None
    if key is None and (base_url is not None or keyless):
        # The SDKs insist on a key; this one opens nothing.
        key = "no-key-needed"
    address = VENDORS[provider].base_url or None
    return VendorModel(provider, name, api_key=key, key_name=key_name, base_url=base_url, own_address=address)


def api_key(spec: str, base_url: str | None, api_key_env: str | None) -> tuple[str | None, str | None]:
    """The environment variable that holds a model's key, and the key; ``None`` twice where none is sent.

    Args:
        spec: ``provider:model``.
        base_url: Another address than the provider's own.
        api_key_env: The variable that holds the key for it.

    Raises:
        UserError: The variable is not set, or what it holds is no key.
    """
    address = {**OPENAI_COMPATIBLE, **VENDORS}.get(spec.partition(":")[0].strip(), Address(""))
    elsewhere = base_url is not None and base_url.rstrip("/") != address.base_url
    names = (api_key_env,) if api_key_env else () if elsewhere else address.keys
    for name in names:
        key = os.environ.get(name, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise UserError(f"{spec}: the key in the environment variable {name} has characters that no key has")
        if key:
            return name, key
    if names:
        raise UserError(
            f"{spec} needs a key, and the environment variable {' or '.join(names)} is not set: "
            "set it, or name another one as api_key_env"
        )
    return None, None


def _local(name: str, folder: Path) -> Model:
    from treadle.models.local import local_model

    return local_model(name, folder)


def _scripted(name: str, folder: Path) -> Model:
    from treadle.models.scripted import load_script

    path = folder / Path(name).expanduser()
    here = Path.cwd() / name
    return load_script(here if not path.exists() and here.exists() else path)


def _simulated(name: str, folder: Path) -> Model:
    if name.partition("?")[0].rpartition("/")[0] in ("archon", "archon-null"):
        from treadle.models.simulated_archon import archon_model

        return archon_model(name)
    from treadle.models.simulated import simulated_model

    return simulated_model(name)


_ON_THIS_MACHINE: dict[str, Callable[[str, Path], Model]] = {
    "local": _local,
    "scripted": _scripted,
    "simulated": _simulated,
}


def is_provider(name: str) -> bool:
    """Whether ``name:model`` is a model."""
    return name in OPENAI_COMPATIBLE or name in VENDORS or name in _ON_THIS_MACHINE
