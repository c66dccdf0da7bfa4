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
        """`first`, doubled for each failed retry, at most `most`; between half of it and all of it,
        so that clients of one server do not retry together."""
        doubled = self.first * float(1 << min(failures, _MOST_DOUBLINGS))
        whole = min(self.most, doubled)
        return whole * (0.5 + random.random() / 2)


#: Of what a node does not give now.
RETRY = Backoff(first=0.25, most=15.0)
