"""A grid bot for the devnet: buys a slice each time the price has fallen by a step, sells one each time
it has risen by one: `python grid_bot.py [url] [asset id] [fills] [step in percent]`.
A toy: it holds at most MAX_SLICES slices and stops after `fills` fills."""

from __future__ import annotations

import asyncio
import sys
from fractions import Fraction

from upcurve import ApiError, Client, Key, lovelace_of

SLICE = lovelace_of(10)
MAX_SLICES = 5


async def main(
    url: str = "http://127.0.0.1:8080", asset: str = "", fills: str = "20", step: str = "1"
) -> None:
    async with Client(url) as client:
        wallet = client.wallet(Key.new(), "testnet")
        await wallet.fund(1000)
        token = asset or (await client.pools.top()).data["info"]["asset"]
        slices: list[int] = []
        last, left = None, int(fills)
        async for pool in client.watch_pool(token):
            if pool is None:
                continue
            # The market cap moves as the price does, and is an integer.
            price = pool["metrics"]["marketCap"]
            change = None if last is None else Fraction(100 * (price - last), last)
            try:
                if (change is None or change <= -Fraction(step)) and len(slices) < MAX_SLICES:
                    order = await wallet.buy(token, lovelace=SLICE)
                    settled = await order.settled()
                    if settled["status"] == "Evaluated":
                        slices.append(int(settled["toAmount"]))
                elif change is not None and change >= Fraction(step) and slices:
                    order = await wallet.sell(token, tokens=slices.pop())
                    settled = await order.settled()
                else:
                    continue
            except ApiError as error:
                print(f"{error.cause}: {error.message}", flush=True)
                continue
            side = "BUY" if settled["from"] == "." else "SELL"
            print(f"{side}: {settled['status']}, received {settled['toAmount']}", flush=True)
            last, left = price, left - 1
            if left <= 0:
                return


asyncio.run(main(*sys.argv[1:]))
