"""Where answers and streams stand in the server's log."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

_POSITION = re.compile(r"(\d{1,15}-[A-Za-z0-9_-]{1,24}):(\d{1,16})", re.ASCII)


class Position(NamedTuple):
    """State that is complete up to and including entry `seq` of the log that `epoch` names."""

    epoch: str
    seq: int

    def __str__(self) -> str:
        return f"{self.epoch}:{self.seq}"

    def includes(self, other: Position) -> bool:
        """Whether state of this position includes everything up to `other`."""
        if self.epoch == other.epoch:
            return self.seq >= other.seq
        return _epoch_number(self.epoch) > _epoch_number(other.epoch)


@dataclass(frozen=True)
class Answer(Generic[T]):
    """The answer to a call. Every part of `data` is complete at least up to `position`."""

    data: T
    #: Where a subscription continues; None on answers that no stream continues.
    position: Position | None
    #: Slot at that position; None without a chain.
    slot: int | None
    block_hash: str | None
    #: For a chart's history: older bars were cut; ask again with this as `to`.
    next_to: int | None = None
    #: For filtered trades: not all were looked at; ask again with this as `before`.
    next_before: str | None = None


def read_position(text: str | None) -> Position | None:
    match = None if text is None else _POSITION.fullmatch(text)
    return None if match is None else Position(match[1], int(match[2]))


def _epoch_number(epoch: str) -> int:
    """The number an epoch starts with, by which epochs are ordered."""
    match = re.match(r"\d+", epoch, re.ASCII)
    return -1 if match is None else int(match[0])
