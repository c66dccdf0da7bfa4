"""An HTTP server that answers as a test wants: a refusal, nothing, the end of the connection."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any


class RawServer:
    """Answers `answers`, each a body and more headers, and then `null`; before that it refuses as
    often as `refusals` says (None: always)."""

    def __init__(
        self,
        status: int = 200,
        cause: str = "",
        retry_after: int | None = None,
        refusals: int | None = None,
        is_silent: bool = False,
        is_cut: bool = False,
        answers: Sequence[tuple[Any, Mapping[str, str]]] = (),
    ) -> None:
        self.calls: list[str] = []
        #: When each call came, on the monotonic clock.
        self.times: list[float] = []
        self._status = status
        self._cause = cause
        self._retry_after = retry_after
        self._refusals = refusals
        self._is_silent = is_silent
        self._is_cut = is_cut
        self._answers = iter(answers)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> RawServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamIterator, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await self._answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort() if self._is_cut else writer.close()

    async def _answer(self, reader: asyncio.StreamIterator, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        sent = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        await reader.readexactly(int(sent.get("content-length", "0")))
        method, path, _ = lines[0].split(" ")
        self.calls.append(f"{method} {path}")
        self.times.append(time.monotonic())
        if self._is_silent:
            await asyncio.Event().wait()
        if self._is_cut:
            return
        is_refused = self._refusals is None or len(self.calls) <= self._refusals
        status = self._status if is_refused else 200
        refusal = {"cause": self._cause, "message": "as the test wants"}
        said, headers = next(self._answers, (None, {})) if status == 200 else (refusal, {})
        body = json.dumps(said)
        later = {} if self._retry_after is None else {"Retry-After": self._retry_after}
        fields = {"Content-Type": "application/json", **later, **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer.write(
            f"HTTP/1.1 {status} X\r\n{head}"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()
        )
        await writer.drain()
