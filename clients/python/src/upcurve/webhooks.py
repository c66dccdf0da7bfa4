"""Checks deliveries at a receiver of webhooks."""

from __future__ import annotations

import hashlib
import hmac
import re
import time

_SIGNATURE = re.compile(r"t=(\d{1,15}),v1=([0-9a-f]{64})")
#: An older delivery may be a recorded one that is replayed.
_MOST_AGE_SECONDS = 300


def is_from_webhook(secret: str, signature: str, body: bytes, now: float | None = None) -> bool:
    """Whether a delivery is from the server that knows `secret`, and no older than five minutes.

    `signature`: its header Upcurve-Signature. `body`: its bytes as they came. `now`: Unix seconds."""
    found = _SIGNATURE.fullmatch(signature)
    if found is None:
        return False
    seconds, mac = found.groups()
    if abs((time.time() if now is None else now) - int(seconds)) > _MOST_AGE_SECONDS:
        return False
    signed = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256)
    return hmac.compare_digest(signed.hexdigest(), mac)
