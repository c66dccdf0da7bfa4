"""Bars through everything that a network and a server may do to them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.feeds import BASE, END_OF_TIME, NOON, has_bars, rollback, trade
from support.proxy import TcpProxy
from support.same import assert_same, bars_like_http
from support.server import Server
from support.until import until

from upcurve import ApiError, Client, Notice


def close_of(bars: object) -> str | None:
    rows = bars.state.bars  # type: ignore[attr-defined]
    return rows[-1]["close"] if rows else None


async def test_a_mirror_of_more_bars_than_an_answer_has_is_whole(directory: Path) -> None:
    minutes, wanted = 5_040, 5_020
    with Server(directory, "replay", "-", NETWORK="none") as server:
        async with Client(server.url) as client:
            server.feed(*[trade(minute, "2") for minute in range(minutes)])

            async def is_fed() -> bool:
                last = NOON + 60 * (minutes - 1)
                query = {"base": BASE, "quote": ".", "resolution": "min1", "end": END_OF_TIME}
                try:
                    return len((await client.charts.history(start=last, **query)).data) == 1
                except ApiError:
                    return False

            await until("fed", is_fed)
            bars = client.watch_bars(BASE, "min1", limit=wanted)
            await bars.ready()
            times = [NOON + 60 * minute for minute in range(minutes)]
            assert [bar["time"] for bar in bars.state.bars] == times[-wanted:]
            assert bars.state.has_older and await bars.load_older(wanted)
            assert [bar["time"] for bar in bars.state.bars] == times
            assert not bars.state.has_older


@pytest.mark.parametrize("encoding", ["json", "msgpack"])
async def test_bars_continue_after_a_cut_a_silence_and_a_kill(
    directory: Path, encoding: str
) -> None:
    with Server(directory, "replay", "-", NETWORK="none") as first:
        async with TcpProxy(first.port) as proxy:
            async with Client(proxy.url, encoding=encoding, silence=8) as client:  # type: ignore[arg-type]
                first.feed(trade(0, "1"), trade(1, "2"), trade(2, "3"))
                await until("fed", lambda: has_bars(client, 3))
                bars = client.watch_bars(BASE, "min1", limit=2)
                compared = [bars_like_http(client, bars, BASE, "min1")]
                await until("loaded", lambda: close_of(bars) == "3")
                await assert_same(compared, "loaded")
                assert (len(bars.state.bars), bars.state.has_older) == (2, True)
                notices: list[Notice] = []
                client.connection.on_notice(notices.append)

                await until("open", lambda: client.connection.state.status == "open")
                proxy.cut()
                first.feed(trade(3, "4"), trade(4, "5"))
                await until("what happened meanwhile", lambda: close_of(bars) == "5")
                await assert_same(compared, "after a cut")

                proxy.hold()
                first.feed(trade(4, "9"), trade(5, "6"))
                await until("it gives up", lambda: client.connection.state.status != "open")
                proxy.release()
                await until("the news", lambda: close_of(bars) == "6")
                await assert_same(compared, "after a silence")

                first.kill()
                await until("waiting", lambda: client.connection.state.status == "waiting")
                assert close_of(bars) == "6", "what is known stays"
                with Server(directory, "replay", "-", NETWORK="none") as second:
                    second.feed(trade(6, "7"), rollback(4), trade(7, "8"))
                    proxy.target = second.port
                    await until("back", lambda: close_of(bars) == "8")
                    await assert_same(compared, "after a kill and a rollback")
                    assert notices == [], "everything came, nothing had to be loaded again"
                    assert await bars.load_older()
                    await assert_same(compared, "with older bars")
                    assert not bars.state.has_older
                    pages = await client.charts.whole_history(
                        base=BASE, quote=".", resolution="min1", start=0, end=END_OF_TIME, limit=2
                    )
                    assert [bar["time"] for bar in pages.data] == [
                        bar["time"] for bar in bars.state.bars
                    ], "the whole, page by page"


async def test_another_node_continues_where_the_first_one_was(tmp_path: Path) -> None:
    with (
        Server(tmp_path / "one", "replay", "-", NETWORK="none") as one,
        Server(tmp_path / "two", "replay", "-", NETWORK="none") as two,
    ):
        async with (
            TcpProxy(one.port) as near,
            TcpProxy(one.port) as far,
            Client([near.url, far.url]) as client,
        ):
            one.feed(trade(0, "1"), trade(1, "2"))
            await until("fed", lambda: has_bars(client, 2))
            bars = client.watch_bars(BASE, "min1")
            compared = [bars_like_http(client, bars, BASE, "min1")]
            await until("open", lambda: client.connection.state.status == "open")
            near.is_closed = True
            near.cut()
            await until("elsewhere", lambda: client.connection.state.node == far.url)
            one.feed(trade(1, "3"))
            await until("the news", lambda: close_of(bars) == "3")
            assert (await client.server.ready()).data["synced"]
            await assert_same(compared, "on another node")
            # Another log: positions of the first log mean nothing there.
            two.feed(trade(0, "5"), trade(3, "6"))
            far.target = two.port
            far.cut()
            await until("the other market", lambda: close_of(bars) == "6")
            await assert_same(compared, "in another log")
