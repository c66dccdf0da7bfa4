"""A backtest on the history of a token: buys when the short average of closes crosses the long one from
below, sells when it crosses from above: `python backtest.py [url] [asset id] [short] [long]`.
Money is exact; only the averages, which decide and are not paid, are floats. It trades at the close and
knows no price impact, so it is too optimistic."""

from __future__ import annotations

import asyncio
import sys
import time
from decimal import Decimal

from upcurve import Client
from upcurve.dataframes import bars_frame

START_ADA = Decimal(1000)
FEE = Decimal("0.01")


async def main(
    url: str = "http://127.0.0.1:8080", asset: str = "", short: str = "5", long: str = "20"
) -> None:
    async with Client(url) as client:
        base = asset or (await client.pools.top()).data["info"]["asset"]
        answer = await client.charts.whole_history(
            base=base,
            quote=".",
            resolution="min1",
            start=0,
            end=int(time.time()) + 60,  # so that the present minute is within
            fill="previous",
        )
    bars = bars_frame(answer.data)
    closes = bars["close"].astype(float)
    is_above = closes.rolling(int(short)).mean() > closes.rolling(int(long)).mean()
    ada, tokens, trades = START_ADA, Decimal(0), 0
    # A bar is complete at its end: it is traded on in the next one.
    for wants, price in zip(is_above.shift(1, fill_value=False), bars["close"]):
        if wants and tokens == 0:
            ada, tokens, trades = Decimal(0), ada * (1 - FEE) / price, trades + 1
        elif not wants and tokens > 0:
            ada, tokens, trades = tokens * price * (1 - FEE), Decimal(0), trades + 1
    worth = ada + tokens * bars["close"].iloc[-1] if len(bars) else ada
    held = START_ADA * bars["close"].iloc[-1] / bars["close"].iloc[0] if len(bars) else START_ADA
    print(f"{len(bars)} bars up to {answer.position}, {trades} trades")
    print(f"{START_ADA} ADA became {worth:.2f}; bought and held: {held:.2f}")


asyncio.run(main(*sys.argv[1:]))
