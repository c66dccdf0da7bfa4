"""Exact money: integers of the smallest unit, Decimals and Fractions; a float is refused.

The API writes amounts as texts of integers and prices as exact decimals. `Decimal(bar["close"])` is
exact; arithmetic with Decimals rounds to 28 digits, with Fractions never.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

LOVELACE_PER_ADA = 1_000_000


def lovelace_of(ada: int | str | Decimal) -> int:
    """`"12.5"` → 12500000. Raises ValueError where it is no whole number of lovelace."""
    if isinstance(ada, float):
        raise TypeError("a float cannot hold an amount exactly: write it as text, int or Decimal")
    exact = Fraction(ada) * LOVELACE_PER_ADA
    if exact.denominator != 1:
        raise ValueError(f"{ada} ADA is no whole number of lovelace")
    return exact.numerator


def ada_of(lovelace: int | str) -> Decimal:
    """12500000 → `Decimal("12.500000")`."""
    return Decimal(int(lovelace)).scaleb(-6)


def price_of(price: Mapping[str, str]) -> Fraction:
    """Reads `{numerator, denominator}`, the format of orders and quotes."""
    return Fraction(int(price["numerator"]), int(price["denominator"]))


def amount_text(amount: int) -> str:
    """As bodies have amounts; refuses everything but an int that is not negative."""
    if isinstance(amount, bool) or not isinstance(amount, int):
        raise TypeError(f"an amount is an int of the smallest unit, not {type(amount).__name__}")
    if amount < 0:
        raise ValueError("an amount is not negative")
    return str(amount)
