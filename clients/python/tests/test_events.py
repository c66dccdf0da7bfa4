"""Server-sent events and CSV, against a market; and streams that are cut, refused or damaged."""

from __future__ import annotations

import asyncio
import csv
import io
from typing import Any

import pytest
from support.person import funded, launch
from support.proxy import TcpProxy
from support.raw import RawServer

from upcurve import ApiError, Client, SubscribeParams


async def test_events_are_the_frames_of_a_market_and_continue(devnet: str) -> None:
    async with Client(devnet) as client:
        wallet = await funded(client, outputs=4)
        asset = await launch(wallet, "Events", initial_ada=50)
        async with client.watch_trades(asset) as trades:
            await asyncio.wait_for(trades.until(lambda state: len(state.trades) > 0), 60)
        topics = [SubscribeParams("Trades", {"asset": asset}), SubscribeParams("KOTH")]
        port = int(devnet.rsplit(":", 1)[1])
        async with TcpProxy(port) as proxy, Client(proxy.url) as other:
            frames = other.events(topics)
            seen: dict[str, Any] = {}
            async for frame in frames:
                if frame.snapshot:
                    seen[str(frame.request_id)] = frame
                if len(seen) == 2:
                    break
            assert seen["0"].event == "TradesUpdate" and seen["1"].event == "KOTHUpdate"
            known = {row["id"] for row in seen["0"].data}
            position = (await client.trades.list(asset=asset)).position
            # The connection is lost, and something happens before there is another one.
            proxy.cut()
            await (await wallet.buy(asset, lovelace=20_000_000)).settled()
            assert await _fresh(frames, known)
            # Another stream that begins after a position gets the change alone.
            frame = await _fresh(other.events(topics[:1], since=position), known)
            assert not frame.snapshot and len(frame.data) == 1


async def _fresh(frames: Any, known: set[str]) -> Any:
    """The first frame with a trade that is not known."""
    async for frame in frames:
        rows = (frame.data or []) if frame.event == "TradesUpdate" else []
        if any(row["id"] not in known for row in rows):
            return frame
    raise AssertionError("the stream ended")


async def test_what_is_wrong_ends_it_and_what_passes_does_not() -> None:
    async with RawServer(status=400, cause="INVALID_PARAMS") as server, Client(server.url) as client:
        with pytest.raises(ApiError) as refused:
            await anext(client.events([SubscribeParams("Nothing")]))
        assert refused.value.cause == "INVALID_PARAMS"
        with pytest.raises(ApiError, match="1 to 20"):
            await anext(client.events([]))
    async with RawServer(status=503, cause="NOT_READY") as server, Client(server.url) as client:
        waiting = asyncio.ensure_future(anext(client.events([SubscribeParams("KOTH")])))
        while len(server.calls) < 3:
            await asyncio.sleep(0.05)
        waiting.cancel()


async def test_rows_as_csv_are_those_of_json(devnet: str) -> None:
    async with Client(devnet) as client:
        wallet = await funded(client, outputs=3)
        asset = await launch(wallet, "Csv", initial_ada=50)
        async with client.watch_trades(asset) as trades:
            await asyncio.wait_for(trades.until(lambda state: len(state.trades) > 0), 60)
        rows = (await client.trades.list(asset=asset)).data
        text = (await client.trades.csv(asset=asset)).data
        read = list(csv.DictReader(io.StringIO(text)))
        assert [row["id"] for row in read] == [row["id"] for row in rows] and len(rows) == 1
        span = {"start": rows[0]["time"] - 3600, "end": rows[0]["time"] + 3600}
        pair = {"base": asset, "quote": ".", "resolution": "min1", **span}
        bars = (await client.charts.history(**pair)).data  # type: ignore[arg-type]
        table = (await client.charts.history_csv(**pair)).data  # type: ignore[arg-type]
        lines = list(csv.DictReader(io.StringIO(table)))
        assert [line["close"] for line in lines] == [bar["close"] for bar in bars]
        caps = (await client.charts.mcap_history_csv(**pair)).data  # type: ignore[arg-type]
        assert len(caps.splitlines()) == len(bars) + 1
        orders = (await client.orders.feed_csv(asset=asset)).data
        assert orders.startswith("entityId,")
        with pytest.raises(ApiError) as refused:
            await client.trades.csv(asset="abc")
        assert refused.value.cause == "INVALID_PARAMS"
