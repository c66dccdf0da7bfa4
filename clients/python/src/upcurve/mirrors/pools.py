"""A list of pools. A frame has the changed pools, the order of the list and its checksum."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from ..connection import Connection
from ..position import Position
from ..subscription import SubscribeParams
from ..wire.shapes import LiquidityPoolInfo, PoolListUpdate
from .base import Change, Mirror, Reason


@dataclass(frozen=True)
class PoolsChange(Change):
    #: Asset ids of pools that changed or are new on the page.
    changed: Sequence[str] = ()


class PoolsMirror(Mirror[Sequence[LiquidityPoolInfo], PoolsChange]):
    """At most 100 pools, in the order of the list. A pool that did not change is the same object."""

    def __init__(self, connection: Connection, name: str) -> None:
        super().__init__(())
        self._known: dict[str, LiquidityPoolInfo] = {}
        self._subscription = connection.subscribe(SubscribeParams(name), self)

    def snapshot(self, data: PoolListUpdate, position: Position) -> None:
        self._apply({}, data, position, "snapshot")

    def update(self, event: str, data: PoolListUpdate, position: Position) -> None:
        self._apply(self._known, data, position, "update")

    def _stop(self) -> None:
        self._subscription.close()

    def _apply(
        self,
        before: dict[str, LiquidityPoolInfo],
        data: PoolListUpdate,
        position: Position,
        reason: Reason,
    ) -> None:
        changed = {pool["info"]["asset"]: pool for pool in data["items"]}
        pools = {**before, **changed}
        order = data["order"]
        known = {asset: pools[asset] for asset in order if asset in pools}
        is_whole = len(known) == len(order)
        if not is_whole or zlib.crc32(",".join(order).encode()) != data["crc32"]:
            self._subscription.restart("checksum")
            return
        self._known = known
        self._set_state(tuple(known.values()), position, PoolsChange(reason, tuple(changed)))
