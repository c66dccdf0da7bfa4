"""Small state that every frame holds whole: a pool, the top pool, an order book, health."""

from __future__ import annotations

from typing import Any, TypeVar

from ..connection import Connection
from ..position import Position
from ..subscription import SubscribeParams
from .base import Change, Mirror

T = TypeVar("T")


class WholeMirror(Mirror["T | None", Change]):
    """None until it is loaded, and where the server knows no such thing."""

    def __init__(self, connection: Connection, params: SubscribeParams) -> None:
        super().__init__(None)
        self._subscription = connection.subscribe(params, self)

    def snapshot(self, data: Any, position: Position) -> None:
        self._set_state(data, position, Change("snapshot"))

    def update(self, event: str, data: Any, position: Position) -> None:
        self._set_state(data, position, Change("update"))

    def _stop(self) -> None:
        self._subscription.close()
