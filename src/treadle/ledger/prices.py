"""Prices: the file's own word, else the public price list, else unpriced; never 0 by default."""

from __future__ import annotations

from typing import Any

from treadle.models.base import Price

_UNLISTED = frozenset({"scripted", "simulated", "local"})


def listed_price(provider: str, name: str) -> Price | None:
    """The public price of a provider's model, or ``None`` when the list does not have it.

    Args:
        provider: Such as ``"openai"``.
        name: The provider's model name.
    """
    if provider in _UNLISTED:
        return None
    from genai_prices import Usage as ListedUsage
    from genai_prices import calc_price

    try:
        found: Any = calc_price(ListedUsage(input_tokens=1, output_tokens=1), model_ref=name, provider_id=provider)
    except (LookupError, ValueError):
        return None
    return _price(found.model_price)


def _price(listed: Any) -> Price | None:
    rates = {
        field: getattr(listed, name, None)
        for field, name in (
            ("input", "input_mtok"),
            ("output", "output_mtok"),
            ("cached_input", "cache_read_mtok"),
            ("cache_write", "cache_write_mtok"),
        )
    }
    starts = sorted({tier.start for rate in rates.values() for tier in getattr(rate, "tiers", ())}, reverse=True)
    price: Price | None = None
    for start in [*starts, 0]:
        at = {field: _rate(rate, start) for field, rate in rates.items()}
        if at["input"] is None or at["output"] is None:
            return None
        higher = starts[starts.index(start) - 1] if start in starts and starts.index(start) else None
        upper = higher if start else (starts[-1] if starts else None)
        above = (upper, price) if upper is not None and price is not None else None
        price = Price(at["input"], at["output"], at["cached_input"], at["cache_write"], above)
    return price


def _rate(rate: Any, start: int) -> float | None:
    if rate is None:
        return None
    tiers = getattr(rate, "tiers", None)
    if tiers is None:
        return float(rate)
    reached = [tier for tier in tiers if tier.start <= start]
    return float(max(reached, key=lambda tier: tier.start).price if reached else rate.base)
