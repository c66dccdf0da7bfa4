"""Rows of the API in ccxt's unified words, amounts and prices as texts; and its errors for ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, cast

from ccxt.base import errors

from ...errors import ApiError
from ...money import LOVELACE_PER_ADA, ada_of, price_of
from ...wire.shapes import ApiOrder

COIN = "ADA"
_COIN_ID = "."
#: Names of the resolutions in ccxt.
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
#: Digits of a price that is no finite decimal.
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


def is_asset(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{56}\.(?:[0-9a-f]{2}){0,32}", text) is not None


@dataclass(frozen=True)
class Fees:
    """Of a deployment. `keep`: what is left of a trade after the fees in percent."""

    #: On the curve, and in our AMM pool; None: the pool has fees of its own.
    curve: Fraction
    amm: Fraction | None
    #: ADA that a trade moves at least.
    least: Decimal

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Fees:
        parameters = config["parameters"]
        taken = parameters["creatorFeePer10k"] + parameters["platformFeePer10k"]
        amm = (1 - Fraction(taken, 10_000)) * (1 - Fraction(parameters["lpFeePer10k"], 10_000))
        return cls(
            curve=1 - Fraction(str(parameters["percentFee"])) / 100,
            # On mainnet a graduated token trades in a pool of Splash, each with fees of its own.
            amm=None if config["network"] == "mainnet" else amm,
            least=ada_of(parameters["minTradeAda"]["raw"]),
        )

    def keep(self, is_graduated: bool | None) -> Fraction | None:
        """None of None: a pair of a feed, which has no pool."""
        if is_graduated is None:
            return None
        return self.amm if is_graduated else self.curve


def market_of(
    asset: str,
    created: int | None,
    info: Mapping[str, Any],
    is_graduated: bool | None = False,
    fees: Fees | None = None,
) -> dict[str, Any]:
    one, lovelace = 1, 1e-6
    keep = None if fees is None else fees.keep(is_graduated)
    taken = None if keep is None else float(1 - keep)
    return {
        "id": asset,
        "symbol": symbol_of(asset),
        "base": asset,
        "quote": COIN,
        "baseId": asset,
        "quoteId": _COIN_ID,
        "type": "spot",
        "spot": True,
        **dict.fromkeys(("margin", "swap", "future", "option", "contract"), False),
        "active": True,
        "precision": {"amount": one, "price": 1e-18, "base": one, "quote": lovelace},
        "limits": {
            "amount": {"min": one, "max": None},
            "price": {"min": None, "max": None},
            "cost": {"min": None if fees is None else float(fees.least), "max": None},
        },
        # An order takes from the pool, also where it waited: there is one fee, part of the price.
        "taker": taken,
        "maker": taken,
        "percentage": True,
        "tierBased": False,
        "feeSide": "quote",
        "created": None if created is None else created * 1000,
        "info": info,
    }


def ticker_row(row: Mapping[str, Any], fees: Fees | None) -> dict[str, Any]:
    """`bid` and `ask`: what the pool gives and takes for the next token, fees in percent included."""
    keep = None if fees is None else fees.keep(row["graduated"])
    price = Fraction(row["price"])
    return {
        "bid": None if keep is None else _decimal(price * keep),
        "ask": None if keep is None else _decimal(price / keep),
        "symbol": symbol_of(row["asset"]),
        # None: the server gives no time for a price, which holds until the next trade.
        "timestamp": None,
        "datetime": None,
        "high": row["high24h"],
        "low": row["low24h"],
        "open": _open(row),
        "last": row["price"],
        "percentage": row["change24h"],
        "quoteVolume": row["volume24h"],
        "info": row,
    }


def _open(row: Mapping[str, Any]) -> str | None:
    """24 hours ago: from the change, which has two decimals, so between low and high."""
    if row["change24h"] is None:
        return None
    share = 1 + Fraction(row["change24h"]) / 100
    if share <= 0:
        return str(row["high24h"])
    opened = Fraction(row["price"]) / share
    return _decimal(max(Fraction(row["low24h"]), min(Fraction(row["high24h"]), opened)))


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
        # A trade names no order. It takes from the pool, and its fee is part of its price.
        **dict.fromkeys(("order", "type", "fee")),
        "takerOrMaker": "taker",
        "side": row["side"],
        "price": row["price"],
        "amount": row["baseAmount"],
        "cost": str(ada_of(row["quoteAmount"])),
        "info": {name: value for name, value in row.items() if name != "timestamp"},
    }


def order_row(order: ApiOrder) -> dict[str, Any]:
    """In the mempool an order is open still: a block decides. If an order was executed in part,
    the side that it gives is known: tokens of a sale, ADA of a buy."""
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
        # The number of tokens of a refunded buy is not known.
        "amount": tokens if tokens != "0" else None,
        "filled": filled,
        "cost": str(ada_of(cost)),
        # Fees of its executions beside the amounts; fees in percent are part of the price.
        "fee": {"currency": COIN, "cost": str(ada_of(order["feeLovelace"]))},
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
    return _decimal(ada)


def _decimal(exact: Fraction) -> str:
    with localcontext() as context:
        context.prec = 60
        text = Decimal(exact.numerator) / Decimal(exact.denominator)
        return format(text.quantize(Decimal(1).scaleb(-_PRICE_DIGITS)).normalize(), "f")
