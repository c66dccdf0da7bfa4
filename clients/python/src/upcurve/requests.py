"""Sends messages to the server: subscriptions, many in one frame, each under a new request id; and
pongs.

All subscriptions of one turn of the event loop are sent together. The server takes 50 frames a
second.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import aiohttp

from .subscription import Subscription

_MOST_TOPICS = 100
#: Bytes of subscriptions per frame; the server accepts 65,536.
_MOST_BYTES = 60_000
_FRAMES_PER_SECOND = 40


class SubscribeQueue:
    def __init__(self, key: str | None = None) -> None:
        #: API key.
        self._key = key
        self._by_id: dict[str, Subscription] = {}
        self._pending: dict[Subscription, None] = {}
        self._frames: deque[str] = deque()
        self._has_work = asyncio.Event()
        self._is_connected = False
        self._next = 1

    def connected(self, subscriptions: Iterable[Subscription]) -> None:
        """A socket is open: every subscription is requested on it."""
        self._is_connected = True
        self._frames.clear()
        data = {"acks": True} if self._key is None else {"acks": True, "key": self._key}
        self.send({"messageType": "connect", "requestId": "connect", "data": data})
        for subscription in subscriptions:
            self.add(subscription)

    def disconnected(self) -> None:
        self._is_connected = False
        self._by_id.clear()
        self._pending.clear()
        self._frames.clear()

    def add(self, subscription: Subscription) -> None:
        """Goes with the next frame; without a socket, `connected` sends it."""
        if self._is_connected:
            self._pending[subscription] = None
            self._has_work.set()

    def remove(self, subscription: Subscription) -> None:
        self._pending.pop(subscription, None)
        self._unsubscribe(subscription)

    def by_request_id(self, request_id: str) -> Subscription | None:
        """The subscription whose newest request has this id."""
        return self._by_id.get(request_id)

    def send(self, frame: Mapping[str, Any]) -> None:
        if self._is_connected:
            self._frames.append(_text(frame))
            self._has_work.set()

    async def send_all(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Until it is cancelled, or the socket takes nothing any more."""
        allowance = _FRAMES_PER_SECOND
        loop = asyncio.get_running_loop()
        refilled = loop.time()
        while True:
            await self._has_work.wait()
            self._has_work.clear()
            self._flush()
            while self._frames:
                if loop.time() - refilled >= 1:
                    allowance, refilled = _FRAMES_PER_SECOND, loop.time()
                if allowance == 0:
                    await asyncio.sleep(max(0.0, refilled + 1 - loop.time()))
                    continue
                allowance -= 1
                try:
                    await socket.send_str(self._frames.popleft())
                except (ConnectionError, RuntimeError, aiohttp.ClientError):
                    return

    def _unsubscribe(self, subscription: Subscription) -> None:
        request_id = subscription.request_id
        if request_id is not None and self._by_id.pop(request_id, None) is not None:
            self.send({"messageType": "unsubscribe", "requestId": request_id})

    def _flush(self) -> None:
        topics: list[dict[str, Any]] = []
        size = 0
        for subscription in self._pending:
            self._unsubscribe(subscription)
            request_id = f"r{self._next}"
            self._next += 1
            request = subscription.request(request_id)
            bytes_of_it = len(_text(request).encode())
            if topics and (len(topics) >= _MOST_TOPICS or size + bytes_of_it > _MOST_BYTES):
                self.send({"messageType": "subscribe", "topics": topics})
                topics, size = [], 0
            self._by_id[request_id] = subscription
            topics.append(request)
            size += bytes_of_it
        self._pending.clear()
        if topics:
            self.send({"messageType": "subscribe", "topics": topics})


def _text(frame: Mapping[str, Any]) -> str:
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
