"""The trade tape of a token, newest first.

A snapshot holds the newest 100; older ones come with `load_older`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..connection import Connection
from ..position import Answer, Position
from ..subscription import SubscribeParams
from ..wire.shapes import TradeRow
from .base import Change, Mirror, Reason

#: Rows of a snapshot and of a page; fewer rows mean that there are no more.
_PAGE = 100


@dataclass(frozen=True)
class TradesState:
    #: False: the server knows no such token, yet.
    is_known: bool
    #: Newest first.
    trades: Sequence[TradeRow]


@dataclass(frozen=True)
class TradesChange(Change):
    added: Sequence[TradeRow] = ()
    #: Ids of trades that a rollback removed.
    removed: Sequence[str] = ()


#: Loads the given number of trades older than the trade with the id `before`.
OlderTrades = Callable[[str, int], Awaitable[Answer[Any]]]


class TradesMirror(Mirror[TradesState, TradesChange]):
    def __init__(self, connection: Connection, asset: str, older: OlderTrades) -> None:
        super().__init__(TradesState(False, ()))
        self._older = older
        #: Some trades older than this id are unknown, so no older trade is shown.
        self._floor = ""
        #: Beyond it the oldest are dropped.
        self._most_rows = 500
        #: Counts snapshots: a page from before one is dropped.
        self._generation = 0
        params = SubscribeParams("Trades", {"asset": asset})
        self._subscription = connection.subscribe(params, self)

    @property
    def has_older(self) -> bool:
        """Whether there may be trades older than the oldest in `state`."""
        return self._floor != ""

    async def load_older(self) -> bool:
        """The next page of older ones; true when there was one. False too when the node that answered
        is behind this mirror, or a snapshot came meanwhile: call again."""
        floor, generation = self._floor, self._generation
        if floor == "":
            return False
        answer = await self._older(floor, _PAGE)
        own = self._position
        if self._is_closed or floor != self._floor or generation != self._generation:
            return False
        if own is None or answer.position is None or not answer.position.includes(own):
            return False
        page = answer.data
        self._floor = "" if len(page) < _PAGE else page[-1]["id"]
        trades = (*self._state.trades, *page)
        self._most_rows = max(self._most_rows, len(trades) + _PAGE)
        self._set_state(TradesState(True, trades), own, TradesChange("history", page))
        return len(page) > 0

    def snapshot(self, data: Any, position: Position) -> None:
        self._apply(data, position, "snapshot")

    def update(self, event: str, data: Any, position: Position) -> None:
        self._apply(data, position, "update")

    def _stop(self) -> None:
        self._subscription.close()

    def _apply(self, data: Any, position: Position, reason: Reason) -> None:
        is_whole = reason == "snapshot" or data is None
        rows = {} if is_whole else {trade["id"]: trade for trade in self._state.trades}
        added: list[TradeRow] = []
        removed: list[str] = []
        for row in data or ():
            if "removed" in row:
                if rows.pop(row["id"], None) is not None:
                    removed.append(row["id"])
            elif is_whole or row["id"] >= self._floor:
                rows[row["id"]] = row
                added.append(row)
        trades = sorted(rows.values(), key=_id_of, reverse=True)
        if is_whole:
            self._generation += 1
            self._floor = "" if len(trades) < _PAGE else trades[-1]["id"]
        if len(trades) > self._most_rows:
            del trades[self._most_rows :]
            self._floor = trades[-1]["id"]
        change = TradesChange("revised" if removed else reason, added, removed)
        self._set_state(TradesState(data is not None, tuple(trades)), position, change)


def _id_of(trade: TradeRow) -> str:
    return trade["id"]
