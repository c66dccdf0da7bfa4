"""Frames of the server (protocol.md 6.2), from text or MessagePack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import aiohttp
import msgpack

Encoding = Literal["json", "msgpack"]


@dataclass(frozen=True)
class Frame:
    request_id: str | int | None
    event: str
    data: Any
    epoch: str
    seq: int
    #: seq of the frame before in the same stream; None on a snapshot.
    prev: int | None
    snapshot: bool


def read_frame(message: aiohttp.WSMessage) -> Frame | None:
    """None if the bytes are not a frame: the caller treats it as a broken connection."""
    try:
        if message.type is aiohttp.WSMsgType.TEXT:
            value = json.loads(message.data, parse_float=Decimal)
        else:
            value = msgpack.unpackb(message.data)
    except (ValueError, msgpack.UnpackException):
        return None
    return frame_of(value)


def frame_of(value: object) -> Frame | None:
    """None if the value is not a frame."""
    if not isinstance(value, dict):
        return None
    request_id, event, epoch = value.get("requestId"), value.get("event"), value.get("epoch")
    seq, prev = value.get("seq"), value.get("prev")
    if not isinstance(event, str) or not isinstance(epoch, str) or type(seq) is not int:
        return None
    if prev is not None and type(prev) is not int:
        return None
    if request_id is not None and not isinstance(request_id, (str, int)):
        return None
    is_snapshot = value.get("snapshot") is True
    return Frame(request_id, event, value.get("data"), epoch, seq, prev, is_snapshot)


def fields_of(data: object) -> Mapping[str, Any]:
    """Empty if the value is not an object."""
    return data if isinstance(data, dict) else {}
