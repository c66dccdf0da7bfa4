"""A key that trades: the server builds, the wallet compares the bytes with the request, signs them
locally, submits, and follows the order to its end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from . import check, launching, payments
from .errors import ApiError
from .keys import Key, transaction_id
from .market import Network, Slippage
from .money import LOVELACE_PER_ADA, amount_text
from .wire.rest import GetUtxosAnswerRow, OrderAnswer, QuoteAnswer
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
    #: The server's description of the transaction that it built: amounts, price, fees, worst price.
    quote: OrderAnswer
    #: The quote before that, which the bytes were compared with.
    seen: QuoteAnswer
    _wallet: Wallet

    async def settled(self) -> ApiOrder:
        """The order once it is filled (`Evaluated`) or `Refunded`; `toAmount` is the amount
        received. Raises ApiError DROPPED when it has left the mempool without a block."""
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


@dataclass(frozen=True)
class LaunchedToken:
    asset: str
    tx_id: str
    #: Tokens of the first buy.
    tokens: int
    logo_cid: str


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
        """Spends so much. A quote is asked for, and the least output computed from it here; `slippage`:
        percent below it that is still taken. `min_output`, in tokens, replaces it: an order that may
        bring less is not signed. With `wait_for`, seconds, it may be more than the quote: the order
        waits for its price. Raises ApiError PRICE_MOVED where the pool gives less by now."""
        return await self._order(
            asset, "BUY", lovelace, slippage, min_output=min_output, wait_for=wait_for
        )

    async def buy_tokens(
        self, asset: str, *, tokens: int, most_lovelace: int, slippage: Slippage = "15"
    ) -> PlacedOrder:
        """Buys at least the given tokens, for at most `most_lovelace`: PRICE_MOVED where it takes
        more."""
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
        held = await self._outputs()
        check.refuse_unless_reclaim(transaction, self.address, entity_id, True, held)
        return await self.send(transaction)

    async def withdraw(self, lock_id: str) -> str:
        """Takes an open lock back, `<tx>:<index>`; the id of the transaction."""
        answer = await self.client.vesting.withdraw(id=lock_id, address=self.address)
        transaction = answer.data["cbor"]
        held = await self._outputs()
        check.refuse_unless_reclaim(transaction, self.address, lock_id, True, held)
        return await self.send(transaction)

    async def lock(self, asset: str, *, tokens: int, end_ms: int, stages: int = 1) -> str:
        """Locks tokens in up to ten equal stages, the last until `end_ms` (Unix ms); the id of the
        transaction, whose first outputs are the locks."""
        claimed = [(await self.client.server.time()).data["timestamp"]]
        tip = (await self.client.server.ready()).data["tip"]["time"]
        if tip is not None:
            claimed.append(tip * 1000)
        starts_ms = payments.starts_of(int(time.time() * 1000), claimed)
        script = await self._lock_script()
        built = await self.client.vesting.create_lock(
            address=self.address,
            assetId=asset,
            amount=amount_text(tokens),
            lockEnd=end_ms,
            stagesCount=stages,
        )
        transaction = built.data["cbor"]
        payments.refuse_unless_lock(
            transaction, self.address, asset, tokens, stages, starts_ms, end_ms, script
        )
        return await self.send(transaction)

    async def _lock_script(self) -> str | None:
        """None: a node of mainnet knows too little of its launchpad to say."""
        try:
            config = (await self.client.build.protocol_config()).data
        except ApiError as error:
            if error.cause != "PROTOCOL_CONFIG":
                raise
            return None
        return config["addresses"]["scripts"]["vesting"]["hash"]

    async def transfer(
        self, to: str, *, lovelace: int | None, assets: Mapping[str, int] | None = None
    ) -> str:
        """Pays to an address; `lovelace` None: all that is left. The id of the transaction."""
        listed = dict(assets or {})
        built = await self.client.build.transfer(
            changeAddress=self.address,
            distAddress=to,
            transferAssets={
                "lovelace": "max" if lovelace is None else amount_text(lovelace),
                "assets": [{"unit": unit, "amount": amount_text(n)} for unit, n in listed.items()],
            },
        )
        transaction = built.data["cbor"]
        payments.refuse_unless_transfer(transaction, self.address, to, lovelace, listed)
        return await self.send(transaction)

    async def launch(
        self,
        image: bytes,
        media_type: str,
        *,
        name: str,
        ticker: str,
        description: str = "",
        first_buy_lovelace: int = 0,
        asset_type: Literal["Meme", "AI"] = "Meme",
        launch_type: Literal["DEFAULT", "HYPED"] = "DEFAULT",
        twitter: str | None = None,
        discord: str | None = None,
        telegram: str | None = None,
        website: str | None = None,
    ) -> LaunchedToken:
        """Launches a token; `image`: PNG, JPEG or GIF, its type as `media_type`. The wallet
        compares the token's data in the transaction with the request, and the tokens of the first
        buy with the curve."""
        links = {"twitter": twitter, "discord": discord, "telegram": telegram, "website": website}
        info: Any = {"name": name, "ticker": ticker, "description": description, **links}
        info.update(assetType=asset_type, launchType=launch_type, changeAddress=self.address)
        config = (await self.client.build.protocol_config()).data
        terms = launching.terms_of(config, image, media_type, info, first_buy_lovelace)
        info["initialDeposit"] = amount_text(first_buy_lovelace)
        built = (await self.client.build.launch(image, media_type, **info)).data
        if built["logoCID"] != terms.logo_cid:
            what = (
                "the server stored another picture: it takes out EXIF, comments and what follows the "
                "end; save the picture without them and launch again"
            )
            raise ApiError("NOT_WHAT_WAS_ASKED", what)
        asset, held = built["assetId"], await self._outputs()
        launching.refuse_unless_launch(built["cbor"], self.address, asset, terms, True, held)
        tx_id = await self.send(built["cbor"])
        return LaunchedToken(asset, tx_id, terms.tokens, terms.logo_cid)

    async def send(self, transaction: str) -> str:
        """Signs a transaction that the server built, and submits it; its id. It is signed as it is:
        the other methods look at it before."""
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
        """Amounts in confirmed outputs, by asset id; `lovelace` for ADA."""
        held: dict[str, int] = {}
        for output in (await self._outputs()).values():
            for part in output["value"]:
                held[part["unit"]] = held.get(part["unit"], 0) + int(part["amount"])
        return held

    async def _outputs(self) -> dict[str, GetUtxosAnswerRow]:
        """By `<tx>:<index>`."""
        found: dict[str, GetUtxosAnswerRow] = {}
        after: str | None = None
        while True:
            answer = await self.client.utxos.list(pkh=self.key.hash, limit=1000, after=after)
            for output in answer.data:
                after = f"{output['txHash']}:{output['index']}"
                found[after] = output
            if len(answer.data) < 1000:
                return found

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
        query: Any = {
            "assetId": asset,
            "side": side,
            "amount": amount_text(amount),
            "slippage": slippage,
        }
        if min_output is not None:
            query["minOutput"] = amount_text(min_output)
        if wait_for is not None:
            query["waitFor"] = wait_for
        quote = (await self.client.build.quote(**query)).data
        bound = check.bound_of(quote, side, amount, slippage, most_lovelace, min_output)
        # Computed once: every build, also a repeated one, is bound to this quote.
        query.update(minOutput=str(bound[1]), changeAddress=self.address)
        built = (await self.client.build.order(**query)).data
        terms = check.terms_of(built, quote, asset, side, bound)
        index = check.refuse_unless_order(built["cbor"], self.address, terms, True)
        tx_id = await self.send(built["cbor"])
        return PlacedOrder(f"{tx_id}:{index}", tx_id, built, quote, self)
