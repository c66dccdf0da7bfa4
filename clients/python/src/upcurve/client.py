"""The client of an upcurve market: calls over HTTP, and local mirrors over one socket that reconnects
by itself and continues where it was, on any node."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from .charts import Charts
from .connection import Connection
from .frame import Encoding
from .http import Http
from .mirrors.bar_source import PRICE_FIELDS, BarSource, PriceBar
from .mirrors.bars import BarsMirror
from .nodes import Nodes
from .session import Session
from .subscription import SubscribeParams


class Client:
    """`url`: of a node, `https://api.example.org`; several of one market are tried in turn.

    Times are in seconds. `timeout`: of a call over HTTP, at one node. `max_attempts`: how often a
    call is sent while the server is busy (429, 503). `silence`: a socket without a frame for so long
    is given up.
    """

    def __init__(
        self,
        url: str | Sequence[str],
        *,
        encoding: Encoding = "json",
        timeout: float = 15.0,
        max_attempts: int = 1,
        silence: float = 15.0,
    ) -> None:
        nodes = Nodes(url)
        self._session = Session()
        http = Http(self._session, nodes, timeout, max_attempts)
        self.connection = Connection(self._session, nodes, encoding, silence)
        self.charts = Charts(http)

    def bars(
        self,
        base: str,
        resolution: str,
        *,
        quote: str = ".",
        fill: str | None = None,
        limit: int = 300,
        max_hz: int | None = None,
    ) -> BarsMirror[PriceBar]:
        pair = {"base": base, "quote": quote}
        data: dict[str, Any] = {"pair": pair, "interval": resolution}
        if fill is not None:
            data["fill"] = fill
        params = SubscribeParams("LastBar", data, max_hz)
        charts = self.charts
        source: BarSource[PriceBar] = BarSource(
            PRICE_FIELDS, charts.history, charts.initial_state, pair, params
        )
        return BarsMirror(self.connection, source, limit)

    async def close(self) -> None:
        """Ends the socket, all mirrors and pending calls."""
        await self.connection.close()
        await self._session.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        await self.close()
