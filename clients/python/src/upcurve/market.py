"""The words of a market."""

from __future__ import annotations

from typing import Literal

Resolution = Literal[
    "min1",
    "min3",
    "min5",
    "min15",
    "min30",
    "hour1",
    "hour2",
    "hour4",
    "hour12",
    "day1",
    "week1",
    "month1",
]
PoolList = Literal["New", "Latest", "MCapDesc", "CompletedCreateOn", "CompletedMCap", "Trending"]
Slippage = Literal["15", "30", "50", "75", "infinity"]
Network = Literal["mainnet", "testnet"]
