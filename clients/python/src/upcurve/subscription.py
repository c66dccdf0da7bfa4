"""One subscription, by the rule of protocol.md 6.4.

A snapshot replaces state; a frame with a seq at or below the known one is ignored; a `prev` above it
is a loss, and it subscribes again with `since`. A subscription outlives sockets. Each time it
subscribes under a new request id, so that a frame of an older request cannot be mistaken for a
frame of the newest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from .errors import ApiError
from .frame import Frame, fields_of
from .position import Position

#: Why state was loaded or requested again. slow: this client did not read fast enough. epoch: the
#: market has a new log. horizon: away for longer than the server remembers. loss, checksum: what
#: came did not fit, and was requested again.
NoticeReason = Literal["slow", "epoch", "horizon", "loss", "checksum"]

#: The state of a node, not of the log: every frame is a snapshot, and nothing is resumed.
_PERIODIC = "Health"


class Receiver(Protocol):
    """Callbacks of a subscription; none is called after `ended` or `close`."""

    def snapshot(self, data: Any, position: Position) -> None:
        """The whole state: replaces what was known."""

    def update(self, event: str, data: Any, position: Position) -> None:
        """`event` is `<Topic>Update`, `BarsRevised` or `OrdersRevised`."""

    def idle(self, position: Position) -> None:
        """Nothing changed up to here."""

    def ended(self, error: ApiError) -> None: ...


class Owner(Protocol):
    """The connection, as a subscription sees it."""

    def send(self, subscription: Subscription) -> None:
        """Sends `request` as soon as there is a socket."""

    def send_later(self, subscription: Subscription) -> None:
        """The same after a delay: the server was not ready."""

    def forget(self, subscription: Subscription) -> None: ...

    def notice(self, reason: NoticeReason, topic: str, skipped: int) -> None: ...


@dataclass(frozen=True)
class SubscribeParams:
    topic: str
    data: dict[str, Any] | None = None
    #: Updates a second, at most.
    max_hz: int | None = None
    #: Continue from here: the position of an answer over HTTP.
    since: Position | None = None


class Subscription:
    def __init__(self, params: SubscribeParams, receiver: Receiver, owner: Owner) -> None:
        self.topic = params.topic
        #: Id of the newest request; None while there is none.
        self.request_id: str | None = None
        #: Times in a row that the server was not ready.
        self.refusals = 0
        self.is_closed = False
        self._params = params
        self._receiver = receiver
        self._owner = owner
        self._known = params.since
        self._is_live = False
        self._is_snapshot_due = False

    def request(self, request_id: str) -> dict[str, Any]:
        """The request that continues from the known position."""
        self.request_id = request_id
        self._is_live = False
        request: dict[str, Any] = {"requestId": request_id, "topic": self.topic}
        if self._params.data is not None:
            request["data"] = self._params.data
        if self._known is not None and self.topic != _PERIODIC:
            request["since"] = self._known._asdict()
        if self._params.max_hz is not None:
            request["maxHz"] = self._params.max_hz
        return request

    def disconnected(self) -> None:
        """Its socket is gone."""
        self.request_id = None
        self._is_live = False

    def restart(self, reason: NoticeReason) -> None:
        """Drops what it knows: a snapshot comes next."""
        self._known = None
        self._subscribe_again(reason)

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self._owner.forget(self)

    def end(self, error: ApiError) -> None:
        if not self.is_closed:
            self.close()
            self._receiver.ended(error)

    def receive(self, frame: Frame) -> None:
        if self.is_closed:
            return
        if frame.event == "Subscribed":
            self._accepted(frame)
        elif frame.event == "Error":
            self._refused(frame)
        elif frame.event == "Resync":
            self._resync(frame)
        elif self._is_live and frame.event != "Unsubscribed":
            self._update(frame)

    def idle_up_to(self, position: Position) -> None:
        """A ping said that idle subscriptions are complete up to here."""
        known = self._known
        if not self._is_live or self._is_snapshot_due or known is None:
            return
        if known.epoch == position.epoch and position.seq > known.seq:
            self._known = position
            self._receiver.idle(position)

    def _accepted(self, frame: Frame) -> None:
        is_recovered = fields_of(frame.data).get("recovered") is True
        self._is_live = True
        self.refusals = 0
        self._is_snapshot_due = not is_recovered
        if not is_recovered and self._known is not None and self.topic != _PERIODIC:
            self._owner.notice("horizon", self.topic, 0)

    def _refused(self, frame: Frame) -> None:
        fields = fields_of(frame.data)
        self.disconnected()
        if fields.get("retry") is True:
            self.refusals += 1
            self._owner.send_later(self)
            return
        message = fields.get("message", "the server ended the subscription")
        self.end(ApiError(str(fields.get("cause", "BAD_ANSWER")), str(message)))

    def _resync(self, frame: Frame) -> None:
        fields = fields_of(frame.data)
        skipped = fields.get("skipped")
        self._is_snapshot_due = True
        reason: NoticeReason = "epoch" if fields.get("reason") == "epoch" else "slow"
        self._owner.notice(reason, self.topic, skipped if isinstance(skipped, int) else 0)

    def _update(self, frame: Frame) -> None:
        position = Position(frame.epoch, frame.seq)
        if frame.snapshot or self.topic == _PERIODIC:
            self._known = position
            self._is_snapshot_due = False
            self._receiver.snapshot(frame.data, position)
            return
        # Frames from before a Resync hold less than the snapshot that is due.
        if self._is_snapshot_due:
            return
        known = self._known
        if known is None or known.epoch != frame.epoch or frame.prev is None:
            self._subscribe_again("loss")
        elif frame.prev > known.seq:
            self._subscribe_again("loss")
        elif frame.seq > known.seq:
            self._known = position
            self._receiver.update(frame.event, frame.data, position)

    def _subscribe_again(self, reason: NoticeReason) -> None:
        if not self.is_closed:
            # Frames that are still on their way do not fit either.
            self._is_live = False
            self._owner.notice(reason, self.topic, 0)
            self._owner.send(self)
