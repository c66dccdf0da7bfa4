"""Mirrors against HTTP: at one position both say the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from upcurve import Answer, Client

from .until import until

END_OF_TIME = 253_402_300_799


async def assert_same(
    mirror: Any, ask: Callable[[], Awaitable[Answer[Any]]], shown: Callable[[Any], Any], what: str
) -> None:
    """Asks until the mirror is exactly where an answer is, then compares."""

    async def find() -> Answer[Any] | None:
        answer = await ask()
        is_there = answer.position is not None and answer.position == mirror.position
        if is_there:
            assert shown(mirror.state) == answer.data, what
        return answer if is_there else None

    await until(f"{what} stands at {mirror.position}", find)


async def assert_bars(client: Client, mirror: Any, base: str, resolution: str, what: str) -> None:
    """All bars that the mirror has are those of HTTP, and it has all from its oldest one on."""
    rows: list[Any] = []

    async def ask() -> Answer[Any]:
        answer = await client.charts.history(base, ".", resolution, 0, END_OF_TIME)
        known = mirror.state.bars
        oldest = known[0]["time"] if known and mirror.state.has_older else 0
        rows[:] = [{k: v for k, v in bar.items() if k != "pair"} for bar in answer.data]
        newer = [row for row in rows if row["time"] >= oldest]
        return Answer(newer, answer.position, None, None, None)

    await assert_same(mirror, ask, lambda state: list(state.bars), what)
    assert mirror.state.has_older == (len(mirror.state.bars) < len(rows)), what
