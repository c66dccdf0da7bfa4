"""The only error of the client: a refusal of the API, or no answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: Causes that this client adds to the API's causes: UNREACHABLE, TIMEOUT, BAD_ANSWER; STOPPED (this
#: side ended it); CLOSED (the server closed the socket for good); NOT_WHAT_WAS_ASKED (the server
#: built or submitted something else); DROPPED (an order is in no block and no mempool).
_TRANSIENT = frozenset({"UNREACHABLE", "TIMEOUT", "NOT_READY", "OVERLOADED", "RATE_LIMITED"})
_BUSY = frozenset({429, 503})


class ApiError(Exception):
    """`cause` is for a program, `message` for a person."""

    def __init__(
        self,
        cause: str,
        message: str,
        *,
        status: int | None = None,
        details: Sequence[Mapping[str, str]] = (),
        reason: str | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(f"{cause}: {message}")
        #: A cause from the API's catalogue, or one added by this client.
        self.cause = cause
        self.message = message
        #: HTTP status; None where there was no answer, and for errors of the socket.
        self.status = status
        #: On 400: `{path, message}` for each field that is wrong.
        self.details = tuple(details)
        #: Where a submitted transaction was refused: the rule that it breaks, as a word for a
        #: program;
        #: MALFORMED, INPUT_SPENT, BAD_SIGNATURE, SIGNATURE_MISSING, SCRIPT_FAILED, EXPIRED,
        #: NOT_YET_VALID, VALUE_NOT_CONSERVED, FEE_TOO_SMALL, OUTPUT_TOO_SMALL, LIMITS_EXCEEDED,
        #: COLLATERAL, MEMPOOL_FULL, REFUSED. None for every other refusal.
        self.reason = reason
        self.retry_after_seconds = retry_after_seconds

    @property
    def is_busy(self) -> bool:
        """The server answered that it is busy (429, 503) and did nothing: it may be asked again."""
        return self.status in _BUSY and not self._is_full

    @property
    def _is_full(self) -> bool:
        """No time makes room, unless the server names one: webhooks of a key, for example."""
        return self.cause == "LIMIT_EXCEEDED" and self.retry_after_seconds is None

    @property
    def is_passing(self) -> bool:
        """Another node, or the same one later, may answer."""
        return self.is_busy or self.cause in _TRANSIENT
