"""The client without asyncio."""

from __future__ import annotations

import asyncio
import threading

import pytest
from support.person import funded, launch

import upcurve
from upcurve import ApiError, Key, SubscribeParams
from upcurve.sync import Client


def test_calls_mirrors_and_a_wallet_block_until_they_have_an_answer(devnet: str) -> None:
    async def launched() -> str:
        async with upcurve.Client(devnet) as client:
            asset = await launch(await funded(client), "Blocking")
            async with client.watch_pool(asset) as pool:
                await asyncio.wait_for(pool.until(lambda state: state is not None), 60)
            return asset

    asset = asyncio.run(launched())
    threads = threading.active_count()
    with Client(devnet, encoding="msgpack") as client:
        assert client.pools.one(asset).data["info"]["name"] == "Blocking"
        with pytest.raises(ApiError) as missing:
            client.pools.one("00" * 28 + ".00")
        assert missing.value.cause == "ASSET_NOT_FOUND"
        wallet = client.wallet(Key.new(), "testnet")
        wallet.fund(100)
        with client.watch_trades(asset) as trades:
            known = len(trades.ready().trades)
            order = wallet.buy(asset, lovelace=5_000_000).settled()
            assert order["status"] == "Evaluated"
            state = trades.until(lambda now: len(now.trades) > known)
            assert state.trades[0]["pkh"] == wallet.key.hash
            assert next(iter(trades)) is trades.state
            with pytest.raises(ApiError) as late:
                trades.until(lambda now: False, seconds=0.1)
            assert late.value.cause == "TIMEOUT"
        assert trades.is_closed
    assert threading.active_count() == threads
    with pytest.raises(ApiError):
        client.server.time()
    client.close()


def test_events_block_until_the_next_frame_and_end_with_their_loop(devnet: str) -> None:
    with Client(devnet) as client:
        health = client.events([SubscribeParams("Health", {})])
        first, second = next(health), next(health)
        assert (first.request_id, second.request_id) == ("0", "0") and second.data != first.data
        health.close()
        with pytest.raises(ApiError) as refused:
            next(client.events([]))
        assert refused.value.cause == "INVALID_PARAMS"
        left = client.events([SubscribeParams("Health", {})])
        next(left)
    with pytest.raises(ApiError) as stopped:
        next(left)
    assert stopped.value.cause == "STOPPED"


def test_a_wrong_url_leaves_no_thread() -> None:
    threads = threading.active_count()
    with pytest.raises(ValueError):
        Client("nonsense")
    assert threading.active_count() == threads
