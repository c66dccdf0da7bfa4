"""ccxt's own live tests against the adapter: the code by which ccxt tries each exchange before it
accepts it, as its package ships it (`ccxt.test.exchange`)."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from typing import Any

import pytest
from support.person import funded, launch

from upcurve import Client

ccxt = pytest.importorskip("ccxt", reason="the adapter of ccxt is not tested: pip install 'upcurve[ccxt]'")

from ccxt.test.exchange import base as structures  # noqa: E402

from upcurve.adapters.ccxt import Upcurve  # noqa: E402

LIVE = "ccxt.test.exchange.async"
SECRET = "5c" * 32

#: Left out: `fetch_markets`, which wants a dictionary where each of ccxt's own exchanges answers a list
#: (the end of the test gives each market of the list to `test_market`, as it would), and `create_order`,
#: which ends with a TypeError of its own in Python.
PUBLIC = (
    "after_construct",
    "load_markets",
    "fetch_ticker",
    "fetch_tickers",
    "fetch_ohlcv",
    "fetch_trades",
    "fetch_order_book",
    "fetch_l2_order_book",
    "features",
)
PRIVATE = (
    "fetch_balance",
    "fetch_orders",
    "fetch_open_orders",
    "fetch_closed_orders",
    "fetch_my_trades",
)


async def _live(exchange: Upcurve, name: str, symbol: str) -> None:
    """Raises AssertionError, with ccxt's own words, where ccxt would not take the exchange."""
    test = getattr(importlib.import_module(f"{LIVE}.test_{name}"), f"test_{name}")
    given = {"exchange": exchange, "skipped_properties": {}, "symbol": symbol, "code": "ADA"}
    wanted = inspect.signature(test).parameters
    found = test(*(given[each] for each in wanted))
    if inspect.isawaitable(found):
        await found


async def test_ccxt_accepts_the_exchange(devnet: str) -> None:
    config = {"urls": {"api": devnet}, "privateKey": SECRET, "options": {"network": "testnet"}}
    async with Client(devnet) as client, Upcurve(config) as exchange:
        author = await funded(client, outputs=3)
        asset = await launch(author, "Live", initial_ada=100)
        symbol = f"{asset}/ADA"
        wallet = exchange.wallet()
        await wallet.fund(2_000)
        for ada in (5, 7, 9):
            await (await wallet.buy(asset, lovelace=ada * 1_000_000, slippage="75")).settled()
        held = (await exchange.fetch_balance())[asset]["free"]
        await (await wallet.sell(asset, tokens=int(held) // 3, slippage="75")).settled()
        price = (await exchange.fetch_ticker(symbol))["last"]
        sell = {"amount": int(held) // 3, "price": price * 5, "params": {"waitFor": 3600}}
        await exchange.create_order(symbol, "limit", "sell", **sell)

        failed: dict[str, str] = {}
        for name in (*PUBLIC, *PRIVATE):
            try:
                await asyncio.wait_for(_live(exchange, name, symbol), 60)
            except (AssertionError, KeyError, TypeError) as error:
                failed[name] = repr(error)[:600]
        assert failed == {}

        markets = await exchange.fetch_markets()
        assert len(markets) > 0
        for market in markets:
            structures.test_market(exchange, {}, "fetchMarkets", market)
