"""A server that forwards everything to another server, except for the requests and answers that a
test falsifies."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import TracebackType
from typing import Any

from aiohttp import ClientSession, web

#: Changes a request's body, or an answer's JSON.
Change = Callable[[Any], Any]


class Liar:
    def __init__(self, target: str) -> None:
        self._target = target
        #: By path: `ask` changes the bytes sent to the server, `answer` the JSON that the client
        #: receives.
        self.ask: dict[str, Change] = {}
        self.answer: dict[str, Change] = {}
        self.asked: list[str] = []

    async def __aenter__(self) -> Liar:
        app = web.Application(client_max_size=2**23)
        app.router.add_route("*", "/{path:.*}", self._pass)
        self._runner, self._session = web.AppRunner(app), ClientSession()
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
        await self._session.close()
        await self._runner.cleanup()

    async def _pass(self, request: web.Request) -> web.Response:
        path, body = request.path, await request.read()
        self.asked.append(path)
        body = self.ask.get(path, bytes)(body)
        kind = request.headers.get("content-type")
        headers = {} if kind is None else {"content-type": kind}
        url = self._target + request.path_qs
        async with self._session.request(request.method, url, data=body, headers=headers) as reply:
            told = await reply.read()
            if reply.status == 200 and path in self.answer:
                told = json.dumps(self.answer[path](json.loads(told))).encode()
            return web.Response(body=told, status=reply.status, content_type="application/json")
