"""The market through ccxt itself: each call, in the order in which a bot needs them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from support.examples import HERE, output_of
from support.person import funded, launch
from support.proxy import TcpProxy
from support.raw import RawServer

from upcurve import Client, Wallet

ccxt = pytest.importorskip("ccxt", reason="the adapter of ccxt is not tested: pip install 'upcurve[ccxt]'")

from ccxt.base import errors  # noqa: E402

from upcurve.adapters.ccxt import Upcurve, rows, trading  # noqa: E402
from upcurve.adapters.ccxt.market import Span  # noqa: E402
from upcurve.adapters.since import Page  # noqa: E402

SECRET = "5a" * 32


@asynccontextmanager
async def traded(url: str, name: str) -> AsyncIterator[tuple[Wallet, str]]:
    """A token with a trade, and its author."""
    async with Client(url) as client:
        wallet = await funded(client, outputs=3)
        asset = await launch(wallet, name, initial_ada=100)
        async with client.watch_trades(asset) as trades:
            await asyncio.wait_for(trades.until(lambda state: len(state.trades) > 0), 60)
        yield wallet, asset


async def test_reads_the_market(devnet: str) -> None:
    async with traded(devnet, "Read") as (wallet, asset), Upcurve({"urls": {"api": devnet}}) as exchange:
        markets = await exchange.load_markets()
        symbol = f"{asset}/ADA"
        market = markets[symbol]
        assert (market["id"], market["spot"], market["info"]["name"]) == (asset, True, "Read")
        assert exchange.amount_to_precision(symbol, 12.7) == "12"
        assert exchange.price_to_precision(symbol, 1.25e-7) == "0.000000125"

        rows = (await wallet.client.trades.list(asset=asset)).data
        (trade,) = await exchange.fetch_trades(symbol)
        assert (trade["id"], trade["side"], trade["info"]) == (rows[0]["id"], "buy", rows[0])
        assert trade["amount"] == int(rows[0]["baseAmount"])
        assert trade["timestamp"] == rows[0]["time"] * 1000
        assert await exchange.fetch_trades(symbol, since=trade["timestamp"]) == [trade]
        assert await exchange.fetch_trades(symbol, since=trade["timestamp"] + 1) == []

        config = (await wallet.client.build.protocol_config()).data["parameters"]
        assert market["taker"] == pytest.approx(config["percentFee"] / 100)
        assert market["limits"]["cost"]["min"] == int(config["minTradeAda"]["raw"]) / 1e6
        ticker = await exchange.fetch_ticker(symbol)
        assert ticker["bid"] == pytest.approx(ticker["last"] * (1 - market["taker"]))
        assert ticker["ask"] == pytest.approx(ticker["last"] / (1 - market["taker"]))
        assert ticker["last"] == float(rows[0]["spotAfter"])
        assert (await exchange.fetch_tickers([symbol]))[symbol]["last"] == ticker["last"]
        assert symbol in await exchange.fetch_tickers()

        bars = await exchange.fetch_ohlcv(symbol, "1m", since=0, limit=2)
        assert bars[0][0] == trade["timestamp"] // 60_000 * 60_000
        assert bars[0][4:] == [float(rows[0]["price"]), int(rows[0]["baseAmount"])]
        newest = await exchange.fetch_ohlcv(symbol, "1h", limit=1)
        assert newest[0][1] == float(rows[0]["price"])
        book = await exchange.fetch_order_book(symbol)
        assert (book["symbol"], len(book["asks"]), len(book["bids"]) > 0) == (symbol, 100, True)
        (bid, _), (ask, tokens) = book["bids"][0], book["asks"][0]
        assert bid <= ticker["bid"] and ask >= ticker["ask"], "the book stands on a grid around them"
        assert bid < float(rows[0]["price"]) * 1.1 and bid < ask and tokens == int(tokens) > 0
        fine = await exchange.fetch_order_book(symbol, 5, {"digits": 4})
        assert len(fine["asks"]) == 5 and fine["asks"][0][0] <= ask
        with pytest.raises(errors.BadRequest):
            await exchange.fetch_order_book(symbol, 5, {"levels": 4})
        assert await exchange.fetch_time() > 1_700_000_000_000


async def test_a_token_beyond_the_first_is_looked_up(devnet: str) -> None:
    few = {"urls": {"api": devnet}, "options": {"mostMarkets": 0}}
    async with traded(devnet, "Beyond") as (_, asset), Upcurve(few) as exchange:
        assert await exchange.load_markets() == {}
        (trade,) = await exchange.fetch_trades(f"{asset}/ADA")
        assert trade["symbol"] == f"{asset}/ADA"
        with pytest.raises(errors.BadSymbol):
            await exchange.fetch_ticker("ab" * 28 + ".00/ADA")
        with pytest.raises(errors.BadSymbol):
            await exchange.fetch_ticker("BTC/USDT")
        assert f"{asset}/ADA" in await exchange.symbols_of("coin")
        with pytest.raises(errors.BadSymbol, match=r"asset id.*with this ticker"):
            await exchange.fetch_ticker("COIN/ADA")
        with pytest.raises(errors.BadSymbol, match="no token has this ticker"):
            await exchange.fetch_trades("NOBODY/ADA")


async def test_buys_and_sells(devnet: str) -> None:
    config = {"urls": {"api": devnet}, "privateKey": SECRET, "options": {"network": "testnet"}}
    async with traded(devnet, "Sold") as (_, asset), Upcurve(config) as exchange:
        symbol = f"{asset}/ADA"
        await exchange.wallet().fund(900)
        assert (await exchange.fetch_balance())["ADA"] == {"free": 900.0, "used": 0.0, "total": 900.0}

        placed = await exchange.create_market_buy_order_with_cost(symbol, 5)
        assert (placed["status"], placed["side"], placed["symbol"]) == ("open", "buy", symbol)
        bought = await _closed(exchange, placed["id"], symbol)
        assert (bought["status"], bought["cost"]) == ("closed", 5.0)
        held = (await exchange.fetch_balance())[asset]
        assert held["total"] == bought["filled"] == placed["amount"] > 0

        price = (await exchange.fetch_ticker(symbol))["last"]
        with pytest.raises(errors.OrderNotFillable, match="PRICE_MOVED"):
            await exchange.create_order(symbol, "limit", "sell", held["free"], price * 2)
        waiting = await exchange.create_order(
            symbol, "limit", "sell", held["free"], price * 2, {"waitFor": 3600}
        )
        assert (await exchange.fetch_order(waiting["id"], symbol))["status"] == "open"
        await exchange.cancel_order(waiting["id"])
        assert (await _closed(exchange, waiting["id"], symbol))["status"] == "canceled"
        placed = await exchange.create_order(symbol, "limit", "sell", held["free"], price / 2)
        sold = await _closed(exchange, placed["id"], symbol)
        assert (sold["status"], sold["side"], sold["amount"]) == ("closed", "sell", bought["filled"])
        assert sold["average"] > price / 2
        assert {row["id"] for row in await exchange.fetch_closed_orders(symbol)} == {
            *(bought["id"], sold["id"], waiting["id"])
        }
        assert await exchange.fetch_open_orders() == []
        assert [row["side"] for row in await exchange.fetch_my_trades(symbol)] == ["buy", "sell"]
        with pytest.raises(errors.OrderNotFound):
            await exchange.fetch_order("00" * 32 + ":0")


async def test_a_network_that_does_not_exist_is_refused() -> None:
    async with Upcurve({"privateKey": SECRET, "options": {"network": "preprod"}}) as exchange:
        with pytest.raises(errors.BadRequest, match="no network 'preprod'"):
            await exchange.fetch_balance()


async def test_own_lists_by_time(devnet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `since` the oldest from there, without it the newest; over pages of two orders."""
    monkeypatch.setattr(trading, "_PAGE", 2)
    config = {"urls": {"api": devnet}, "privateKey": "5b" * 32, "options": {"network": "testnet"}}
    async with traded(devnet, "Listed") as (_, asset), Upcurve(config) as exchange:
        symbol, wallet = f"{asset}/ADA", exchange.wallet()
        await wallet.fund(900)
        for ada in range(5, 10):
            await (await wallet.buy(asset, lovelace=ada * 1_000_000, slippage="75")).settled()
        price = (await exchange.fetch_ticker(symbol))["last"]
        amount = (await exchange.fetch_balance())[asset]["free"] // 4
        open_ids = []
        for _ in range(3):
            await wallet.fund(100)
            sell = {"amount": amount, "price": price * 5, "params": {"waitFor": 3600}}
            open_ids.append((await exchange.create_order(symbol, "limit", "sell", **sell))["id"])

        calls = (exchange.fetch_my_trades, exchange.fetch_closed_orders, exchange.fetch_orders)
        for call, count in zip(calls, (5, 5, 8), strict=True):
            every = await call(symbol)
            ids = [row["id"] for row in every]
            times = [row["timestamp"] for row in every]
            assert len(ids) == count and times == sorted(times), call
            for limit in (1, 3, 500):
                for at in (0, 2, 4):
                    first = times.index(times[at])
                    page = await call(symbol, times[at], limit)
                    assert [row["id"] for row in page] == ids[first : first + limit], (call, limit, at)
                page = await call(symbol, limit=limit)
                assert [row["id"] for row in page] == ids[-limit:], (call, limit)
            bound = {"until": times[2]}
            inside = [row["id"] for row in every if row["timestamp"] <= times[2]]
            assert [row["id"] for row in await call(symbol, None, 2, bound)] == inside[-2:], call
            inside = [row["id"] for row in every if times[1] <= row["timestamp"] <= times[2]]
            assert [row["id"] for row in await call(symbol, times[1], 9, bound)] == inside, call
            assert await call(symbol, times[-1] + 60_000) == []
            assert await call(symbol, times[3], None, {"until": times[2] - 1000}) == []
            with pytest.raises(errors.BadRequest):
                await call(symbol, times[3], None, {"until": times[2], "other": 1})
        assert {row["id"] for row in await exchange.fetch_open_orders()} == set(open_ids)
        assert len(await exchange.fetch_open_orders(symbol, limit=2)) == 2
        assert await exchange.fetch_order(ids[0], symbol) == every[0]
        used = (await exchange.fetch_balance())[asset]["used"]
        assert used == 3 * amount


async def test_trades_of_one_second_are_paged_without_loss() -> None:
    """As bots page: from the last time on, or from the next millisecond on; and backwards."""
    row = {"price": "0.1", "baseAmount": "10", "quoteAmount": "1000000", "side": "buy"}
    seconds = [1, 1, 5, 5, 5, 5, 5, 5, 7]
    tape = [{"id": f"{at:012}", "time": second, **row} for at, second in enumerate(seconds)]
    ids = [each["id"] for each in tape]

    async def read(start: int, end: int, before: Any) -> Page[Any]:
        older = [row for row in tape if before is None or row["id"] < before]
        inside = [row for row in older if start <= row["time"] < end][::-1]
        return Page(inside[:3], inside[2]["id"] if len(inside) > 3 else None)

    exchange = Upcurve()
    market = rows.market_of("ab" * 28 + ".00", None, {})
    end = 9_999_999_999_999
    for step in (0, 1):
        found: dict[str, int] = {}
        since = 0
        while page := [
            each
            for each in await exchange._read_trades(read, market, Span(since, end, 2))
            if each["id"] not in found
        ]:
            found |= {each["id"]: each["timestamp"] for each in page}
            since = page[-1]["timestamp"] + step
        assert list(found) == ids
        assert list(found.values())[:4] == [1000, 1001, 5000, 5001]
    back: list[str] = []
    while older := await exchange._read_trades(read, market, Span(None, end, 2)):
        back = [*(each["id"] for each in older), *back]
        end = older[0]["timestamp"] - 1
    assert back == ids


@pytest.mark.parametrize(
    ("since", "limit", "params"),
    [(-1, None, {}), ("0", None, {}), (None, 0, {}), (None, -1, {}), (None, 1.5, {})]
    + [(None, True, {}), (None, None, {"until": "now"}), (None, None, {"until": -1})],
)
async def test_spans_that_are_none_are_refused(since: Any, limit: Any, params: Any) -> None:
    exchange = Upcurve({"privateKey": SECRET})
    exchange.set_markets([rows.market_of("ab" * 28 + ".00", None, {})])
    symbol = "ab" * 28 + ".00/ADA"
    calls = (exchange.fetch_trades, exchange.fetch_my_trades, exchange.fetch_orders)
    for call in (*calls, exchange.fetch_closed_orders, exchange.fetch_open_orders):
        with pytest.raises(errors.BadRequest, match="since|limit|until"):
            await call(symbol, since, limit, params)
    with pytest.raises(errors.BadRequest, match="since|limit|until"):
        await exchange.fetch_ohlcv(symbol, "1m", since, limit, params)
    await exchange.close()


async def test_params_that_a_call_does_not_use_are_refused() -> None:
    exchange = Upcurve({"privateKey": SECRET})
    exchange.set_markets([rows.market_of("ab" * 28 + ".00", None, {})])
    symbol = "ab" * 28 + ".00/ADA"
    params = {"price": "mark"}
    for name in ("fetch_ohlcv", "fetch_trades", "fetch_my_trades", "fetch_orders", "fetch_ticker"):
        with pytest.raises(errors.BadRequest, match="price"):
            await getattr(exchange, name)(symbol, params=params)
    for name in ("fetch_closed_orders", "fetch_open_orders", "fetch_order_book", "fetch_order"):
        with pytest.raises(errors.BadRequest, match="price"):
            await getattr(exchange, name)(symbol, params=params)
    for name in ("watch_ohlcv", "watch_trades", "watch_order_book", "watch_orders"):
        with pytest.raises(errors.BadRequest, match="price"):
            await getattr(exchange, name)(symbol, params=params)
    with pytest.raises(errors.BadRequest, match="price"):
        await exchange.fetch_tickers([symbol], params=params)
    await exchange.close()


async def _closed(exchange: Any, id: str, symbol: str) -> Any:
    """By watching."""
    while True:
        for order in await asyncio.wait_for(exchange.watch_orders(symbol), 60):
            if order["id"] == id and order["status"] != "open":
                return await exchange.fetch_order(id, symbol)


async def test_what_cannot_be_ordered_is_refused(devnet: str) -> None:
    async with traded(devnet, "Refused") as (_, asset), Upcurve({"urls": {"api": devnet}}) as exchange:
        symbol = f"{asset}/ADA"
        with pytest.raises(errors.AuthenticationError, match="privateKey"):
            await exchange.create_order(symbol, "limit", "buy", 1, 1)
        with pytest.raises(errors.InvalidOrder, match="limit or market"):
            await exchange.create_order(symbol, "stop", "buy", 1, 1)
        with pytest.raises(errors.InvalidOrder, match="needs a price"):
            await exchange.create_order(symbol, "limit", "buy", 1)
        with pytest.raises(errors.InvalidOrder, match="what a buy spends"):
            await exchange.create_order(symbol, "market", "buy", 1)
        with pytest.raises(errors.InvalidOrder, match="only a limit order waits"):
            await exchange.create_order(symbol, "market", "buy", 1, 1, {"waitFor": 600})
        with pytest.raises(errors.BadRequest, match="postOnly"):
            await exchange.create_order(symbol, "limit", "buy", 1, 1, {"postOnly": True})
        with pytest.raises(errors.BadRequest, match="stop"):
            await exchange.cancel_order("00" * 32 + ":0", symbol, {"stop": True})


@pytest.mark.parametrize("is_buy", [True, False])
def test_an_order_executed_in_part_says_what_it_gave(is_buy: bool) -> None:
    token = f"{'ab' * 28}.00"
    order: Any = {
        **{"entityId": f"{'00' * 32}:0", "timestamp": 1, "status": "Waiting", "info": {}},
        **{"from": "." if is_buy else token, "to": token if is_buy else "."},
        **{"fromAmount": "10000000", "toAmount": "500", "filledAmount": "4000000", "remaining": "6000000"},
        **{"worstPrice": {"numerator": "1", "denominator": "2"}, "refundReason": None, "evaluatedAt": None},
        **{"feeLovelace": "1100000"},
    }
    row = rows.order_row(order)
    assert row["status"] == "open"
    assert row["fee"] == {"currency": "ADA", "cost": "1.100000"}
    assert (row["filled"], Decimal(row["cost"])) == (("0", 4) if is_buy else ("4000000", 0))


async def test_watches_through_a_cut(devnet: str) -> None:
    """Every trade once, in order, also those during the cut."""
    async with traded(devnet, "Watched") as (wallet, asset):
        port = int(devnet.rsplit(":", 1)[1])
        async with TcpProxy(port) as proxy, Upcurve({"urls": {"api": proxy.url}}) as exchange:
            symbol = f"{asset}/ADA"
            seen = [trade["id"] for trade in await exchange.watch_trades(symbol)]
            bars = await exchange.watch_ohlcv(symbol, "1m")
            assert bars[-1][5] > 0
            proxy.is_closed = True
            proxy.cut()
            order = await wallet.buy(asset, lovelace=7_000_000)
            filled = await asyncio.wait_for(order.settled(), 60)
            proxy.is_closed = False
            while len(seen) < 2:
                seen += [each["id"] for each in await asyncio.wait_for(exchange.watch_trades(symbol), 60)]
            tape = (await wallet.client.trades.list(asset=asset)).data
            assert seen == [row["id"] for row in tape[::-1]]
            volume = 0
            while volume < int(filled["toAmount"]):
                volume = max(row[5] for row in await asyncio.wait_for(exchange.watch_ohlcv(symbol), 60))
            await exchange.un_watch(symbol)
            exchange.newUpdates = False
            whole = await exchange.watch_trades(symbol)
            assert [row["id"] for row in whole] == seen


@pytest.mark.parametrize(
    ("status", "cause", "error"),
    [
        (503, "NOT_READY", "ExchangeNotAvailable"),
        (500, "SERVER_ERROR", "ExchangeError"),
        (404, "ASSET_NOT_FOUND", "BadSymbol"),
    ],
)
async def test_errors_are_those_of_ccxt(status: int, cause: str, error: str) -> None:
    async with RawServer(status=status, cause=cause) as server:
        exchange = Upcurve({"urls": {"api": [server.url]}})
        with pytest.raises(getattr(errors, error), match=cause):
            await exchange.fetch_time()
        await exchange.close()


async def test_own_trades_continue_where_an_answer_reads_no_further() -> None:
    asset = "ab" * 28 + ".00"
    row = {"price": "0.1", "baseAmount": "10", "quoteAmount": "1000000", "side": "buy"}
    ids = [f"{slot:012}.000000.0000" for slot in (9, 5, 1)]
    newest, middle, oldest = ({"id": id, "time": at, **row} for at, id in zip((9, 5, 1), ids, strict=True))
    answers: list[tuple[Any, dict[str, str]]] = [
        ([newest], {"X-Next-Before": ids[0]}),
        ([], {"X-Next-Before": ids[1]}),
        ([middle, oldest], {}),
    ]
    async with RawServer(answers=answers) as server:
        exchange = Upcurve({"urls": {"api": [server.url]}, "privateKey": SECRET})
        exchange.set_markets([rows.market_of(asset, None, {})])
        trades = await exchange.fetch_my_trades(f"{asset}/ADA", limit=3)
        await exchange.close()
    assert [trade["info"] for trade in trades] == [oldest, middle, newest]
    befores = [re.findall(r"before=([^&]+)", call) for call in server.calls]
    assert befores == [[], [ids[0]], [ids[1]]]


async def test_open_orders_hold_what_is_not_executed_yet() -> None:
    order = {"entityId": "00:0", "timestamp": 5, "from": ".", "fromAmount": "9000000", "remaining": "4000000"}
    outputs = [{"txHash": "00" * 32, "index": 0, "value": [{"unit": "lovelace", "amount": "7000000"}]}]
    answers = [(outputs, {}), ({"mempool": [], "ledger": {"count": 1, "items": [order]}}, {})]
    async with RawServer(answers=answers) as server:
        exchange = Upcurve({"urls": {"api": [server.url]}, "privateKey": SECRET})
        balance = await exchange.fetch_balance()
        await exchange.close()
    assert balance["ADA"] == {"free": 7.0, "used": 4.0, "total": 11.0}


async def test_the_program_of_the_readme(devnet: str, tmp_path: Path) -> None:
    text = (HERE / "README.md").read_text()
    (program,) = (text for text in re.findall(r"```python\n(.*?)```", text, re.S) if "adapters.ccxt" in text)
    path = tmp_path / "readme.py"
    path.write_text(program.replace("http://127.0.0.1:8080", devnet))
    async with traded(devnet, "Shown"):
        shown = await output_of(devnet, str(path))
    assert re.match(r"\S+ \d\.\S+\n\[\[\d{13}, ", shown), shown


def test_amounts_are_exact() -> None:
    exchange = Upcurve({"number": Decimal})
    bar = {"time": 60, "open": "0.1", "high": "0.3", "low": "0.1", "close": "0.2", "baseVolume": "12"}
    assert exchange.parse_ohlcv(bar) == [60_000, *map(Decimal, ("0.1", "0.3", "0.1", "0.2", "12"))]
