"""A key that trades: the server builds, this side compares the bytes with what was asked, signs them
here, submits, and follows the order to its end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import check
from .errors import ApiError
from .keys import Key, transaction_id
from .market import Network, Slippage
from .money import LOVELACE_PER_ADA, amount_text
from .wire.rest import OrderAnswer, OrderBody
from .wire.shapes import ApiOrder

if TYPE_CHECKING:
    from .client import Client

_FINAL = ("Evaluated", "Refunded")
_POLL_SECONDS = 0.25
_FUNDS_SECONDS = 60.0


@dataclass(frozen=True)
class PlacedOrder:
    #: `<tx>:<index>`
    entity_id: str
    tx_id: str
    #: What the server built: amounts, price, fees, worst price.
    quote: OrderAnswer
    _wallet: Wallet

    async def settled(self) -> ApiOrder:
        """The order once it is filled (`Evaluated`) or `Refunded`; `toAmount` is what was received.
        Raises ApiError DROPPED when it has left the mempool without a block."""
        wallet = self._wallet
        token = self.quote["priceBase"]
        was_seen = False
        async with wallet.client.watch_user_orders(wallet.address, token) as orders:
            async for state in orders:
                order = state.find(self.entity_id)
                if order is not None and order["status"] in _FINAL:
                    return order
                if order is None and was_seen:
                    raise ApiError("DROPPED", f"order {self.entity_id} is in no block")
                was_seen = order is not None
        raise ApiError("STOPPED", "the client was closed before the order was settled")

    async def cancel(self) -> str:
        """Takes it back while it is open; the id of the transaction."""
        return await self._wallet.cancel(self.entity_id)


class Wallet:
    def __init__(
        self, client: Client, key: Key, network: Network, stake_key_hash: str | None = None
    ) -> None:
        self.client = client
        self.key = key
        self.address = key.address(network, stake_key_hash)

    async def buy(
        self,
        asset: str,
        *,
        lovelace: int,
        slippage: Slippage = "15",
        min_output: int | None = None,
        wait_for: int | None = None,
    ) -> PlacedOrder:
        """Spends so much; `slippage`: percent below the quoted output that is still taken.
        `min_output`, in tokens, replaces it: an order that may bring less is not signed. With
        `wait_for`, seconds, it may be more than the quote: the order waits for its price."""
        return await self._order(
            asset, "BUY", lovelace, slippage, min_output=min_output, wait_for=wait_for
        )

    async def buy_tokens(
        self, asset: str, *, tokens: int, most_lovelace: int, slippage: Slippage = "15"
    ) -> PlacedOrder:
        """Buys at least so many, for at most `most_lovelace`: an order that offers more is not
        signed."""
        return await self._order(asset, "BUY_WITH_OUTPUT", tokens, slippage, most_lovelace)

    async def sell(
        self,
        asset: str,
        *,
        tokens: int,
        slippage: Slippage = "15",
        min_output: int | None = None,
        wait_for: int | None = None,
    ) -> PlacedOrder:
        """`slippage`, `min_output`, here in lovelace, and `wait_for` as in `buy`."""
        return await self._order(
            asset, "SELL", tokens, slippage, min_output=min_output, wait_for=wait_for
        )

    async def cancel(self, entity_id: str) -> str:
        """Takes an open order back; the id of the transaction."""
        tx, _, index = entity_id.partition(":")
        answer = await self.client.build.cancel(
            txHash=tx, index=index, changeAddress=self.address
        )
        transaction = answer.data["cbor"]
        must_expire = answer.data["validUntil"] is not None
        check.refuse_unless_reclaim(transaction, self.address, entity_id, must_expire)
        return await self.send(transaction)

    async def send(self, transaction: str) -> str:
        """Signs a transaction that the server built, and submits it; its id. It is signed as it is:
        `buy`, `sell` and `cancel` look at it before."""
        answer = await self.client.submit.sign_and_submit(
            cbor=transaction,
            witness=self.key.witness(transaction),
            changeAddress=self.address,
        )
        submitted, own = answer.data["txHash"], transaction_id(transaction)
        if submitted != own:
            what = f"the server submitted {submitted} instead of {own}"
            raise ApiError("NOT_WHAT_WAS_ASKED", what)
        return own

    async def balances(self) -> dict[str, int]:
        """Of confirmed outputs, by asset id; `lovelace` for ADA."""
        held: dict[str, int] = {}
        after: str | None = None
        while True:
            answer = await self.client.utxos.list(pkh=self.key.hash, limit=1000, after=after)
            for output in answer.data:
                for part in output["value"]:
                    held[part["unit"]] = held.get(part["unit"], 0) + int(part["amount"])
            if len(answer.data) < 1000:
                return held
            last = answer.data[-1]
            after = f"{last['txHash']}:{last['index']}"

    async def fund(self, ada: int = 1000) -> None:
        """On a devnet: coins of the faucet; waits until a block has them."""
        before = (await self.balances()).get("lovelace", 0)
        await self.client.devnet.faucet(address=self.address, ada=ada)

        async def arrived() -> None:
            while (await self.balances()).get("lovelace", 0) < before + ada * LOVELACE_PER_ADA:
                await asyncio.sleep(_POLL_SECONDS)

        try:
            await asyncio.wait_for(arrived(), _FUNDS_SECONDS)
        except asyncio.TimeoutError as error:
            what = f"the faucet's coins are in no block after {_FUNDS_SECONDS} s"
            raise ApiError("TIMEOUT", what) from error

    async def _order(
        self,
        asset: str,
        side: Any,
        amount: int,
        slippage: Slippage,
        most_lovelace: int | None = None,
        min_output: int | None = None,
        wait_for: int | None = None,
    ) -> PlacedOrder:
        body: OrderBody = {
            "assetId": asset,
            "side": side,
            "amount": amount_text(amount),
            "slippage": slippage,
            "changeAddress": self.address,
        }
        if min_output is not None:
            body["minOutput"] = amount_text(min_output)
        if wait_for is not None:
            body["waitFor"] = wait_for
        built = (await self.client.build.order(**body)).data
        terms = check.terms_of(built, asset, side, amount, slippage, most_lovelace, min_output)
        must_expire = built["validUntil"] is not None
        index = check.refuse_unless_order(built["cbor"], self.address, terms, must_expire)
        tx_id = await self.send(built["cbor"])
        return PlacedOrder(f"{tx_id}:{index}", tx_id, built, self)
