"""Lists that are answered newest first, page by page, read oldest first: by random lists."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from upcurve.adapters.since import Page, rows_between

SEEDS = range(60)


class Listed:
    """Rows `(time, id)`, oldest first, in pages whose sizes come from `sizes`: a filter that read
    as many rows as one answer may ends a page early."""

    def __init__(
        self, rows: Sequence[tuple[int, int]], sizes: Sequence[int], rng: random.Random
    ) -> None:
        self.rows, self.sizes, self.rng, self.calls = rows, sizes, rng, 0

    async def read(self, start: int, end: int, before: Any) -> Page[tuple[int, int]]:
        self.calls += 1
        inside = [
            row
            for row in reversed(self.rows)
            if start <= row[0] < end and (before is None or row[1] < before)
        ]
        page = inside[: self.rng.choice(self.sizes)]
        return Page(page, page[-1][1] if len(inside) > len(page) else None)


def _time(row: tuple[int, int]) -> int:
    return row[0]


@pytest.mark.parametrize("seed", SEEDS)
async def test_the_first_rows_from_a_moment_on_and_the_newest(seed: int) -> None:
    rng = random.Random(seed)
    now = 1_800_000_000
    begin = now - rng.choice([30, 3_600, 86_400 * 30, 86_400 * 900])
    times = sorted(rng.randint(begin, now) for _ in range(rng.randint(0, 120)))
    # Many in one second.
    times = [rng.choice(times[: at + 1][-3:]) if rng.random() < 0.5 else time for at, time in enumerate(times)]
    rows = [(time, id) for id, time in enumerate(sorted(times))]
    size = rng.randint(2, 9)
    listed = Listed(rows, [size, size, size // 2, 1], rng)
    for _ in range(20):
        start = rng.choice([None, 0, begin, begin - 1, rng.randint(begin, now), now])
        end = rng.choice([now + 86_400, rng.randint(begin, now), begin])
        limit = rng.choice([None, 1, 3, 10, 500])
        listed.calls = 0
        found = await rows_between(listed.read, start, end, limit, _time, rng.choice([1, 60, 3600]))
        inside = [row for row in rows if (start or 0) <= row[0] < end]
        case = (seed, start, end, limit)
        if limit is None or len(inside) <= limit:
            assert found == inside, case
            continue
        # Whole seconds, so maybe more.
        assert len(found) >= limit, case
        if start is None:
            assert found == inside[-len(found) :], case
            assert inside[-len(found) - 1 : -len(found)] == [] or (
                inside[-len(found) - 1][0] < found[0][0]
            ), case
        else:
            assert found == inside[: len(found)], case
            assert inside[len(found) : len(found) + 1] == [] or (
                inside[len(found)][0] > found[-1][0]
            ), case


async def test_rows_of_fifty_years_take_few_questions() -> None:
    now = 1_800_000_000
    rows = [(now - 86_400 * 30 + 60 * at, at) for at in range(40_000)]
    listed = Listed(rows, [100], random.Random(1))
    found = await rows_between(listed.read, 0, now, 50, _time)
    assert found[:50] == rows[:50]
    assert listed.calls < 40, listed.calls
