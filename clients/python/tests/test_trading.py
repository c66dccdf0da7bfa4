"""A wallet of its own key buys, sells and cancels; what the mirrors show of it is what HTTP says."""

from __future__ import annotations

import asyncio
from fractions import Fraction
from typing import Any

import pytest
from support.person import funded, launch
from support.same import whole_market
from support.until import until

from upcurve import ApiError, Client, Key, Mirror, Position, price_of, transaction_id


@pytest.mark.parametrize("encoding", ["json", "msgpack"])
async def test_buys_and_sells(devnet: str, encoding: Any) -> None:
    async with Client(devnet, encoding=encoding) as client:
        wallet = await funded(client)
        asset = await launch(wallet, f"Trade{encoding}"[:10])
        async with client.watch_pool(asset) as pool:
            await asyncio.wait_for(pool.until(lambda state: state is not None), 60)
        compared = whole_market(client, asset, wallet)
        book = client.watch_order_book(asset)
        for mirror in (*(one.mirror for one in compared), book):
            await asyncio.wait_for(mirror.ready(), 60)

        bought = await wallet.buy(asset, lovelace=5_000_000)
        assert transaction_id(bought.quote["cbor"]) == bought.tx_id
        price = price_of(bought.quote["price"])
        exact = Fraction(int(bought.quote["inputAmount"]), int(bought.quote["outputAmount"]))
        assert price == exact
        filled = await asyncio.wait_for(bought.settled(), 60)
        assert filled["status"] == "Evaluated"
        tokens = int(filled["toAmount"])
        assert tokens == int(bought.quote["outputAmount"])
        assert (await wallet.balances())[asset] >= tokens

        sold = await wallet.sell(asset, tokens=tokens, slippage="infinity")
        given = await asyncio.wait_for(sold.settled(), 60)
        assert (given["status"], given["from"], given["to"]) == ("Evaluated", asset, ".")

        # The launch's own buy, the buy and the sale.
        tape = await client.trades.list(asset=asset)
        assert [row["side"] for row in tape.data] == ["sell", "buy", "buy"]
        for one in compared:
            name, sees_all = one.name, lambda one=one: _has_seen(one.mirror, tape.position)
            await until(f"{name} has seen it", sees_all)
        state = book.state
        assert state is not None and (state["bids"], state["asks"]) == ([], [])


def _has_seen(mirror: Mirror[Any, Any], position: Position | None) -> bool:
    return mirror.position is not None and position is not None and mirror.position.includes(position)


async def test_refusals_say_what_is_wrong(devnet: str) -> None:
    async with Client(devnet) as client:
        asset = await launch(await funded(client), "Refused")
        async with client.watch_pool(asset) as pool:
            await asyncio.wait_for(pool.until(lambda state: state is not None), 60)
        wallet = client.wallet(Key.new(), "testnet")
        unknown = "00" * 28 + ".00"
        with pytest.raises(ApiError) as missing:
            await client.pools.one(unknown)
        assert (missing.value.cause, missing.value.status) == ("ASSET_NOT_FOUND", 404)
        with pytest.raises(ApiError) as wrong:
            await client.utxos.list(pkh="nonsense")
        assert wrong.value.details[0]["path"] == "body.pkh"
        with pytest.raises(ApiError) as poor:
            await wallet.buy(asset, lovelace=10**7)
        assert poor.value.cause == "UNKNOWN" and not poor.value.is_passing
        with pytest.raises(TypeError):
            await wallet.buy(unknown, lovelace=1.5)  # type: ignore[arg-type]
