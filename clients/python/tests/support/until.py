"""Waiting for a condition, with a deadline."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")
DEADLINE_SECONDS = 60.0
_EVERY_SECONDS = 0.02


async def until(
    what: str, ask: Callable[[], T | Awaitable[T]], seconds: float = DEADLINE_SECONDS
) -> T:
    """The first answer of `ask` that counts as true; fails with `what`, and the last answer."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        answer = ask()
        value = await answer if inspect.isawaitable(answer) else answer
        if value:
            return value  # type: ignore[return-value]
        assert loop.time() < deadline, f"not in {seconds} s: {what}; the last answer: {value!r}"
        await asyncio.sleep(_EVERY_SECONDS)
