"""Rows of the API in ccxt's unified words, amounts and prices as texts; and its errors for ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, cast

from ccxt.base import errors

from ...errors import ApiError
from ...money import LOVELACE_PER_ADA, ada_of, price_of
from ...wire.shapes import ApiOrder

COIN = "ADA"
_COIN_ID = "."
#: What ccxt calls the resolutions.
TIMEFRAMES = {
    "1m": "min1",
    "3m": "min3",
    "5m": "min5",
    "15m": "min15",
    "30m": "min30",
    "1h": "hour1",
    "2h": "hour2",
    "4h": "hour4",
    "12h": "hour12",
    "1d": "day1",
    "1w": "week1",
    "1M": "month1",
}
#: A price is rounded to so many digits where it is no finite decimal.
_PRICE_DIGITS = 18
_STATUSES = {"Evaluated": "closed", "Refunded": "canceled", "Dropped": "rejected"}

_ERRORS: Mapping[str, type[Exception]] = {
    "UNREACHABLE": errors.ExchangeNotAvailable,
    "NOT_READY": errors.ExchangeNotAvailable,
    "OVERLOADED": errors.ExchangeNotAvailable,
    "TIMEOUT": errors.RequestTimeout,
    "RATE_LIMITED": errors.RateLimitExceeded,
    "LIMIT_EXCEEDED": errors.RateLimitExceeded,
    "BAD_ANSWER": errors.BadResponse,
    "STOPPED": errors.ExchangeClosedByUser,
    "ASSET_NOT_FOUND": errors.BadSymbol,
    "INVALID_PARAMS": errors.BadRequest,
    "UNKNOWN_KEY": errors.AuthenticationError,
    "FORBIDDEN": errors.PermissionDenied,
    "ORDER_NOT_FOUND": errors.OrderNotFound,
    "MIN_TRADE_AMOUNT": errors.InvalidOrder,
    "MAX_TRADE_AMOUNT": errors.InvalidOrder,
    "PRICE_MOVED": errors.OrderNotFillable,
    "NOT_WHAT_WAS_ASKED": errors.InvalidOrder,
}


def ccxt_error(id: str, error: ApiError) -> Exception:
    """ccxt retries a NetworkError and no other; so do callers of it."""
    kind = _ERRORS.get(error.cause)
    if any(detail.get("path", "").endswith("minOutput") for detail in error.details):
        kind = errors.OrderNotFillable
    if kind is None:
        kind = errors.NetworkError if error.is_passing else errors.ExchangeError
    details = "".join(f"; {each['path']}: {each['message']}" for each in error.details)
    return kind(f"{id} {error}{details}")


def symbol_of(asset: str) -> str:
    return f"{asset}/{COIN}"


def code_of(asset: str) -> str:
    return COIN if asset == _COIN_ID else asset


def asset_of(symbol: str) -> str | None:
    """The token of a symbol of this market."""
    asset, _, quote = symbol.partition("/")
    return asset if quote == COIN else None


def market_of(asset: str, created: int | None, info: Mapping[str, Any]) -> dict[str, Any]:
    one, lovelace = 1, 1e-6
    return {
        "id": asset,
        "symbol": symbol_of(asset),
        "base": asset,
        "quote": COIN,
        "baseId": asset,
        "quoteId": _COIN_ID,
        "type": "spot",
        "spot": True,
        "active": True,
        "precision": {"amount": one, "price": 1e-18, "base": one, "quote": lovelace},
        "limits": {"amount": {"min": one}},
        "created": None if created is None else created * 1000,
        "info": info,
    }


def ticker_row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "symbol": symbol_of(row["asset"]),
        "high": row["high24h"],
        "low": row["low24h"],
        "last": row["price"],
        "percentage": row["change24h"],
        "quoteVolume": row["volume24h"],
        "info": row,
    }


def numbered(trades: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Oldest first, each with `timestamp`: milliseconds, which number the trades of one second."""
    found: list[dict[str, Any]] = []
    for row in trades:
        first = row["time"] * 1000
        last = found[-1]["timestamp"] if found else first - 1
        found.append({**row, "timestamp": min(max(first, last + 1), first + 999)})
    return found


def trade_row(row: Mapping[str, Any], symbol: str) -> dict[str, Any]:
    return {
        "id": row["id"],
        "timestamp": row.get("timestamp", row["time"] * 1000),
        "symbol": symbol,
        "side": row["side"],
        "price": row["price"],
        "amount": row["baseAmount"],
        "cost": str(ada_of(row["quoteAmount"])),
        "info": {name: value for name, value in row.items() if name != "timestamp"},
    }


def order_row(order: ApiOrder) -> dict[str, Any]:
    """In the mempool an order is open still: a block decides. Of one that is executed in part the side
    it gives is known: tokens of a sale, ADA of a buy."""
    is_buy = order["from"] == _COIN_ID
    given, received = order["fromAmount"], order["toAmount"]
    status = _STATUSES.get(order["status"], "open")
    if status == "canceled" and order["refundReason"] == "expired":
        status = "expired"
    is_filled = status == "closed"
    tokens, lovelace = (received, given) if is_buy else (given, received)
    executed = order["filledAmount"]
    so_far = ("0", executed) if is_buy else (executed, "0")
    filled, cost = (tokens, lovelace) if is_filled else so_far
    return {
        "id": order["entityId"],
        "timestamp": order["timestamp"] * 1000,
        "lastTradeTimestamp": _milliseconds(order["evaluatedAt"]) if is_filled else None,
        "symbol": symbol_of(order["to"] if is_buy else order["from"]),
        "type": "limit",
        "side": "buy" if is_buy else "sell",
        "price": _worst_price(order, is_buy),
        # Of a buy that was given back nobody knows the tokens any more.
        "amount": tokens if tokens != "0" else None,
        "filled": filled,
        "cost": str(ada_of(cost)),
        "status": status,
        "info": order,
    }


def lovelace_of_bound(ada: Fraction, is_most: bool) -> int:
    """Of a bound: the most that is spent is cut, the least that is taken is rounded up."""
    exact = ada * LOVELACE_PER_ADA
    cut = exact.numerator // exact.denominator
    return cut if is_most or cut == exact else cut + 1


def _milliseconds(seconds: int | None) -> int | None:
    return None if seconds is None else seconds * 1000


def _worst_price(order: ApiOrder, is_buy: bool) -> str | None:
    """ADA for a token."""
    output_per_input = price_of(cast("Mapping[str, str]", order["worstPrice"]))
    if output_per_input == 0:
        return None
    ada = (1 / output_per_input if is_buy else output_per_input) / LOVELACE_PER_ADA
    with localcontext() as context:
        context.prec = 60
        exact = Decimal(ada.numerator) / Decimal(ada.denominator)
        return format(exact.quantize(Decimal(1).scaleb(-_PRICE_DIGITS)).normalize(), "f")
