"""Bars and trades as pandas DataFrames: `pip install 'upcurve[pandas]'`.

Prices, volumes and amounts stay exact: columns of Decimal and int objects, good for sums and accounts.
For indicators, where rounding is no loss of money: `frame["close"].astype(float).rolling(20).mean()`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from .wire.shapes import TradeRow

if TYPE_CHECKING:
    import pandas as pd

_DECIMALS = ("open", "high", "low", "close", "volume", "baseVolume", "mCap")


def bars_frame(bars: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Takes a mirror's state or an answer; the index is the start of the interval, in UTC."""
    columns: dict[str, Any] = {
        name: [Decimal(bar[name]) for bar in bars]
        for name in _DECIMALS
        if not bars or name in bars[0]
    }
    columns["trades"] = [bar["trades"] for bar in bars]
    columns["final"] = [bar["final"] for bar in bars]
    return _frame(columns, [bar["time"] for bar in bars])


def trades_frame(trades: Sequence[TradeRow]) -> pd.DataFrame:
    """Oldest first; `price` is a Decimal, amounts are ints of the smallest unit."""
    rows = sorted(trades, key=lambda trade: trade["id"])
    columns: dict[str, Any] = {
        "id": [row["id"] for row in rows],
        "side": [row["side"] for row in rows],
        "price": [Decimal(row["price"]) for row in rows],
        "baseAmount": [int(row["baseAmount"]) for row in rows],
        "quoteAmount": [int(row["quoteAmount"]) for row in rows],
    }
    return _frame(columns, [row["time"] for row in rows])


def _frame(columns: Mapping[str, Any], times: Sequence[int]) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("DataFrames need pandas: pip install 'upcurve[pandas]'") from error

    index = pd.to_datetime(times, unit="s", utc=True)
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    frame.index = pd.DatetimeIndex(index, name="time")
    for name, dtype in (("trades", "int64"), ("final", "bool")):
        if name in frame:
            frame[name] = frame[name].astype(dtype)
    return frame
