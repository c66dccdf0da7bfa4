"""The HTTP session that calls and sockets share: opened with the first use, in its event loop."""

from __future__ import annotations

import aiohttp

from .errors import ApiError


class Session:
    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None
        self._is_closed = False

    def get(self) -> aiohttp.ClientSession:
        if self._is_closed:
            raise ApiError("STOPPED", "the client was closed")
        if self._session is None:
            self._session = aiohttp.ClientSession()
        return self._session

    async def close(self) -> None:
        self._is_closed = True
        if self._session is not None:
            await self._session.close()
