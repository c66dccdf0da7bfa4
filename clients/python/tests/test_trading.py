"""A wallet with a new key buys, sells and cancels; its orders in the mirrors equal those of HTTP.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from support.person import funded, launch
from support.relay import Relay
from support.same import whole_market
from support.until import until

from upcurve import ApiError, Client, Key, Mirror, Notice, PlacedOrder, Position, cbor, check, price_of, transaction_id


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
        shown = (await client.orders.book(asset=asset, levels=100)).data
        await until("the book of HTTP", lambda: (book.state or {}).get("pool") == shown["pool"])
        state = book.state
        assert state is not None and state["checksum"] == shown["checksum"]
        assert (state["bids"], state["asks"]) == (shown["bids"], shown["asks"])
        newest = await asyncio.wait_for(client.watch_newest_trades(50).ready(), 60)
        assert newest is not None
        of_token = [row for row in newest if row["asset"] == asset]
        assert [(row["id"], row["side"]) for row in of_token] == [(row["id"], row["side"]) for row in tape.data]


def _has_seen(mirror: Mirror[Any, Any], position: Position | None) -> bool:
    return mirror.position is not None and position is not None and mirror.position.includes(position)


async def test_only_what_was_asked_is_signed(devnet: str) -> None:
    """The bytes that the server built against terms that are not theirs."""
    async with Client(devnet) as client:
        wallet = await funded(client)
        asset = await launch(wallet, "Checked")
        async with client.watch_pool(asset) as pool:
            await asyncio.wait_for(pool.until(lambda state: state is not None), 60)
        other = Key.new().address("testnet")
        order: Any = {"assetId": asset, "changeAddress": wallet.address, "slippage": "15"}
        seen = (await client.build.quote(assetId=asset, side="BUY", amount="5000000", slippage="15")).data
        built = (await client.build.order(**order, side="BUY", amount="5000000")).data
        bound = check.bound_of(seen, "BUY", 5_000_000, "15")
        terms = check.terms_of(built, seen, asset, "BUY", bound)
        assert check.refuse_unless_order(built["cbor"], wallet.address, terms, True) == int(
            built["entityId"].split(":")[1]
        )

        def refused(why: str, transaction: str, address: str, **changes: Any) -> None:
            with pytest.raises(ApiError) as error:
                check.refuse_unless_order(transaction, address, replace(terms, **changes), True)
            assert error.value.cause == "NOT_WHAT_WAS_ASKED"
            assert why in error.value.message, error.value.message

        sent, own = built["cbor"], wallet.address
        refused("worse price", sent, own, min_output=terms.min_output + 1)
        refused("holds something else", sent, own, input_amount=4_999_999, min_output=1)
        refused("unknown address", sent, own, script="78" * 28)
        refused("lovelace on top", sent, own, fee=terms.fee - 1)
        refused("waits for longer", sent, own, refund_before=1)
        refused("other assets", sent, own, output="00" * 28 + ".00")
        refused("pays others", sent, other)
        # In the order's datum: the recipient, and the key that may cancel.
        first = sent.index(wallet.key.hash, sent.index("d818"))
        for at in (first, sent.index(wallet.key.hash, first + 56)):
            refused("not ours", sent[:at] + "ab" * 28 + sent[at + 56 :], own)
        # An executor fee that reduces the offered amount: -2^32 in the place of 1.1 ADA.
        assert "1a0010c8e0" in sent
        refused("lovelace on top", sent.replace("1a0010c8e0", "3affffffff"), own)
        refused("scripts fail", sent[:-4] + "f4f6", own)
        refused("no transaction", sent[:-2], own)
        minted = "84a4" + sent[4:] if sent.startswith("84a3") else "84a5" + sent[4:]
        head = len(minted) - len("a0f5f6")
        with_mint = minted[:head] + "09a1581c" + "cd" * 28 + "a14001" + minted[head:]
        refused("fields that it does not need: [9]", with_mint, own)
        # An order has an end also where none is asked for; a transaction without the end is another
        # transaction.
        slot = cbor.decode(bytes.fromhex(sent))[0][3]
        end = f"0319{slot:04x}" if slot < 2**16 else f"031a{slot:08x}"
        head, _, tail = sent.rpartition(end)
        refused("never expires", "84a3" + head.removeprefix("84a4") + tail, own)
        assert terms.min_output == -(-int(seen["outputAmount"]) * 85 // 100)
        least = int(built["outputAmount"]) - 1
        refused("worse price", sent, own, min_output=least)
        bounded = await wallet.buy(asset, lovelace=5_000_000, min_output=least)
        assert bounded.quote["minimumOutput"] == str(least)
        with pytest.raises(ApiError) as refused_now:
            await wallet.buy(asset, lovelace=5_000_000, min_output=3 * least)
        assert refused_now.value.cause == "PRICE_MOVED"
        waits = await wallet.buy(asset, lovelace=5_000_000, min_output=3 * least, wait_for=86_400)
        assert waits.quote["minimumOutput"] == str(3 * least)
        assert waits.quote["expiresAt"] > bounded.quote["expiresAt"] + 80_000_000
        sold = check.terms_of(built, seen, asset, "SELL", bound)
        refused("other assets", sent, own, input=sold.input, output=sold.output)
        assert check.bound_of(seen, "BUY", 5_000_000, "infinity") == (5_000_000, 1)
        with pytest.raises(ApiError):
            check.bound_of(seen, "BUY_WITH_OUTPUT", 1_000_000, "infinity")
        with pytest.raises(ApiError) as dear:
            await wallet.buy_tokens(asset, tokens=1_000_000, most_lovelace=1)
        assert dear.value.cause == "PRICE_MOVED"


async def test_an_order_whose_price_has_gone_is_taken_back(devnet: str) -> None:
    async with Client(devnet) as client:
        wallet, rich = await funded(client), await funded(client, outputs=4)
        asset = await launch(wallet, "Cancelled")
        async with client.watch_pool(asset) as pool:
            await asyncio.wait_for(pool.until(lambda state: state is not None), 60)
        mine = client.watch_user_orders(wallet.address, asset)
        order: Any = {"assetId": asset, "changeAddress": wallet.address, "slippage": "15"}
        built = (await client.build.order(**order, side="BUY", amount="5000000")).data
        dear = await rich.buy(asset, lovelace=3_000_000_000)
        assert (await asyncio.wait_for(dear.settled(), 60))["status"] == "Evaluated"
        assert await wallet.send(built["cbor"]) == built["txHash"]
        placed = PlacedOrder(built["entityId"], built["txHash"], built, built, wallet)

        def status() -> str | None:
            found = mine.state.find(placed.entity_id)
            return None if found is None else found["status"]

        await until("it is open", lambda: status() == "Pending")
        with pytest.raises(ApiError):
            await rich.cancel(placed.entity_id)
        other = next(row for row in (await client.orders.feed(asset=asset)).data["ledger"]["items"])
        answer = await client.build.cancel(
            txHash=built["txHash"],
            index=built["entityId"].split(":")[1],
            changeAddress=wallet.address,
        )
        for entity_id, address in (
            (other["entityId"].split(":")[0] + ":99", wallet.address),
            (placed.entity_id, rich.address),
        ):
            with pytest.raises(ApiError) as refused:
                check.refuse_unless_reclaim(answer.data["cbor"], address, entity_id, True, ())
            assert refused.value.cause == "NOT_WHAT_WAS_ASKED"
        await placed.cancel()
        settled = await asyncio.wait_for(placed.settled(), 60)
        assert (settled["status"], settled["refundReason"]) == ("Refunded", "cancelled")


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


async def test_a_list_whose_checksum_does_not_fit_is_loaded_again(devnet: str) -> None:
    async with Relay(devnet) as relay, Client(relay.url) as client:
        pools = client.watch_pools("New")
        notices: list[Notice] = []
        client.connection.on_notice(notices.append)
        await pools.ready()
        changed: list[str] = []

        def other_sum(text: str) -> str:
            if changed or '"NewUpdate"' not in text:
                return text
            changed.append(text)
            return re.sub(r'"crc32":\d+', '"crc32":1', text)

        relay.tamper = other_sum
        await launch(await funded(client), "Checksum")
        await until("the token", lambda: any(row["info"]["name"] == "Checksum" for row in pools.state or ()))
        assert changed and [notice.reason for notice in notices] == ["checksum"]
