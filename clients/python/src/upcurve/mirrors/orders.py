"""The orders of a token or of a wallet. Older ones come with `load_older`."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..connection import Connection
from ..position import Answer, Position
from ..subscription import SubscribeParams
from ..wire.shapes import ApiOrder
from .base import Change, Mirror, Reason


@dataclass(frozen=True)
class OrdersState:
    #: False: the server knows no such token, yet.
    is_known: bool
    #: On the chain, newest first.
    ledger: Sequence[ApiOrder]
    #: In no block yet: all of them.
    mempool: Sequence[ApiOrder]
    #: Number of all orders on the chain, including those that are not in `ledger`.
    count: int

    def find(self, entity_id: str) -> ApiOrder | None:
        """The order with this id, in either list."""
        for order in (*self.ledger, *self.mempool):
            if order["entityId"] == entity_id:
                return order
        return None


@dataclass(frozen=True)
class OrdersChange(Change):
    #: Changed or new, in either list.
    changed: Sequence[ApiOrder] = ()
    #: Ids of orders that are neither on the chain nor in the mempool now.
    removed: Sequence[str] = ()


#: Loads the page of orders older than the order with the id `before`.
OlderOrders = Callable[[str], Awaitable[Answer[Any]]]
_EMPTY = OrdersState(False, (), (), 0)


class OrdersMirror(Mirror[OrdersState, OrdersChange]):
    def __init__(
        self, connection: Connection, params: SubscribeParams, older: OlderOrders
    ) -> None:
        super().__init__(_EMPTY)
        self._older = older
        #: Most orders on the chain that are kept; beyond it the oldest are dropped.
        self._most_rows = 500
        self._subscription = connection.subscribe(params, self)

    @property
    def has_older(self) -> bool:
        """Whether the chain has orders that are not in `state.ledger`."""
        return len(self._state.ledger) < self._state.count

    async def load_older(self) -> bool:
        """The next page of older ones; true when there was one."""
        if not self._state.ledger or not self.has_older:
            return False
        oldest = self._state.ledger[-1]["entityId"]
        answer = await self._older(oldest)
        # Meanwhile it may have been rolled back, or a snapshot has come.
        now = self._state.ledger
        if self._is_closed or not now or now[-1]["entityId"] != oldest:
            return False
        known = {order["entityId"] for order in now}
        news = [row for row in answer.data["ledger"]["items"] if row["entityId"] not in known]
        if not news or self._position is None:
            return False
        ledger = (*now, *news)
        self._most_rows = max(self._most_rows, len(ledger) + 100)
        state = replace(self._state, ledger=ledger)
        self._set_state(state, self._position, OrdersChange("history", news))
        return True

    def snapshot(self, data: Any, position: Position) -> None:
        self._apply(data, position, "snapshot")

    def update(self, event: str, data: Any, position: Position) -> None:
        self._apply(data, position, "revised" if event == "OrdersRevised" else "update")

    def _stop(self) -> None:
        self._subscription.close()

    def _apply(self, data: Any, position: Position, reason: Reason) -> None:
        if data is None:
            self._set_state(_EMPTY, position, OrdersChange(reason))
            return
        before = _EMPTY if reason == "snapshot" else self._state
        ledger, mempool = merged(before, data)
        state = OrdersState(True, tuple(ledger[: self._most_rows]), mempool, data["count"])
        changed = (*data["mempool"], *data["ledger"])
        self._set_state(state, position, OrdersChange(reason, changed, data["removed"]))


def merged(known: OrdersState, changes: Any) -> tuple[list[ApiOrder], tuple[ApiOrder, ...]]:
    """Inserts changed orders into the known ones, in the order of HTTP: newest first by block and
    place in it. Rows hold only the second, so the order within one is taken from the frame, which
    is in this order. An order that the frame does not name was not undone, so it is older than all
    in it."""
    removed = set(changes["removed"])
    pending = {order["entityId"] for order in changes["mempool"]}
    gone = removed | pending
    floor = known.ledger[-1]["timestamp"] if 0 < len(known.ledger) < known.count else -1
    stays = [order for order in known.ledger if order["entityId"] not in gone]
    ledger = _with_changes(stays, changes["ledger"], floor)
    left = removed | {order["entityId"] for order in changes["ledger"]}
    waiting = [order for order in known.mempool if order["entityId"] not in left]
    return ledger, tuple(_with_changes(waiting, changes["mempool"], -1))


def _with_changes(
    known: Sequence[ApiOrder], changed: Sequence[ApiOrder], floor: int
) -> list[ApiOrder]:
    """`floor`: the second of the oldest one known; new orders older than that are left out."""
    news = {order["entityId"]: order for order in changed}
    # With another second its place changes, as if it were new.
    rows = [
        order
        for order in known
        if news.get(order["entityId"], order)["timestamp"] == order["timestamp"]
    ]
    stays = {order["entityId"] for order in rows}
    _exchange(rows, [order for order in changed if order["entityId"] in stays])
    newest = rows[0]["timestamp"] if rows else None
    after = 0
    for order in changed:
        if order["entityId"] in stays:
            after = rows.index(order, after) + 1
            continue
        if order["timestamp"] <= floor and order["timestamp"] != newest:
            continue
        place = after
        while place < len(rows) and rows[place]["timestamp"] > order["timestamp"]:
            place += 1
        rows.insert(place, order)
        after = place + 1
    return rows


def _exchange(rows: list[ApiOrder], orders: Sequence[ApiOrder]) -> None:
    """Replaces the earlier versions of the given orders; orders of one second keep the given
    sequence."""
    waiting: dict[int, deque[ApiOrder]] = defaultdict(deque)
    for order in orders:
        waiting[order["timestamp"]].append(order)
    ids = {order["entityId"] for order in orders}
    for index, row in enumerate(rows):
        if row["entityId"] in ids and waiting[row["timestamp"]]:
            rows[index] = waiting[row["timestamp"]].popleft()
