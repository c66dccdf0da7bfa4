"""Callbacks. A callback that raises stops neither the other callbacks nor the client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any


class Listeners:
    def __init__(self) -> None:
        self._listeners: dict[object, Callable[..., None]] = {}

    def add(self, listener: Callable[..., None]) -> Callable[[], None]:
        """Called until the returned function is called."""
        key = object()
        self._listeners[key] = listener
        return lambda: void(self._listeners.pop(key, None))

    def notify(self, *args: Any) -> None:
        for listener in list(self._listeners.values()):
            try:
                listener(*args)
            except Exception as error:
                loop = asyncio.get_running_loop()
                told = {"message": "a listener of the upcurve client failed", "exception": error}
                loop.call_exception_handler(told)

    def clear(self) -> None:
        self._listeners.clear()


def void(_value: object) -> None:
    return None
