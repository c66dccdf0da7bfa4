"""Calls over HTTP.

Nodes of one market are tried in turn while they cannot be reached or are not ready, each once. If
all nodes are busy (429, 503), the client repeats the call after the time that the server names, as
often as the options allow. If a connection is lost, the client cannot know whether the node carried
out the call, so it does not send calls again that are unsafe to repeat. Raises ApiError and nothing
else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import aiohttp

from .backoff import Backoff
from .errors import ApiError
from .nodes import Nodes
from .position import Answer, Position, read_position
from .session import Session, stopped

_TRY_ANOTHER_NODE = frozenset({"UNREACHABLE", "TIMEOUT", "NOT_READY", "OVERLOADED"})
#: A longer Retry-After is not waited for.
_MOST_RETRY_SECONDS = 10
_RETRY = Backoff(first=0.25, most=_MOST_RETRY_SECONDS)
_NO_BODY = object()


class Http:
    def __init__(
        self,
        session: Session,
        nodes: Nodes,
        timeout: float,
        max_attempts: int,
        key: str | None = None,
    ) -> None:
        self._session = session
        self._nodes = nodes
        #: Time limit of one attempt at one node, in seconds.
        self._timeout = aiohttp.ClientTimeout(total=timeout)
        #: Time limit of a call while all nodes are busy, in seconds.
        self._max_attempts = max_attempts
        self._key = key

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = _NO_BODY,
        form: tuple[str, bytes, str, str] | None = None,
        is_repeatable: bool = True,
        also_answers: int | None = None,
        min_position: Position | None = None,
        idempotency_key: str | None = None,
        is_text: bool = False,
    ) -> Answer[Any]:
        """`query`: fields that are None are left out, a list is repeated. `form`: name, content and
        media type of an image, and the JSON beside it. `also_answers`: another status whose body
        is the answer."""
        fields = [
            (name, str(one).lower() if isinstance(one, bool) else str(one))
            for name, value in (query or {}).items()
            if value is not None
            for one in (value if isinstance(value, (list, tuple)) else [value])
        ]
        headers = {} if min_position is None else {"X-Min-Position": str(min_position)}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        request = _Request(
            method, path, fields, body, form, headers, also_answers, is_repeatable, is_text
        )
        attempts = 0
        while True:
            try:
                return await self._some_node(request)
            except ApiError as error:
                attempts += 1
                named = error.retry_after_seconds or 0
                if not error.is_busy or attempts >= self._max_attempts:
                    raise
                if named > _MOST_RETRY_SECONDS:
                    raise
                await asyncio.sleep(max(named, _RETRY.after(attempts - 1)))

    async def csv(
        self, method: str, path: str, query: Mapping[str, object], body: object = _NO_BODY
    ) -> Answer[str]:
        """The same rows as text: RFC 4180, with a header row."""
        fields = {**query, "format": "csv"}
        return await self.call(method, path, query=fields, body=body, is_text=True)

    async def _some_node(self, request: _Request) -> Answer[Any]:
        tries = 1
        while True:
            node = self._nodes.current
            try:
                return await self._at(node, request)
            except ApiError as error:
                may_help = error.cause in _TRY_ANOTHER_NODE and request.is_repeatable
                if not may_help or tries >= len(self._nodes):
                    raise
                tries += 1
                self._nodes.leave(node)

    async def _at(self, node: str, request: _Request) -> Answer[Any]:
        if request.is_repeatable:
            try:
                return await self._once(node, request, self._session.get())
            except aiohttp.ServerDisconnectedError:
                # Most likely a kept connection whose server has gone meanwhile: a new one tells.
                pass
        try:
            return await self._once(node, request, self._session.fresh())
        except aiohttp.ServerDisconnectedError as error:
            raise _unreachable(node, error) from error

    async def _once(
        self, node: str, request: _Request, session: aiohttp.ClientSession
    ) -> Answer[Any]:
        try:
            async with session.request(
                request.method,
                node + request.path,
                params=request.query,
                timeout=self._timeout,
                **request.content(),
            ) as response:
                return _read(request, response, await response.read())
        except aiohttp.ServerDisconnectedError as error:
            if self._session.is_closed:
                raise stopped() from error
            raise
        except asyncio.TimeoutError as error:
            limit = self._timeout.total
            raise ApiError("TIMEOUT", f"no answer from {node} within {limit} s") from error
        except (aiohttp.ClientError, OSError, RuntimeError) as error:
            if self._session.is_closed:
                raise stopped() from error
            if isinstance(error, RuntimeError):
                raise
            raise _unreachable(node, error) from error


class _Request:
    def __init__(
        self,
        method: str,
        path: str,
        query: list[tuple[str, str]],
        body: object,
        form: tuple[str, bytes, str, str] | None,
        headers: Mapping[str, str],
        also_answers: int | None,
        is_repeatable: bool,
        is_text: bool,
    ) -> None:
        self.is_repeatable = is_repeatable
        self.is_text = is_text
        self.method = method
        self.path = path
        self.query = query
        self.also_answers = also_answers
        self._body = body
        self._form = form
        self._headers = headers

    def content(self) -> dict[str, Any]:
        """Built for each try, because a form can be sent only once."""
        if self._form is not None:
            name, image, media_type, info = self._form
            form = aiohttp.FormData()
            form.add_field("image", image, filename=name, content_type=media_type)
            form.add_field("info", info)
            return {"data": form, "headers": self._headers}
        if self._body is _NO_BODY:
            return {"headers": self._headers}
        text = json.dumps(self._body, ensure_ascii=False, separators=(",", ":"))
        headers = {**self._headers, "Content-Type": "application/json"}
        return {"data": text.encode(), "headers": headers}


def _read(request: _Request, response: aiohttp.ClientResponse, text: bytes) -> Answer[Any]:
    try:
        # Decimals, so that no amount becomes a float on its way.
        body = json.loads(text, parse_float=Decimal)
    except ValueError:
        body = _NO_BODY
    headers = response.headers
    if request.is_text and response.status == 200:
        body = text.decode()
    if response.status not in (200, request.also_answers):
        raise _refusal(request.path, response, body)
    if body is _NO_BODY:
        what = f"{request.path} answered something that is not JSON"
        raise ApiError("BAD_ANSWER", what, status=response.status)
    return Answer(
        body,
        position=read_position(headers.get("X-Position")),
        slot=_number(headers.get("X-Slot")),
        block_hash=headers.get("X-Block-Hash"),
        next_to=_number(headers.get("X-Next-To")),
        next_before=headers.get("X-Next-Before"),
    )


def _refusal(path: str, response: aiohttp.ClientResponse, body: object) -> ApiError:
    fields: Mapping[str, Any] = body if isinstance(body, dict) else {}
    return ApiError(
        str(fields.get("cause", "BAD_ANSWER")),
        str(fields.get("message", f"{path} answered {response.status}")),
        status=response.status,
        details=fields.get("details", ()),
        reason=fields.get("reason"),
        retry_after_seconds=_number(response.headers.get("Retry-After")),
    )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _unreachable(node: str, error: Exception) -> ApiError:
    why = str(error) or type(error).__name__
    return ApiError("UNREACHABLE", f"{node} cannot be reached ({why})")
