"""A relay before a server of which a test may drop or change frames: a TCP connection would not do
this."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any

import aiohttp
from aiohttp import web


class Relay:
    def __init__(self, url: str) -> None:
        self._target = url
        #: Called with each frame of the server; None: it never comes.
        self.tamper: Callable[[str], str | None] = lambda text: text
        self._sockets: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Relay:
        self._session = aiohttp.ClientSession()
        app = web.Application()
        app.router.add_get("/ws", self._socket)
        app.router.add_route("*", "/{path:.*}", self._call)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        for task in self._sockets:
            task.cancel()
        await asyncio.gather(*self._sockets, return_exceptions=True)
        await self._session.close()
        await self._runner.cleanup()

    async def _call(self, request: web.Request) -> web.Response:
        headers = {name: request.headers[name] for name in ("Content-Type",) if name in request.headers}
        async with self._session.request(
            request.method,
            self._target + request.path_qs,
            data=await request.read(),
            headers=headers,
        ) as answer:
            kept = ("X-Position", "X-Next-To", "Content-Type", "Retry-After")
            told = {name: answer.headers[name] for name in kept if name in answer.headers}
            return web.Response(status=answer.status, body=await answer.read(), headers=told)

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        task = asyncio.current_task()
        assert task is not None
        self._sockets.add(task)
        task.add_done_callback(self._sockets.discard)
        client = web.WebSocketResponse(protocols=["json"])
        await client.prepare(request)
        async with self._session.ws_connect(f"{self._target}/ws", protocols=["json"]) as server:

            async def up() -> None:
                async for message in client:
                    await server.send_str(message.data)

            upwards = asyncio.ensure_future(up())
            try:
                async for message in server:
                    text = self.tamper(message.data)
                    if text is not None:
                        await client.send_str(text)
            except ConnectionError:
                pass
            finally:
                upwards.cancel()
        await client.close()
        return client
