"""The wallet of `privateKey`: balances, orders, own trades."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

from ccxt.base import errors

from ...keys import Key
from ...money import ada_of
from ...wallet import PlacedOrder, Wallet
from ..since import Page, rows_between, trades_of
from . import rows
from .market import ROWS, MarketExchange, Span

#: The most orders of one answer.
_PAGE = 100
_PARAMS = {"cost", "slippage", "waitFor"}

#: Reads one page of orders, of a symbol or of all.
AskPage = Callable[[Any, Any], Awaitable[Any]]


class Upcurve(MarketExchange):
    """`market` takes the slippage of `params` or `options`. The price of `limit` is the worst one that
    is taken. Where the market asks more already, the order waits `params["waitFor"]` seconds (600 to
    2,592,000) for its price, and is OrderNotFillable without them. It is filled whole or not at all.
    A buy spends `amount * price` ADA, or `params["cost"]`. The executor's fee comes on top:
    `order["info"]["fees"]`."""

    def wallet(self) -> Wallet:
        """Raises BadRequest where `options["network"]` or `privateKey` is none."""
        self.check_required_credentials()
        try:
            return self.market_client().wallet(Key(self.privateKey), self.options["network"])
        except ValueError as error:
            raise errors.BadRequest(f"{self.id} {error}") from error

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
        self._refuse_unknown(params, _PARAMS)
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
        self._refuse_unknown(params, set())
        tx = await self._result(self.wallet().cancel(id))
        return self.safe_order({"id": id, "symbol": symbol, "info": {"txHash": tx}})

    async def fetch_open_orders(
        self,
        symbol: str | None = None,
        since: int | None = None,
        limit: int | None = None,
        params: Any = {},
    ) -> list[Any]:
        """Oldest first. With `since` the oldest from there, without it the newest, up to
        `params["until"]` (milliseconds); all where no `limit` is given."""
        span = self._span(since, limit, params, None)
        if symbol is None:
            return await self._fetched(self._open_page, None, span)
        asset = (await self._market(symbol))["id"]
        is_of_asset = lambda order: asset in (order["from"], order["to"])  # noqa: E731
        return await self._fetched(self._open_page, None, span, is_of_asset)

    async def fetch_orders(
        self,
        symbol: str | None = None,
        since: int | None = None,
        limit: int | None = None,
        params: Any = {},
    ) -> list[Any]:
        """Oldest first. With `since` the oldest from there, without it the newest, up to
        `params["until"]` (milliseconds); by the time at which they were placed."""
        return await self._fetched(self._page, symbol, self._span(since, limit, params, ROWS))

    async def fetch_closed_orders(
        self,
        symbol: str | None = None,
        since: int | None = None,
        limit: int | None = None,
        params: Any = {},
    ) -> list[Any]:
        """Filled, cancelled and expired ones."""
        span = self._span(since, limit, params, ROWS)
        return await self._fetched(self._page, symbol, span, _is_closed)

    async def fetch_order(self, id: str, symbol: str | None = None, params: Any = {}) -> Any:
        self._refuse_unknown(params, set())
        before: str | None = None
        while True:
            page = await self._page(symbol, {} if before is None else {"before": before})
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
        """Oldest first. With `since` the oldest from there, without it the newest, up to
        `params["until"]` (milliseconds)."""
        if symbol is None:
            raise errors.ArgumentsRequired(f"{self.id} fetchMyTrades() needs a symbol")
        market, span = await self._market(symbol), self._span(since, limit, params, ROWS)
        pkh = self.wallet().key.hash
        read = trades_of(self.market_client(), market["id"], span.limit, pkh)
        return await self._read_trades(read, market, span)

    async def watch_orders(
        self,
        symbol: str | None = None,
        since: int | None = None,
        limit: int | None = None,
        params: Any = {},
    ) -> list[Any]:
        self._refuse_unknown(params, set())
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
        row = rows.order_row(order)
        fee = {**row["fee"], "cost": self.parse_number(row["fee"]["cost"])}
        return self.safe_order({**row, "fee": fee}, market)

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

    async def _fetched(
        self,
        ask: AskPage,
        symbol: str | None,
        span: Span,
        is_wanted: Callable[[Any], bool] = lambda _order: True,
    ) -> list[Any]:
        found = await self._found(ask, symbol, span, is_wanted)
        orders = [self.parse_order(order) for order in found]
        ordered = sorted(orders, key=lambda order: order["timestamp"])
        return span.cut(ordered)

    async def _found(
        self,
        ask: AskPage,
        symbol: str | None,
        span: Span,
        is_wanted: Callable[[Any], bool],
    ) -> list[Any]:
        """Orders of the chain, as many as `span` asks for, and all of the mempool in its time. An order
        that comes into a block meanwhile is there once, as in the block."""
        mempool: dict[str, Any] = {}

        async def read(start: int, end: int, before: Any) -> Page[Any]:
            query = {} if before is None else {"before": before}
            page = await ask(symbol, {"start": start, "end": end, "limit": _PAGE, **query})
            for order in page["mempool"]:
                if start <= order["timestamp"] < end and is_wanted(order):
                    mempool[order["entityId"]] = order
            items = page["ledger"]["items"]
            last = items[-1]["entityId"] if len(items) == _PAGE else None
            return Page([order for order in items if is_wanted(order)], last)

        start, end = None if span.start is None else -(-span.start // 1000), span.end // 1000 + 1
        asked = rows_between(read, start, end, span.limit, lambda order: order["timestamp"])
        ledger = await self._result(asked)
        return list({**mempool, **{order["entityId"]: order for order in ledger}}.values())

    async def _open_orders(self) -> list[Any]:
        everything = self._span(None, None, {}, None)
        return await self._found(self._open_page, None, everything, lambda _order: True)

    async def _open_page(self, _symbol: str | None, query: Any) -> Any:
        keys = [self.wallet().key.hash]
        return await self._data(self.market_client().orders.open_of_keys(keys, **query))

    async def _page(self, symbol: str | None, query: Any) -> Any:
        keys, orders = [self.wallet().key.hash], self.market_client().orders
        if symbol is None:
            return await self._data(orders.of_keys(keys, **query))
        asset = (await self._market(symbol))["id"]
        return await self._data(orders.of_keys_by_asset(keys, asset=asset, **query))

    async def _orders(
        self, found: Sequence[Any], symbol: str | None, since: int | None, limit: int | None
    ) -> list[Any]:
        """Oldest first; the newest `limit`."""
        if symbol is not None:
            await self._market(symbol)
        orders = [self.parse_order(order) for order in found]
        ordered = sorted(orders, key=lambda order: order["timestamp"])
        return cast(
            "list[Any]", self.filter_by_symbol_since_limit(ordered, symbol, since, limit, True)
        )


def _is_closed(order: Any) -> bool:
    return bool(rows.order_row(order)["status"] != "open")
