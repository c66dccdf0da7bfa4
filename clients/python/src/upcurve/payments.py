"""Whether a transaction is the transfer or the lock that was asked for, before it is signed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import bech32, check
from .errors import ApiError

#: Upper bound of the lovelace beside the tokens in each stage of a lock.
_MOST_LOCKED = 3_000_000
#: Largest difference between the clocks of server and caller, in milliseconds.
_MOST_CLOCK_MS = 600_000
_SCRIPT_KINDS = (1, 3, 7)


def refuse_unless_transfer(
    transaction: str, address: str, to: str, lovelace: int | None, assets: Mapping[str, int]
) -> None:
    """Raises ApiError NOT_WHAT_WAS_ASKED. `lovelace` None: everything that the wallet can give."""
    outputs = check.plain_outputs(transaction)
    (_, own), (_, other) = bech32.decode(address), bech32.decode(to)
    if any(output.address not in (own, other) for output in outputs):
        raise _not_signed("it pays someone else")
    if other == own:
        return
    paid = [output for output in outputs if output.address == other]
    sum_of_it = sum(output.lovelace for output in paid)
    if lovelace is not None and sum_of_it != lovelace:
        raise _not_signed(f"it pays {sum_of_it} lovelace")
    for asset in {*assets, *(unit for output in paid for unit in output.tokens)}:
        amount = sum(output.tokens.get(asset, 0) for output in paid)
        if amount != assets.get(asset, 0):
            raise _not_signed(f"it pays {amount} of {asset}")


def starts_of(own_ms: int, claimed_ms: Sequence[int]) -> list[int]:
    """When the stages of a lock may start: now by the own clock, or when the server says (its clock;
    its newest block, which is the time of a chain on demand). A claimed time later than the own
    clock is left out: the stages would open later than they were asked for."""
    return [own_ms, *(start for start in claimed_ms if start <= own_ms + _MOST_CLOCK_MS)]


def refuse_unless_lock(
    transaction: str,
    address: str,
    asset: str,
    tokens: int,
    stages: int,
    starts_ms: Sequence[int],
    end_ms: int,
    script: str | None,
) -> None:
    """Raises ApiError NOT_WHAT_WAS_ASKED. The stages open at equal distances from one of
    `starts_ms` on, the last at `end_ms`. `script`: hash of what holds it; None: the server could not say."""
    _, own = bech32.decode(address)
    locks = [output for output in check.plain_outputs(transaction) if output.address != own]
    if len(locks) != stages:
        raise _not_signed(f"{len(locks)} stages, not {stages}")
    each = tokens // stages
    for number, lock in enumerate(locks, 1):
        is_script = lock.address[0] >> 4 in _SCRIPT_KINDS and lock.address[29:] == own[29:]
        if not is_script or script not in (None, lock.address[1:29].hex()):
            raise _not_signed("a lock at an unknown address")
        unlock_ms, owner = check.constructor_0(lock.datum, 2)
        if owner != own[1:29] or type(unlock_ms) is not int:
            raise _not_signed("a lock that is not ours")
        is_last = number == stages
        part = tokens - each * (stages - 1) if is_last else each
        if lock.tokens != {asset: part} or lock.lovelace > _MOST_LOCKED:
            raise _not_signed(f"stage {number} does not lock {part}")
        dues_ms = [start + (end_ms - start) * number // stages for start in starts_ms]
        away_ms = min(abs(unlock_ms - due_ms) for due_ms in dues_ms)
        if away_ms > (0 if is_last else _MOST_CLOCK_MS):
            raise _not_signed(f"stage {number} opens at another time")


def _not_signed(why: str) -> ApiError:
    return ApiError("NOT_WHAT_WAS_ASKED", f"not signed: {why}")
