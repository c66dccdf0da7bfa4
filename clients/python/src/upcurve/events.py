"""Server-sent events: the same frames as of the socket, over plain HTTP.

For networks that block WebSockets, and for small scripts. The stream reconnects by itself, at the
next node, and continues from the last position up to which everything came: nothing is missing, but
whole state may come again. So a frame whose `seq` is at or below the one that you have of the same
`request_id` may be ignored, unless it is a snapshot.
"""

from __future__ import annotations

import asyncio
import codecs
import json
from collections.abc import AsyncIterator, Sequence
from decimal import Decimal
from typing import Any

import aiohttp

from .backoff import RETRY
from .errors import ApiError
from .frame import Frame, fields_of, frame_of
from .nodes import Nodes
from .position import Position, read_position
from .session import Session
from .subscription import SubscribeParams

_MOST_TOPICS = 20
#: Characters of one event; a snapshot of 500 tickers has some 400,000.
_MOST_EVENT = 16_777_216
_PASSING = frozenset({429, 500, 502, 503, 504})


class EventStream:
    def __init__(self, session: Session, nodes: Nodes, silence: float, key: str | None) -> None:
        self._session = session
        self._nodes = nodes
        self._silence = silence
        self._key = key

    async def frames(
        self, topics: Sequence[SubscribeParams], since: Position | None
    ) -> AsyncIterator[Frame]:
        """Ends with an ApiError only: of a refusal that no repeat can change, or STOPPED."""
        if not 1 <= len(topics) <= _MOST_TOPICS:
            raise ApiError("INVALID_PARAMS", f"name 1 to {_MOST_TOPICS} topics, not {len(topics)}")
        body = [_topic(index, each) for index, each in enumerate(topics)]
        failures = 0
        while True:
            node = self._nodes.current
            try:
                async for frame, position in self._follow(node, body, since):
                    failures = 0
                    since = position or since
                    yield frame
            except ApiError as error:
                if not error.is_passing or self._session.is_closed:
                    raise
            self._nodes.leave(node)
            failures += 1
            await asyncio.sleep(RETRY.after(failures - 1))

    async def _follow(
        self, node: str, body: Sequence[object], since: Position | None
    ) -> AsyncIterator[tuple[Frame, Position | None]]:
        headers = {"Accept": "text/event-stream"}
        if since is not None:
            headers["Last-Event-ID"] = str(since)
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        endless = aiohttp.ClientTimeout(total=None, sock_read=self._silence)
        asked = self._session.fresh().post(
            f"{node}/v1/stream", json=body, headers=headers, timeout=endless
        )
        try:
            async with asked as response:
                if response.status != 200:
                    raise await _refusal(response)
                async for event in _events(response.content):
                    frame = _frame(event.get("data", ""))
                    if frame.event == "Error":
                        raise _error(frame)
                    yield frame, read_position(event.get("id"))
        except asyncio.TimeoutError as error:
            raise ApiError("TIMEOUT", f"nothing came from {node} for {self._silence} s") from error
        except (aiohttp.ClientError, OSError) as error:
            raise ApiError("UNREACHABLE", f"the stream of {node} was lost ({error})") from error


async def _events(content: aiohttp.StreamIterator) -> AsyncIterator[dict[str, str]]:
    """Each event's fields; several `data` lines of one are joined, comments are skipped."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    rest, fields = "", dict[str, str]()
    async for chunk in content.iter_any():
        rest += decoder.decode(chunk)
        *lines, rest = rest.split("\n")
        for line in lines:
            name, _, value = line.removesuffix("\r").partition(":")
            value = value.removeprefix(" ")
            if name == "data" and "data" in fields:
                fields["data"] += "\n" + value
            elif name:
                fields[name] = value
            elif line in ("", "\r"):
                if "data" in fields:
                    yield fields
                fields = {}
        if len(rest) + len(fields.get("data", "")) > _MOST_EVENT:
            raise ApiError("BAD_ANSWER", f"an event has more than {_MOST_EVENT} characters")


def _topic(index: int, params: SubscribeParams) -> dict[str, Any]:
    topic: dict[str, Any] = {"requestId": str(index), "topic": params.topic}
    if params.data is not None:
        topic["data"] = params.data
    if params.max_hz is not None:
        topic["maxHz"] = params.max_hz
    return topic


def _frame(data: str) -> Frame:
    try:
        frame = frame_of(json.loads(data, parse_float=Decimal))
    except ValueError:
        frame = None
    if frame is None:
        raise ApiError("BAD_ANSWER", "an event holds no frame of this market")
    return frame


def _error(frame: Frame) -> ApiError:
    """If a repeat may change an order, its status says so."""
    fields = fields_of(frame.data)
    status = 503 if fields.get("retry") is True else 400
    cause, message = str(fields.get("cause")), str(fields.get("message"))
    return ApiError(cause, message, status=status, retry_after_seconds=0)


async def _refusal(response: aiohttp.ClientResponse) -> ApiError:
    try:
        fields = fields_of(json.loads(await response.text()))
    except ValueError:
        fields = {}
    what = f"the stream was refused with {response.status}"
    cause = "NOT_READY" if response.status in _PASSING else "BAD_ANSWER"
    return ApiError(
        str(fields.get("cause", cause)),
        str(fields.get("message", what)),
        status=response.status,
        details=fields.get("details", ()),
    )
