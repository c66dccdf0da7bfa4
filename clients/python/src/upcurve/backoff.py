"""How long to wait before the next try."""

from __future__ import annotations

import random
from dataclasses import dataclass

_MOST_DOUBLINGS = 30


@dataclass(frozen=True)
class Backoff:
    """Durations are seconds."""

    first: float
    most: float

    def after(self, failures: int) -> float:
        """`first`, doubled for each failed retry, at most `most`; a random share between half and
        all of that, so that clients of one server do not retry together."""
        doubled = self.first * float(1 << min(failures, _MOST_DOUBLINGS))
        whole = min(self.most, doubled)
        return whole * (0.5 + random.random() / 2)


#: Pauses between retries while a node does not answer.
RETRY = Backoff(first=0.25, most=15.0)
