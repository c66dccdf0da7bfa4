"""Tickers of some tokens, or of a sorted list, in order; an update has only the changed tickers."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from ..connection import Connection
from ..position import Position
from ..subscription import SubscribeParams
from ..wire.shapes import Ticker, TickersUpdate
from ..wire.topics import TickersInput
from .base import Change, Mirror, Reason


@dataclass(frozen=True)
class TickersChange(Change):
    #: Asset ids of tickers that changed or are new in the list.
    changed: Sequence[str] = ()


class TickersMirror(Mirror[Sequence[Ticker], TickersChange]):
    """A ticker that did not change is the same object."""

    def __init__(self, connection: Connection, data: TickersInput) -> None:
        super().__init__(())
        self._known: dict[str, Ticker] = {}
        self._subscription = connection.subscribe(SubscribeParams("Tickers", dict(data)), self)

    def snapshot(self, data: TickersUpdate, position: Position) -> None:
        self._apply({}, data, position, "snapshot")

    def update(self, event: str, data: TickersUpdate, position: Position) -> None:
        self._apply(self._known, data, position, "update")

    def _stop(self) -> None:
        self._subscription.close()

    def _apply(
        self,
        before: Mapping[str, Ticker],
        data: TickersUpdate,
        position: Position,
        reason: Reason,
    ) -> None:
        tickers = dict(before)
        for item in data["items"]:
            asset = item["asset"]
            old = before.get(asset)
            if "spark" in item:
                tickers[asset] = cast(Ticker, item)
            elif old is not None:
                tickers[asset] = cast(Ticker, {**item, "spark": old["spark"]})
        order = data["order"]
        known = {asset: tickers[asset] for asset in order if asset in tickers}
        is_whole = len(known) == len(order)
        if not is_whole or zlib.crc32(",".join(order).encode()) != data["crc32"]:
            self._subscription.restart("checksum")
            return
        self._known = known
        changed = tuple(item["asset"] for item in data["items"])
        self._set_state(tuple(known.values()), position, TickersChange(reason, changed))
