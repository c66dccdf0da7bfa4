"""A frame that does not fit is noticed and requested again; so is a frame that this client was too
slow to read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.request import urlopen

from support.feeds import BASE, has_bars, rollback, trade
from support.proxy import TcpProxy
from support.relay import Relay
from support.same import assert_same, bars_like_http
from support.server import Server
from support.until import until

from upcurve import Client, Notice


async def test_a_frame_that_never_came_is_noticed_with_the_next_one(directory: Path) -> None:
    with Server(directory, "replay", "-", NETWORK="none") as server:
        async with Relay(server.url) as relay, Client(relay.url, silence=120) as client:
            notices: list[Notice] = []
            client.connection.on_notice(notices.append)
            server.feed(trade(0, "1"))
            await until("fed", lambda: has_bars(client, 1))
            bars = client.watch_bars(BASE, "min1")
            await until("open", lambda: client.connection.state.status == "open")
            server.feed(trade(1, "2"))
            await until("live", lambda: len(bars.state.bars) == 2)
            dropped = 0

            def old_pings(text: str) -> str:
                # A ping after it would say that all has come. Without pings, the client would
                # answer none, and the server closes such a socket after 30 s: a slow machine is
                # there.
                frame = json.loads(text)
                if frame["event"] != "Ping":
                    return text
                frame["data"]["seq"] = 0
                return json.dumps(frame)

            def no_bars(text: str) -> str | None:
                nonlocal dropped
                if "LastBarUpdate" in text:
                    dropped += 1
                    return None
                return old_pings(text)

            relay.tamper = no_bars
            server.feed(trade(2, "3"), trade(3, "4"))
            await until("dropped", lambda: dropped > 0)
            await until("fed", lambda: has_bars(client, 4))
            relay.tamper = old_pings
            server.feed(trade(5, "5"))
            await until("whole again", lambda: len(bars.state.bars) == 5)
            relay.tamper = lambda text: text
            await assert_same([bars_like_http(client, bars, BASE, "min1")], "after a loss")
            assert {notice.reason for notice in notices} == {"loss"}


async def test_an_unreadable_frame_ends_the_socket_not_the_mirror(directory: Path) -> None:
    with Server(directory, "replay", "-", NETWORK="none") as server:
        async with Relay(server.url) as relay, Client(relay.url) as client:
            bars = client.watch_bars(BASE, "min1")
            reasons: list[str | None] = []
            client.connection.on_state(lambda state: reasons.append(state.why))
            await bars.ready()
            assert not bars.state.is_known
            relay.tamper = lambda text: text[:-1] if "LastBarUpdate" in text else text
            server.feed(trade(0, "1"))
            await until("given up", lambda: "unreadable frame" in reasons)
            relay.tamper = lambda text: text
            await until("back", lambda: len(bars.state.bars) == 1)


async def test_a_rollback_beyond_the_horizon_starts_an_epoch(directory: Path) -> None:
    with Server(directory, "replay", "-", NETWORK="none", HORIZON_BLOCKS="3") as server:
        async with Client(server.url) as client:
            notices: list[Notice] = []
            client.connection.on_notice(notices.append)
            for minute in range(12):
                server.feed(trade(minute, f"{minute + 1}"))
                await until("fed", lambda: has_bars(client, minute + 1))
            bars = client.watch_bars(BASE, "min1")
            await until("open", lambda: client.connection.state.status == "open")
            assert bars.position is not None
            epoch = bars.position.epoch
            server.feed(rollback(0))
            await until("another log", lambda: bars.position and bars.position.epoch != epoch)
            await assert_same([bars_like_http(client, bars, BASE, "min1")], "in the new epoch")
            assert [bar["close"] for bar in bars.state.bars] == ["1"]
            reasons = {notice.reason for notice in notices}
            assert reasons and reasons <= {"epoch", "horizon"}, reasons


#: All on one stream: the kernel's buffer of an unread socket is soon full.
MIRRORS = 40
MINUTES_A_ROUND = 50
MAX_ROUNDS = 60


async def test_a_client_too_slow_for_everything_loads_what_it_missed(directory: Path) -> None:
    with Server(directory, "replay", "-", NETWORK="none", HORIZON_BLOCKS="10000") as server:
        async with TcpProxy(server.port) as proxy, Client(proxy.url, silence=600) as client:
            notices: list[Notice] = []
            client.connection.on_notice(notices.append)
            minutes = 0

            async def feed(count: int) -> None:
                nonlocal minutes
                lines = [trade(minutes + n, f"{1 + (minutes + n) % 90}") for n in range(count)]
                server.feed(*lines)
                minutes += count
                async with Client(server.url) as direct:
                    await until("fed", lambda: has_bars(direct, minutes))

            await feed(3)
            mirrors = [client.watch_bars(BASE, "min1") for _ in range(MIRRORS)]
            await until("loaded", lambda: all(mirror.is_loaded for mirror in mirrors))
            await feed(1)
            is_whole = lambda: all(len(mirror.state.bars) == minutes for mirror in mirrors)  # noqa: E731
            await until("all are live", is_whole)
            assert notices == []

            proxy.stop_reading()
            rounds = 0
            while _sockets_behind(server.url) == 0:
                assert rounds < MAX_ROUNDS, "the socket is full at last"
                rounds += 1
                await feed(MINUTES_A_ROUND)
            # Left out, and more than a subscription may be sent afterwards: 500 bars.
            for _ in range(12):
                await feed(MINUTES_A_ROUND)
            assert notices == []
            proxy.read_on()
            await until("it is notified", lambda: notices)
            await until(f"all {minutes} bars", is_whole)
            assert {(notice.reason, notice.topic) for notice in notices} == {("slow", "LastBar")}
            assert client.connection.state.status == "open", "on the same socket"
            for mirror in mirrors[:2]:
                await assert_same([bars_like_http(client, mirror, BASE, "min1")], "after the gap")
            await feed(1)
            await until("live again", is_whole)


def _sockets_behind(url: str) -> int:
    with urlopen(f"{url}/metrics") as answer:
        text = answer.read().decode()
    match = re.search(r"^upcurve_sockets_behind_total (\d+)", text, re.M)
    assert match is not None
    return int(match[1])
