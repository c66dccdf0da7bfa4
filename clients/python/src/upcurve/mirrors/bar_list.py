"""Bars in the order of time, changed one by one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

B = TypeVar("B", bound=Any)

#: Beyond it the oldest are dropped; a chart that needs them loads them again.
_MOST_BARS = 50_000


class BarRows(Generic[B]):
    def __init__(self, bars: Sequence[B], has_older: bool, standing: B | None = None) -> None:
        #: Oldest first.
        self.bars = list(bars)
        self.has_older = has_older
        #: Flat bar of a launch without trades.
        self.standing = standing

    def apply(self, patches: Sequence[Any], is_filled: bool) -> tuple[list[B], list[int]]:
        """Each patch is a bar, or `{time, removed: True}`; `is_filled`: flat bars without trades are
        bars like others. Answers the bars that changed, and the times of those removed."""
        changed: list[B] = []
        removed: list[int] = []
        for bar in sorted(patches, key=_time_of):
            if "removed" in bar:
                if self._remove(bar["time"]):
                    removed.append(bar["time"])
            elif not is_filled and bar["trades"] == 0:
                # If a traded bar was there, a rollback removed its trades.
                if self._remove(bar["time"]):
                    removed.append(bar["time"])
                self.standing = bar
            elif self._put(bar):
                changed.append(bar)
        if self.bars:
            self.standing = None
        return changed, removed

    def prepend(self, older: Sequence[B], has_older: bool) -> None:
        self.bars[:0] = older
        self.has_older = has_older

    def _put(self, bar: B) -> bool:
        """False for a bar older than the known bars."""
        if self.has_older and (not self.bars or bar["time"] < self.bars[0]["time"]):
            return False
        at = self._place_of(bar["time"])
        if self._is_at(at, bar["time"]):
            self.bars[at] = bar
        else:
            self.bars.insert(at, bar)
        if len(self.bars) > _MOST_BARS:
            del self.bars[0]
            self.has_older = True
        return True

    def _remove(self, time: int) -> bool:
        if self.standing is not None and self.standing["time"] == time:
            self.standing = None
        at = self._place_of(time)
        if not self._is_at(at, time):
            return False
        del self.bars[at]
        return True

    def _place_of(self, time: int) -> int:
        """Index of the first bar that is not before `time`."""
        # Nearly always it is behind the last bar.
        if not self.bars or self.bars[-1]["time"] < time:
            return len(self.bars)
        return bisect_left(self.bars, time, key=_time_of)

    def _is_at(self, at: int, time: int) -> bool:
        return at < len(self.bars) and bool(self.bars[at]["time"] == time)


def _time_of(bar: Any) -> int:
    time: int = bar["time"]
    return time
