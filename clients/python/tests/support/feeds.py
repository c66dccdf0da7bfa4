"""Trade feeds as the server reads them: NDJSON lines."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import count

from upcurve import ApiError, Client

BASE = "01" * 28 + ".546f6b656e"
NOON = 1_767_614_400
#: The last second of year 9999.
END_OF_TIME = 253_402_300_799
_numbers = count(1)


def trade(minute: int, price: str, id: int | None = None) -> str:
    """One token of 1,000,000, at `price` ADA for one."""
    amount = 1_000_000
    line = {
        "id": str(next(_numbers) if id is None else id),
        "timeMs": (NOON + 60 * minute) * 1000,
        "base": BASE,
        "quote": ".",
        "baseDecimals": 0,
        "quoteDecimals": 6,
        "baseAmount": str(amount),
        "quoteAmount": str(int(Decimal(price) * 1_000_000 * amount)),
    }
    return json.dumps(line)


def rollback(minute: int) -> str:
    """Undoes all trades behind it."""
    return json.dumps({"rollbackToMs": (NOON + 60 * minute) * 1000})


async def has_bars(client: Client, count: int) -> bool:
    """Whether the server has the given number of minute bars by now."""
    try:
        answer = await client.charts.history(
            base=BASE, quote=".", resolution="min1", start=0, end=END_OF_TIME
        )
    except ApiError as error:
        assert error.cause == "ASSET_NOT_FOUND", error
        return False
    return len(answer.data) == count
