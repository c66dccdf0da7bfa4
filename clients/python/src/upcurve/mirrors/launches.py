"""Launches as they happen: pending ones first, then by time, newest first.

Begins with the newest 50 that match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..connection import Connection
from ..position import Position
from ..subscription import SubscribeParams
from ..wire.shapes import Launch
from .base import Change, Mirror, Reason

#: Beyond it the oldest are dropped.
_MAX_ROWS = 500


@dataclass(frozen=True)
class LaunchesChange(Change):
    #: New ones, and pending ones that a block has now.
    added: Sequence[Launch] = ()
    #: Asset ids of launches that are neither in the mempool nor in a block any more.
    removed: Sequence[str] = ()


class LaunchesMirror(Mirror[Sequence[Launch], LaunchesChange]):
    def __init__(self, connection: Connection, params: SubscribeParams) -> None:
        super().__init__(())
        self._subscription = connection.subscribe(params, self)

    def snapshot(self, data: Any, position: Position) -> None:
        self._apply(data, position, "snapshot")

    def update(self, event: str, data: Any, position: Position) -> None:
        self._apply(data, position, "update")

    def _stop(self) -> None:
        self._subscription.close()

    def _apply(self, data: Any, position: Position, reason: Reason) -> None:
        rows = {} if reason == "snapshot" else {row["asset"]: row for row in self._state}
        added: list[Launch] = []
        removed: list[str] = []
        for row in data:
            if "removed" not in row:
                rows[row["asset"]] = row
                added.append(row)
            elif rows.pop(row["asset"], None) is not None:
                removed.append(row["asset"])
        order = sorted(rows.values(), key=lambda row: (not row["pending"], -row["time"], row["asset"]))
        why: Reason = "revised" if removed else reason
        self._set_state(tuple(order[:_MAX_ROWS]), position, LaunchesChange(why, added, removed))
