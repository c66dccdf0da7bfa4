"""The wallet of `privateKey`: balances, orders, own trades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

from ccxt.base import errors

from ...keys import Key
from ...money import ada_of
from ...wallet import PlacedOrder, Wallet
from . import rows
from .market import MarketExchange

_MOST_TRADES = 500
_PARAMS = {"cost", "slippage", "waitFor"}


class Upcurve(MarketExchange):
    """`market` takes the slippage of `params` or `options`. The price of `limit` is the worst one that
    is taken. Where the market asks more already, the order waits `params["waitFor"]` seconds (600 to
    2,592,000) for its price, and is OrderNotFillable without them. It is filled whole or not at all.
    A buy spends `amount * price` ADA, or `params["cost"]`. What the executor takes comes on top:
    `order["info"]["fees"]`."""

    def wallet(self) -> Wallet:
        self.check_required_credentials()
        return self.market_client().wallet(Key(self.privateKey), self.options["network"])

    async def fetch_balance(self, params: Any = {}) -> Any:
        """`used`: in open orders."""
        wallet = self.wallet()
        free = await self._result(wallet.balances())
        used: dict[str, int] = {}
        for order in await self._open_orders():
            unit = "lovelace" if order["from"] == "." else order["from"]
            used[unit] = used.get(unit, 0) + int(order["remaining"])
        balance: dict[str, Any] = {"info": {"free": free, "used": used}}
        for unit in free.keys() | used.keys():
            is_coin = unit == "lovelace"
            parts = {"free": free.get(unit, 0), "used": used.get(unit, 0)}
            balance[rows.COIN if is_coin else unit] = {
                name: str(ada_of(amount) if is_coin else amount) for name, amount in parts.items()
            }
        return self.safe_balance(balance)

    async def create_order(
        self,
        symbol: str,
        type: str,
        side: str,
        amount: float | None,
        price: float | None = None,
        params: Mapping[str, Any] = {},
    ) -> Any:
        unknown = sorted(params.keys() - _PARAMS)
        if unknown:
            raise errors.BadRequest(f"{self.id} knows no params {unknown}, only {sorted(_PARAMS)}")
        if type not in ("limit", "market") or side not in ("buy", "sell"):
            raise errors.InvalidOrder(f"{self.id} has no {type} {side}: limit or market, buy or sell")
        if type == "limit" and price is None:
            raise errors.InvalidOrder(f"{self.id} a limit order needs a price")
        if type == "market" and "waitFor" in params:
            raise errors.InvalidOrder(f"{self.id} only a limit order waits for a price")
        market = await self._market(symbol)
        tokens = None if amount is None else int(self.amount_to_precision(symbol, amount))
        if side == "buy":
            placed = await self._buy(market["id"], type, tokens, price, params)
        else:
            placed = await self._sell(market["id"], type, tokens, price, params)
        order = {
            "id": placed.entity_id,
            "timestamp": self.milliseconds(),
            "symbol": market["symbol"],
            "type": type,
            "side": side,
            "price": None if price is None else str(price),
            "amount": placed.seen["outputAmount"] if side == "buy" else placed.seen["inputAmount"],
            "filled": "0",
            "status": "open",
            "info": placed.quote,
        }
        return self.safe_order(order, market)

    async def create_market_buy_order_with_cost(
        self, symbol: str, cost: float, params: Mapping[str, Any] = {}
    ) -> Any:
        return await self.create_order(symbol, "market", "buy", None, None, {**params, "cost": cost})

    async def cancel_order(self, id: str, symbol: str | None = None, params: Any = {}) -> Any:
        tx = await self._result(self.wallet().cancel(id))
        return self.safe_order({"id": id, "symbol": symbol, "info": {"txHash": tx}})

    async def fetch_open_orders(
        self,
        symbol: str | None = None,
        since: int | None = None,
        limit: int | None = None,
        params: Any = {},
    ) -> list[Any]:
        return await self._orders(await self._open_orders(), symbol, since, limit)

    async def fetch_orders(
        self,
        symbol: str | None = None,
        since: int | None = None,
        limit: int | None = None,
        params: Any = {},
    ) -> list[Any]:
        """Those of the mempool, and the newest page of the others."""
        page = await self._page()
        found = [*page["mempool"], *page["ledger"]["items"]]
        return await self._orders(found, symbol, since, limit)

    async def fetch_closed_orders(
        self,
        symbol: str | None = None,
        since: int | None = None,
        limit: int | None = None,
        params: Any = {},
    ) -> list[Any]:
        found = [order for order in await self.fetch_orders(symbol) if order["status"] != "open"]
        return cast("list[Any]", self.filter_by_since_limit(found, since, limit, "timestamp", True))

    async def fetch_order(self, id: str, symbol: str | None = None, params: Any = {}) -> Any:
        before: str | None = None
        while True:
            page = await self._page(before)
            for order in (*page["mempool"], *page["ledger"]["items"]):
                if order["entityId"] == id:
                    return self.parse_order(order)
            if not page["ledger"]["items"]:
                raise errors.OrderNotFound(f"{self.id} this wallet has no order {id}")
            before = page["ledger"]["items"][-1]["entityId"]

    async def fetch_my_trades(
        self,
        symbol: str | None = None,
        since: int | None = None,
        limit: int | None = None,
        params: Any = {},
    ) -> list[Any]:
        """The newest of a token, oldest first."""
        if symbol is None:
            raise errors.ArgumentsRequired(f"{self.id} fetchMyTrades() needs a symbol")
        market = await self._market(symbol)
        count = min(_MOST_TRADES, 100 if limit is None else limit)
        query: Any = {"asset": market["id"], "pkh": self.wallet().key.hash}
        found: list[Any] = []
        while True:
            asked = self.market_client().trades.list(limit=count - len(found), **query)
            page = await self._result(asked)
            found += page.data
            if len(found) >= count or page.next_before is None:
                return self._trades(found[::-1], market, since, limit)
            query["before"] = page.next_before

    async def watch_orders(
        self,
        symbol: str | None = None,
        since: int | None = None,
        limit: int | None = None,
        params: Any = {},
    ) -> list[Any]:
        address = self.wallet().address
        asset = None if symbol is None else (await self._market(symbol))["id"]
        news = self._watch(
            ("orders", asset or ""),
            lambda client: client.watch_user_orders(address, asset),
            lambda state, change: {
                **dict.fromkeys(change.removed),
                **{order["entityId"]: order for order in change.changed},
            },
        )
        changed = await self._result(news.next())
        state = news.mirror.state
        shown = changed if self.newUpdates else [*state.mempool, *state.ledger]
        return await self._orders(shown, symbol, since, limit)

    def parse_order(self, order: Any, market: Any = None) -> Any:
        return self.safe_order(rows.order_row(order), market)

    async def _buy(
        self,
        asset: str,
        type: str,
        tokens: int | None,
        price: float | None,
        params: Mapping[str, Any],
    ) -> PlacedOrder:
        if "cost" in params:
            cost = Fraction(str(params["cost"]))
        elif tokens is not None and price is not None:
            cost = tokens * Fraction(str(price))
        else:
            what = 'what a buy spends: a price, for amount * price ADA, or params["cost"]'
            raise errors.InvalidOrder(f"{self.id} must know {what}")
        if type == "limit" and tokens is None:
            raise errors.InvalidOrder(f"{self.id} a limit order needs an amount")
        placed = self.wallet().buy(
            asset,
            lovelace=rows.lovelace_of_bound(cost, is_most=True),
            slippage=params.get("slippage", self.options["slippage"]),
            min_output=tokens if type == "limit" else None,
            wait_for=params.get("waitFor"),
        )
        return await self._result(placed)

    async def _sell(
        self,
        asset: str,
        type: str,
        tokens: int | None,
        price: float | None,
        params: Mapping[str, Any],
    ) -> PlacedOrder:
        if tokens is None:
            raise errors.InvalidOrder(f"{self.id} a sale needs an amount")
        least = None
        if type == "limit":
            least = rows.lovelace_of_bound(tokens * Fraction(str(price)), is_most=False)
        placed = self.wallet().sell(
            asset,
            tokens=tokens,
            slippage=params.get("slippage", self.options["slippage"]),
            min_output=least,
            wait_for=params.get("waitFor"),
        )
        return await self._result(placed)

    async def _open_orders(self) -> list[Any]:
        page = await self._data(self.market_client().orders.open_of_keys([self.wallet().key.hash]))
        return [*page["mempool"], *page["ledger"]["items"]]

    async def _page(self, before: str | None = None) -> Any:
        query: Any = {} if before is None else {"before": before}
        keys = [self.wallet().key.hash]
        return await self._data(self.market_client().orders.of_keys(keys, **query))

    async def _orders(
        self, found: Sequence[Any], symbol: str | None, since: int | None, limit: int | None
    ) -> list[Any]:
        """Oldest first."""
        if symbol is not None:
            await self._market(symbol)
        orders = [self.parse_order(order) for order in found]
        ordered = sorted(orders, key=lambda order: order["timestamp"])
        return cast(
            "list[Any]", self.filter_by_symbol_since_limit(ordered, symbol, since, limit, True)
        )
