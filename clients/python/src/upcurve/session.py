"""The HTTP sessions that calls and sockets share: opened with the first use, in its event loop."""

from __future__ import annotations

import aiohttp

from .errors import ApiError


class Session:
    def __init__(self) -> None:
        self._kept: aiohttp.ClientSession | None = None
        self._fresh: aiohttp.ClientSession | None = None
        self.is_closed = False

    def get(self) -> aiohttp.ClientSession:
        """Keeps connections for the next call."""
        if self._kept is None or self.is_closed:
            self._kept = self._open(force_close=False)
        return self._kept

    def fresh(self) -> aiohttp.ClientSession:
        """A new connection for each call: a kept one may be dead without our knowing, and a call that
        must not be done twice cannot be tried again."""
        if self._fresh is None or self.is_closed:
            self._fresh = self._open(force_close=True)
        return self._fresh

    async def close(self) -> None:
        self.is_closed = True
        for session in (self._kept, self._fresh):
            if session is not None:
                await session.close()

    def _open(self, force_close: bool) -> aiohttp.ClientSession:
        if self.is_closed:
            raise stopped()
        return aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=force_close))


def stopped() -> ApiError:
    return ApiError("STOPPED", "the client was closed")
