"""Calls over HTTP: each route has its method, nodes are tried in turn, nothing is done twice."""

from __future__ import annotations

import asyncio
import inspect
import json
import socket
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import aiohttp
import pytest
from support.person import funded, launch
from support.raw import RawServer
from support.until import until

from upcurve import ApiError, Client, Key
from upcurve.routes import Group

ASSET = "ab" * 28 + ".00"
#: Tags of routes that no method covers: people and other programs call them.
NOT_COVERED = {"TradingView", "Images", "Documents", "Page"}
# /v1/stream: the client follows topics over its socket.
NOT_COVERED_PATHS = {"/metrics", "/health/live", "/v1/stream"}


#: Methods that are made of others.
COMPOSED = {"whole_history", "by_ticker"}


def _nowhere() -> str:
    """A URL whose port no program listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


async def test_each_route_has_its_method(devnet: str) -> None:
    with urlopen(f"{devnet}/v1/docs/openapi.json") as answer:
        document = json.load(answer)
    documented = {
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if operation["tags"][0] not in NOT_COVERED and path not in NOT_COVERED_PATHS
    }
    async with RawServer() as server, Client(server.url) as client:
        for group in vars(client).values():
            if isinstance(group, Group):
                for name, method in inspect.getmembers(group, inspect.iscoroutinefunction):
                    if not name.startswith("_") and name not in COMPOSED:
                        await _call(method)
    called = {_pattern(line.split("?")[0]) for line in server.calls}
    assert called == documented


def _pattern(call: str) -> str:
    name = "{id}" if "/webhooks/" in call else "{assetId}"
    return call.replace(quote(ASSET, safe=""), name)


async def _call(method: Any) -> None:
    """With one argument for each that it needs."""
    needed = {
        name: _argument(name)
        for name, parameter in inspect.signature(method).parameters.items()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    }
    await method(**needed)


def _argument(name: str) -> Any:
    known: dict[str, Any] = {"image": b"", "media_type": "image/png"}
    lists: dict[str, Any] = {"pkhs": ["00"], "assets": [ASSET], "spans": [], "orders": []}
    return known.get(name, lists.get(name, ASSET))


async def test_an_api_key_goes_with_calls_and_with_the_socket(devnet: str) -> None:
    async with Client(devnet) as client:
        assert (await client.server.limits()).data["exempt"] is True
    async with Client(devnet, key="upc_nobody") as client:
        with pytest.raises(ApiError) as failure:
            await client.server.limits()
        assert (failure.value.status, failure.value.cause) == (401, "UNKNOWN_KEY")
        with pytest.raises(ApiError) as ended:
            await asyncio.wait_for(client.watch_health().ready(), 30)
        assert (ended.value.cause, client.connection.state.status) == ("CLOSED", "closed")
        assert "4501" in str(ended.value)


async def test_a_node_that_does_not_answer_is_left_for_the_next(devnet: str) -> None:
    async with RawServer(status=503, cause="NOT_READY") as busy:
        nowhere = _nowhere()
        async with Client([nowhere, busy.url, devnet]) as client:
            assert (await client.server.time()).data["timestamp"] > 0
            assert len(busy.calls) == 1
    async with Client([nowhere, nowhere]) as client:
        with pytest.raises(ApiError) as failure:
            await client.server.time()
        assert (failure.value.cause, failure.value.is_passing) == ("UNREACHABLE", True)


async def test_a_silent_node_is_left_after_the_timeout(devnet: str) -> None:
    async with RawServer(is_silent=True) as silent, Client([silent.url], timeout=0.3) as client:
        with pytest.raises(ApiError) as failure:
            await client.server.time()
        assert failure.value.cause == "TIMEOUT"
        async with Client([silent.url, devnet], timeout=2) as both:
            assert (await both.server.time()).data["timestamp"] > 0


async def test_what_may_have_happened_is_not_done_twice(devnet: str) -> None:
    async with RawServer(is_cut=True) as cut, Client([cut.url, devnet]) as client:
        with pytest.raises(ApiError) as failure:
            await client.devnet.mine(blocks=1)
        assert failure.value.cause == "UNREACHABLE"
        assert len(cut.calls) == 1
        # A call that is safe to repeat goes to the next node.
        assert (await client.server.time()).data["timestamp"] > 0


async def test_a_busy_server_is_asked_again_after_the_time_it_names() -> None:
    async with RawServer(status=429, cause="RATE_LIMITED", retry_after=1, refusals=1) as server:
        async with Client(server.url, max_attempts=2) as client:
            assert (await client.server.time()).data is None
        assert len(server.calls) == 2
        assert server.times[1] - server.times[0] >= 1, "it waited as long as the server said"


async def test_a_limit_that_no_time_lifts_is_not_asked_again() -> None:
    async with RawServer(status=429, cause="LIMIT_EXCEEDED") as server:
        async with Client(server.url, max_attempts=4) as client:
            with pytest.raises(ApiError) as failure:
                await client.server.time()
        assert not failure.value.is_busy
        assert len(server.calls) == 1


async def test_the_newest_position_is_waited_for(devnet: str) -> None:
    async with Client(devnet) as client:
        position = (await client.pools.list("New")).position
        assert position is not None
        ahead = position._replace(seq=position.seq + 1_000_000)
        with pytest.raises(ApiError) as failure:
            await client.charts.history(
                min_position=ahead, base=ASSET, quote=".", resolution="min1", start=0, end=1
            )
        assert (failure.value.cause, failure.value.status) == ("NOT_READY", 503)
        assert failure.value.retry_after_seconds is not None


async def test_a_close_ends_what_is_under_way() -> None:
    async with RawServer(is_silent=True) as silent:
        client = Client(silent.url)
        call = asyncio.ensure_future(client.server.time())
        await until("it is asked", lambda: silent.calls)
        await client.close()
        with pytest.raises(ApiError) as failure:
            await asyncio.wait_for(call, 30)
        assert failure.value.cause == "STOPPED"


async def test_a_close_as_the_socket_opens_ends(
    devnet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    closes: list[asyncio.Task[None]] = []
    connect = aiohttp.ClientSession.ws_connect

    async def close_as_it_opens(session: aiohttp.ClientSession, *args: Any, **options: Any) -> Any:
        socket = await connect(session, *args, **options)
        loop = asyncio.get_running_loop()
        # Runs after this coroutine has ended and before the client continues.
        loop.call_soon(lambda: closes.append(loop.create_task(client.close())))
        return socket

    monkeypatch.setattr(aiohttp.ClientSession, "ws_connect", close_as_it_opens)
    client = Client(devnet)
    pools = client.watch_pools("New")
    await until("it closes", lambda: closes)
    await asyncio.wait_for(closes[0], 10)
    assert (pools.is_closed, client.connection.state.status) == (True, "closed")


async def test_a_closed_client_is_quiet(devnet: str) -> None:
    client = Client(devnet)
    wrong = client.watch_pool("nonsense")
    with pytest.raises(ApiError) as refused:
        await asyncio.wait_for(wrong.ready(), 30)
    assert refused.value.cause == "INVALID_PARAMS"
    assert (wrong.is_closed, wrong.error) == (True, refused.value)
    pools = client.watch_pools("New")
    await asyncio.wait_for(pools.ready(), 30)
    await client.close()
    assert (pools.is_closed, pools.error, client.connection.state.status) == (True, None, "closed")
    late = client.watch_pools("New")
    with pytest.raises(ApiError) as stopped:
        await asyncio.wait_for(late.ready(), 30)
    assert stopped.value.cause == "STOPPED"
    with pytest.raises(ApiError):
        await client.server.time()


async def test_a_name_that_a_call_does_not_have_is_refused_before_it_is_sent() -> None:
    client: Any = Client(_nowhere())
    async with client:
        for call, query in (
            (client.trades.list, {"asset": ASSET, "limt": 5}),
            (client.charts.history, {"base": ASSET, "from": 1}),
            (client.charts.whole_history, {"base": ASSET, "resolutin": "min1"}),
            (client.build.quote, {"amout": "5"}),
            (client.holders.portfolio_history, {"pkhs": [], "interval": "min1"}),
        ):
            with pytest.raises(TypeError, match="has no argument '(limt|from|resolutin|amout|interval)'"):
                await call(**query)
        with pytest.raises(ApiError) as unreachable:
            await client.trades.list(asset=ASSET, limit=5)
        assert unreachable.value.cause == "UNREACHABLE"


def test_a_network_that_does_not_exist_is_refused() -> None:
    client: Any = Client(_nowhere())
    for network in ("devnet", "tesnet", "", None):
        with pytest.raises(ValueError, match="no network .*mainnet.*testnet"):
            client.wallet(Key.new(), network)


async def test_tokens_are_found_by_their_ticker(devnet: str) -> None:
    async with Client(devnet) as client:
        author = await funded(client, outputs=4)
        first = await launch(author, "Twin one", ticker="TWIN")
        second = await launch(author, "Twin two", ticker="twin", initial_ada=50)
        third = await launch(author, "Twin three", ticker="TWINS")
        for asset in (first, second, third):
            async with client.watch_pool(asset) as pool:
                await asyncio.wait_for(pool.until(lambda state: state is not None), 60)
        found = (await client.pools.by_ticker("Twin")).data
        assert [row["info"]["asset"] for row in found] == [second, first]
        assert (await client.pools.by_ticker("NOBODY")).data == []


def test_urls_are_checked() -> None:
    for wrong in ([], "127.0.0.1:8080", "ftp://127.0.0.1"):
        with pytest.raises(ValueError):
            Client(wrong)
