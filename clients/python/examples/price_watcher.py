"""Watches the price of a token: `python price_watcher.py [url] [asset id] [how many changes]`.
Without an asset id it is the token on top."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime, timezone

from upcurve import Client


async def main(url: str = "http://127.0.0.1:8080", asset: str = "", most: str = "0") -> None:
    async with Client(url) as client:
        client.connection.on_notice(lambda notice: print(f"  {notice.topic}: {notice.reason}"))
        base = asset or (await client.pools.top()).data["info"]["asset"]
        info = (await client.pools.asset_info(base)).data
        print(f"{info['name']} ({info['ticker']}), in ADA, minute by minute:")
        # An outage, another node, a rollback: the loop continues with the right bars.
        left = int(most)
        async for state in client.watch_bars(base, "min1"):
            if not state.bars:
                continue
            bar = state.bars[-1]
            time = datetime.fromtimestamp(bar["time"], timezone.utc).strftime("%H:%M")
            status = client.connection.state.status
            note = "" if status == "open" else f" ({status})"
            print(
                f"{time}  {bar['close']}  low {bar['low']}  high {bar['high']}  "
                f"{bar['trades']} trades{note}",
                flush=True,
            )
            left -= 1
            if left == 0:
                break


asyncio.run(main(*sys.argv[1:]))
