"""Mirrors against HTTP: at one position both say the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from upcurve import Answer, Client, Mirror, OrdersMirror, Wallet

from .feeds import END_OF_TIME
from .until import until

LISTS = ("New", "Latest", "MCapDesc", "CompletedCreateOn", "CompletedMCap", "Trending")


def _same(state: Any) -> Any:
    return state


@dataclass(frozen=True)
class Compared:
    """A mirror beside the call that says the same."""

    name: str
    mirror: Mirror[Any, Any]
    ask: Callable[[], Awaitable[Answer[Any]]]
    #: The parts of the mirror's state and of the answer that must be equal.
    of_state: Callable[[Any], Any] = _same
    of_answer: Callable[[Any], Any] = _same


async def assert_same(compared: Sequence[Compared], when: str) -> None:
    """Asks until each mirror is exactly where an answer is, and compares them there."""
    open_ones = list(compared)

    async def all_equal() -> bool:
        for one in list(open_ones):
            answer = await one.ask()
            if answer.position is not None and answer.position == one.mirror.position:
                assert one.of_state(one.mirror.state) == one.of_answer(answer.data), (one.name, when)
                open_ones.remove(one)
        return not open_ones

    await until(f"{[one.name for one in open_ones]} {when}", all_equal)


def bars_like_http(
    client: Client, mirror: Any, base: str, resolution: Any, is_cap: bool = False
) -> Compared:
    """Every bar of the mirror equals the HTTP bar, and the mirror misses none since its oldest."""
    history = client.charts.mcap_history if is_cap else client.charts.history

    def rows_from_oldest(rows: list[Any]) -> tuple[bool, list[Any]]:
        state = mirror.state
        oldest = state.bars[0]["time"] if state.has_older and state.bars else 0
        left_out = ("pair", "isRelevant")
        plain = [{k: v for k, v in bar.items() if k not in left_out} for bar in rows]
        newer = [bar for bar in plain if bar["time"] >= oldest]
        return len(newer) < len(plain), newer

    return Compared(
        f"{resolution} {'caps' if is_cap else 'bars'}",
        mirror,
        lambda: history(
            base=base, quote=".", resolution=resolution, start=0, end=END_OF_TIME
        ),
        lambda state: (state.has_older, list(state.bars)),
        rows_from_oldest,
    )


def orders_like_http(
    name: str, mirror: OrdersMirror, ask: Callable[[], Awaitable[Answer[Any]]]
) -> Compared:
    """Orders of one second may come in another order; none is missing."""

    def of_state(state: Any) -> Any:
        seconds = [order["timestamp"] for order in state.ledger]
        assert seconds == sorted(seconds, reverse=True), "newest first"
        return state.count, _by_id(state.ledger), _by_id(state.mempool)

    def of_answer(page: Any) -> Any:
        ledger = page["ledger"]
        return ledger["count"], _by_id(ledger["items"]), _by_id(page["mempool"])

    return Compared(name, mirror, ask, of_state, of_answer)


def _by_id(orders: Sequence[Any]) -> list[Any]:
    return sorted(orders, key=lambda order: str(order["entityId"]))


def _items(answer: Any) -> Any:
    return answer["items"]


def whole_market(client: Client, asset: str, wallet: Wallet) -> list[Compared]:
    """Every mirror that the client has."""
    keys = [wallet.key.hash]
    lists = [
        Compared(name, client.watch_pools(name), lambda name=name: client.pools.list(name), list)
        for name in LISTS
    ]
    bars = client.watch_bars
    caps = client.watch_mcap_bars
    return [
        *lists,
        Compared("top pool", client.watch_top_pool(), client.pools.top),
        Compared("pool", client.watch_pool(asset), lambda: client.pools.one(asset)),
        Compared("tickers", client.watch_tickers(), client.tickers.list, list, _items),
        Compared(
            "ticker",
            client.watch_tickers({"assets": [asset]}),
            lambda: client.tickers.of_assets([asset]),
            list,
            _items,
        ),
        Compared(
            "trades",
            client.watch_trades(asset),
            lambda: client.trades.list(asset=asset, limit=500),
            lambda state: list(state.trades),
        ),
        orders_like_http(
            "orders", client.watch_orders(asset), lambda: client.orders.feed(asset=asset)
        ),
        orders_like_http(
            "orders of a key",
            client.watch_orders(asset, keys),
            lambda: client.orders.feed(keys, asset=asset),
        ),
        orders_like_http(
            "orders of an address",
            client.watch_user_orders(wallet.address),
            lambda: client.orders.of_keys(keys),
        ),
        bars_like_http(client, bars(asset, "min1"), asset, "min1"),
        bars_like_http(client, bars(asset, "hour1", limit=2), asset, "hour1"),
        bars_like_http(client, caps(asset, "min1", limit=2), asset, "min1", is_cap=True),
    ]
