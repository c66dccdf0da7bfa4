"""As much of CBOR (RFC 8949) as transactions need: find the end of an item, read its content, and
write a short byte string. Raises ValueError on everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_MAJOR_LENGTH = (2, 3, 4, 5)
_MOST_DEPTH = 100


def end_of_item(data: bytes, start: int, depth: int = 0) -> int:
    """Offset behind the item that begins at `start`; raises ValueError if the bytes are not CBOR.
    """
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


@dataclass(frozen=True)
class Tag:
    number: int
    value: Any


def decode(data: bytes) -> Any:
    """int, bytes, str, list, dict, Tag, bool or None; a key that comes twice is refused."""
    value, end = _read(data, 0, 0)
    if end != len(data):
        raise ValueError("more than one item")
    return value


def _read(data: bytes, start: int, depth: int) -> tuple[Any, int]:
    if depth > _MOST_DEPTH:
        raise ValueError("CBOR nested too deeply")
    major, info, at = _head(data, start)
    if info is None:
        return _read_until_break(data, start, depth)
    if major == 0:
        return info, at
    if major == 1:
        return -1 - info, at
    if major in (2, 3):
        end = end_of_item(data, start)
        return (data[at:end] if major == 2 else data[at:end].decode()), end
    if major == 6:
        value, at = _read(data, at, depth + 1)
        return Tag(info, value), at
    if major == 7:
        if info not in _SIMPLE or data[start] & 31 >= 24:
            raise ValueError(f"a value that no transaction has at byte {start}")
        return _SIMPLE[info], at
    items: list[Any] = []
    for _ in range(info * (major - 3)):
        item, at = _read(data, at, depth + 1)
        items.append(item)
    return (items if major == 4 else _pairs(items)), at


def _read_until_break(data: bytes, start: int, depth: int) -> tuple[Any, int]:
    major, end = data[start] >> 5, end_of_item(data, start)
    items: list[Any] = []
    at = start + 1
    while at < end - 1:
        item, at = _read(data, at, depth + 1)
        items.append(item)
    if major == 2:
        return b"".join(items), end
    if major == 3:
        return "".join(items), end
    return (items if major == 4 else _pairs(items)), end


def _pairs(items: list[Any]) -> dict[Any, Any]:
    keys = [_hashable(key) for key in items[::2]]
    if len(items) % 2 != 0 or len(set(keys)) != len(keys):
        raise ValueError("a map whose keys do not fit")
    return dict(zip(keys, items[1::2]))


def _hashable(key: Any) -> Any:
    if isinstance(key, list):
        return tuple(_hashable(item) for item in key)
    if isinstance(key, (dict, Tag)):
        raise ValueError("a map as the key of a map")
    return key


_SIMPLE = {20: False, 21: True, 22: None, 23: None}


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
