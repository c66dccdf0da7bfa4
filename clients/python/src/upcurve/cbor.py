"""As much of CBOR (RFC 8949) as a signature needs: where an item ends, and how bytes are written."""

from __future__ import annotations

_MAJOR_LENGTH = (2, 3, 4, 5)
_MOST_DEPTH = 100


def end_of_item(data: bytes, start: int, depth: int = 0) -> int:
    """Offset behind the item that begins at `start`; raises ValueError on what is no CBOR."""
    if depth > _MOST_DEPTH:
        raise ValueError("CBOR nested too deeply")
    major, info, at = _head(data, start)
    if info is None:
        if major not in _MAJOR_LENGTH:
            raise ValueError(f"an item of no length at byte {start}")
        while at < len(data) and data[at] != 0xFF:
            at = end_of_item(data, at, depth + 1)
        if at >= len(data):
            raise ValueError("CBOR ends within an item")
        return at + 1
    if major in (2, 3):
        at += info
    elif major in (4, 5):
        for _ in range(info * (major - 3)):
            at = end_of_item(data, at, depth + 1)
    elif major == 6:
        at = end_of_item(data, at, depth + 1)
    if at > len(data):
        raise ValueError("CBOR ends within an item")
    return at


def first_of_list(data: bytes) -> bytes:
    """The bytes of the first element, as they are."""
    major, count, at = _head(data, 0)
    if major != 4 or count == 0:
        raise ValueError("no list with an element")
    return data[at : end_of_item(data, at)]


def byte_string(content: bytes) -> bytes:
    if len(content) < 24:
        return bytes([0x40 + len(content)]) + content
    if len(content) < 256:
        return bytes([0x58, len(content)]) + content
    raise ValueError("longer than a key or a signature")


def _head(data: bytes, at: int) -> tuple[int, int | None, int]:
    """Major type, argument (None: indefinite length) and offset behind the head."""
    if at >= len(data):
        raise ValueError("CBOR ends within an item")
    major, short = data[at] >> 5, data[at] & 31
    at += 1
    if short < 24:
        return major, short, at
    if short == 31:
        return major, None, at
    if short > 27:
        raise ValueError(f"no such head at byte {at - 1}")
    size: int = 2 ** (short - 24)
    if at + size > len(data):
        raise ValueError("CBOR ends within an item")
    return major, int.from_bytes(data[at : at + size], "big"), at + size
