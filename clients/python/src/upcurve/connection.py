"""The connection to one of several nodes.

It opens with the first subscription, and opens again whenever it is lost. On a new socket every
subscription continues from its position, so the node sends what happened meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import aiohttp

from .backoff import RETRY
from .errors import ApiError
from .frame import Encoding, Frame, fields_of, read_frame
from .listeners import Listeners
from .nodes import Nodes, socket_url
from .position import Position
from .requests import SubscribeQueue
from .session import Session, stopped
from .subscription import NoticeReason, Receiver, SubscribeParams, Subscription

#: From 4500 on a close code says not to come back.
_FINAL_CODES = range(4500, 5000)
_GOING_AWAY = 4001
_LOST = 1006
#: A node that never answers is given up sooner than a node that falls silent.
_OPENING_SECONDS = 5.0
#: After this many refusals in a row the client tries another node.
_MOST_REFUSALS = 3
_MOST_PAUSE_SECONDS = 60.0
#: A snapshot of a list has 100 pools.
_MOST_FRAME_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class ConnectionState:
    """`idle`: no subscription yet. `waiting`: for the next try."""

    status: Literal["idle", "connecting", "open", "waiting", "closed"]
    #: Base URL of the node.
    node: str
    #: Tries without success since it was last open.
    tries: int = 0
    #: Unix seconds of the next try, while waiting.
    retry_at: float | None = None
    #: Slot, hash and lag of the node at its last ping, also when the connection is gone.
    tip: dict[str, Any] | None = None
    position: Position | None = None
    #: Unix seconds of the last ping from the node.
    heard_at: float | None = None
    #: Why it is closed or waiting; None where that was asked for.
    why: str | None = None


@dataclass(frozen=True)
class Notice:
    """State was loaded or requested again: worth showing to a person."""

    reason: NoticeReason
    topic: str
    #: Frames left out, where the server says so.
    skipped: int


class Connection:
    def __init__(
        self,
        session: Session,
        nodes: Nodes,
        encoding: Encoding,
        silence: float,
        key: str | None = None,
    ) -> None:
        self._session = session
        self._nodes = nodes
        self._encoding = encoding
        #: The client gives up a socket after this many seconds without a frame.
        self._silence = silence
        self._state = ConnectionState("idle", nodes.current)
        self._states = Listeners()
        self._notices = Listeners()
        self._subscriptions: dict[Subscription, None] = {}
        self._requests = SubscribeQueue(key)
        self._running: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        #: Ends the socket from this side, with the reason.
        self._leave: asyncio.Future[str] | None = None
        #: Requested by a node that shuts down, in seconds.
        self._pause = 0.0
        self._closing: set[asyncio.Task[Any]] = set()

    @property
    def state(self) -> ConnectionState:
        return self._state

    @property
    def _is_closed(self) -> bool:
        return self._state.status == "closed"

    def on_state(self, listener: Callable[[ConnectionState], None]) -> Callable[[], None]:
        """Called after each change, until the returned function is called."""
        return self._states.add(listener)

    def on_notice(self, listener: Callable[[Notice], None]) -> Callable[[], None]:
        return self._notices.add(listener)

    def subscribe(self, params: SubscribeParams, receiver: Receiver) -> Subscription:
        """Inside a running event loop."""
        subscription = Subscription(params, receiver, self)
        if self._is_closed:
            error = _ended(self._state.why)
            asyncio.get_running_loop().call_soon(subscription.end, error)
            return subscription
        self._subscriptions[subscription] = None
        self._requests.add(subscription)
        if self._running is None:
            self._running = asyncio.get_running_loop().create_task(self._run())
            self._running.add_done_callback(self._run_ended)
        return subscription

    def connect(self) -> None:
        """Ends the wait for the next try."""
        self._wake.set()

    async def close(self) -> None:
        """For good."""
        self._give_up(None)
        running = self._running
        if running is not None and running is not asyncio.current_task():
            running.cancel()
            await asyncio.wait([running])
        if self._closing:
            await asyncio.wait(self._closing, timeout=1)

    # Methods that subscriptions call.

    def send(self, subscription: Subscription) -> None:
        self._requests.add(subscription)

    def send_later(self, subscription: Subscription) -> None:
        if subscription.refusals >= _MOST_REFUSALS and len(self._nodes) > 1:
            subscription.refusals = 0
            self._leave_node("the node is not ready")
            return

        def send() -> None:
            if not subscription.is_closed and subscription.request_id is None:
                self._requests.add(subscription)

        asyncio.get_running_loop().call_later(RETRY.after(subscription.refusals), send)

    def forget(self, subscription: Subscription) -> None:
        self._subscriptions.pop(subscription, None)
        self._requests.remove(subscription)

    def notice(self, reason: NoticeReason, topic: str, skipped: int) -> None:
        self._notices.notify(Notice(reason, topic, skipped))

    # The life of a connection.

    async def _run(self) -> None:
        while not self._is_closed:
            node = self._nodes.current
            self._set(status="connecting", node=node, retry_at=None, why=None)
            self._pause = 0.0
            code, reason = await self._one_socket(node)
            self._requests.disconnected()
            for subscription in list(self._subscriptions):
                subscription.disconnected()
            if self._is_closed:
                return
            why = reason or f"connection lost ({code})"
            if code in _FINAL_CODES:
                self._give_up(f"the server closed the connection for good: {why} ({code})")
                return
            await self._wait_for_next(node, code, why)

    def _run_ended(self, run: asyncio.Task[None]) -> None:
        """A fault of this client ends its mirrors with an error; they do not wait for ever."""
        error = None if run.cancelled() else run.exception()
        if error is not None:
            self._give_up(f"the client failed: {error!r}")
            told = {"message": "the upcurve client failed", "exception": error, "task": run}
            run.get_loop().call_exception_handler(told)

    async def _wait_for_next(self, node: str, code: int, why: str) -> None:
        self._nodes.leave(node)
        tries = self._state.tries
        is_elsewhere = self._nodes.current != node and tries + 1 < len(self._nodes)
        requested = self._pause if code == _GOING_AWAY and not is_elsewhere else 0.0
        # The first retry after a useful connection comes at once, with jitter.
        delay = requested + RETRY.after(0 if is_elsewhere else tries)
        self._wake.clear()
        self._set(
            status="waiting",
            node=self._nodes.current,
            retry_at=time.time() + delay,
            tries=tries + 1,
            why=why,
        )
        try:
            await asyncio.wait_for(self._wake.wait(), delay)
        except asyncio.TimeoutError:
            pass

    async def _one_socket(self, node: str) -> tuple[int, str]:
        """From its opening to its end: the close code, and the reason."""
        opening = self._session.get().ws_connect(
            socket_url(node),
            protocols=[self._encoding],
            max_msg_size=_MOST_FRAME_BYTES,
        )
        try:
            limit = min(_OPENING_SECONDS, self._silence)
            # Newer aiohttp tells by a type whether text is decoded, and infers too little here.
            socket: aiohttp.ClientWebSocketResponse = cast(Any, await asyncio.wait_for(opening, limit))
        except asyncio.TimeoutError:
            return _LOST, "no answer"
        except (aiohttp.ClientError, OSError, ApiError) as error:
            return _LOST, str(error) or type(error).__name__
        if self._is_closed:
            # Before Python 3.12 `wait_for` drops a cancellation that comes as its task ends, so
            # `close` would wait for this socket for ever (python/cpython#86296).
            await socket.close()
            return _LOST, "closed by this client"
        self._leave = asyncio.get_running_loop().create_future()
        sending = asyncio.ensure_future(self._requests.send_all(socket))
        reading = asyncio.ensure_future(self._read_all(socket))
        try:
            self._requests.connected(self._subscriptions)
            self._set(status="open", heard_at=time.time())
            leave = self._leave
            tasks: list[asyncio.Future[Any]] = [sending, reading, leave]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                return reading.result()
            return _LOST, leave.result() if leave.done() else "cannot send"
        finally:
            for task in (sending, reading):
                task.cancel()
            await asyncio.gather(sending, reading, return_exceptions=True)
            self._leave = None
            # The other side may be gone, so do not wait for its close frame.
            closing = asyncio.ensure_future(socket.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def _read_all(self, socket: aiohttp.ClientWebSocketResponse) -> tuple[int, str]:
        while True:
            try:
                message = await socket.receive(timeout=self._silence)
            except asyncio.TimeoutError:
                return _LOST, f"no frame for {self._silence} s"
            if message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                frame = read_frame(message)
                if frame is None:
                    return _LOST, "unreadable frame"
                self._receive(frame)
            elif message.type is aiohttp.WSMsgType.ERROR:
                return _LOST, str(socket.exception())
            elif message.type is aiohttp.WSMsgType.CLOSE:
                return int(message.data), str(message.extra or "")
            else:
                return socket.close_code or _LOST, ""

    def _receive(self, frame: Frame) -> None:
        if frame.event == "Ping":
            self._requests.send({"messageType": "pong", "requestId": None})
            self._pinged(frame)
        elif frame.event == "Shutdown":
            after_ms = fields_of(frame.data).get("reconnectAfterMs")
            pause = after_ms / 1000 if isinstance(after_ms, (int, float)) else 0.0
            self._pause = min(_MOST_PAUSE_SECONDS, max(0.0, pause))
        elif frame.request_id is not None:
            subscription = self._requests.by_request_id(str(frame.request_id))
            if subscription is not None:
                if self._state.tries > 0:
                    self._set(tries=0)
                subscription.receive(frame)

    def _pinged(self, frame: Frame) -> None:
        fields = fields_of(frame.data)
        seq, tip = fields.get("seq"), fields.get("tip")
        if not isinstance(seq, int):
            return
        position = Position(frame.epoch, seq)
        for subscription in list(self._subscriptions):
            subscription.idle_up_to(position)
        known = tip if isinstance(tip, dict) else None
        self._set(tip=known, position=position, heard_at=time.time(), tries=0)

    def _leave_node(self, why: str) -> None:
        if self._leave is not None and not self._leave.done():
            self._leave.set_result(why)

    def _give_up(self, why: str | None) -> None:
        if self._is_closed:
            return
        self._set(status="closed", retry_at=None, why=why)
        self._leave_node("closed by this client")
        for subscription in list(self._subscriptions):
            subscription.end(_ended(why))

    def _set(self, **changes: Any) -> None:
        self._state = replace(self._state, **changes)
        self._states.notify(self._state)


def _ended(why: str | None) -> ApiError:
    """`why` None: this side closed it."""
    if why is None:
        return stopped()
    return ApiError("CLOSED", why)
