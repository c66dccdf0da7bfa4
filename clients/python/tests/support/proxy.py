"""A TCP proxy before a server: cuts, holds back, does not read, refuses; may lead elsewhere."""

from __future__ import annotations

import asyncio
import socket
from types import TracebackType

_CHUNK = 65_536


class TcpProxy:
    def __init__(self, port: int) -> None:
        #: Port of the server behind the proxy.
        self.target = port
        #: Refuses connections.
        self.is_closed = False
        self._reading = asyncio.Event()
        self._passing = asyncio.Event()
        self._reading.set()
        self._passing.set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> TcpProxy:
        self._server = await asyncio.start_server(self._join, "127.0.0.1", 0, limit=_CHUNK)
        return self

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Every connection through it breaks."""
        for task in self._tasks:
            task.cancel()

    def hold(self) -> None:
        """The server's bytes are held back, but not lost."""
        self._passing.clear()

    def release(self) -> None:
        self._passing.set()

    def stop_reading(self) -> None:
        """The server's bytes stay with the server, except for those that fit into the buffers
        between the two."""
        self._reading.clear()

    def read_on(self) -> None:
        self._reading.set()

    async def _join(self, reader: asyncio.StreamIterator, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        writers = [writer]
        try:
            if self.is_closed:
                return
            there = socket.socket()
            there.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _CHUNK)
            there.setblocking(False)
            await asyncio.get_running_loop().sock_connect(there, ("127.0.0.1", self.target))
            answers, requests = await asyncio.open_connection(sock=there, limit=_CHUNK)
            writers.append(requests)
            pumps = [
                asyncio.ensure_future(self._pump(reader, requests)),
                asyncio.ensure_future(self._pump(answers, writer, is_answer=True)),
            ]
            try:
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            for each in writers:
                each.transport.abort()

    async def _pump(
        self, reader: asyncio.StreamIterator, writer: asyncio.StreamWriter, is_answer: bool = False
    ) -> None:
        while True:
            if is_answer:
                await self._reading.wait()
            data = await reader.read(_CHUNK)
            if not data:
                return
            if is_answer:
                await self._passing.wait()
            writer.write(data)
            await writer.drain()
