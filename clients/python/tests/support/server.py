"""The real server in a separate process, on a free port, over a temporary directory."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[4]
_START_SECONDS = 60


def _node() -> str:
    """Node 22 of the repository; `NODE` names another one."""
    own = ROOT / "node_modules" / ".bin" / "node"
    found = os.environ.get("NODE") or (str(own) if own.exists() else shutil.which("node"))
    assert found is not None, "run npm ci in the repository first"
    return found


class Server:
    """A devnet without traders unless `env` says otherwise; killed when its block is left."""

    def __init__(self, directory: Path, *args: str, **env: str) -> None:
        quiet = {"PORT": "0", "DATA_DIR": str(directory), "TRADERS_PACE": "0"}
        environment = {"PATH": os.environ["PATH"], **quiet, **env}
        options = ["--disable-warning=ExperimentalWarning", "--import", "./pack/useStripped.mjs"]
        command = [_node(), *options, "src/server/main.ts", *args]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, text=True, stdin=pipe, stdout=pipe, stderr=pipe
        )
        self._lines: list[str] = []
        self._listening = threading.Event()
        self._port = 0
        self._readers = [
            threading.Thread(target=self._read, args=(stream,), daemon=True)
            for stream in (self._process.stdout, self._process.stderr)
        ]
        for reader in self._readers:
            reader.start()
        try:
            self._listening.wait(_START_SECONDS)
            assert self._port != 0, "the server did not start: " + "\n".join(self._lines[-20:])
            self._wait_until_ready()
        except BaseException:
            # Its block is not entered, so nothing else ends it: late, wrong or interrupted.
            self.kill()
            raise

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def _wait_until_ready(self) -> None:
        """It listens before it has read its market: requests get NOT_READY so long."""
        end = time.monotonic() + _START_SECONDS
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/health/ready", timeout=_START_SECONDS):
                    return
            except urllib.error.HTTPError as error:
                assert time.monotonic() < end, f"it is not ready: {error.read().decode()}"
            time.sleep(0.02)

    def feed(self, *lines: str) -> None:
        """To a server that replays its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{line}\n" for line in lines))
        self._process.stdin.flush()

    def kill(self) -> None:
        """As `kill -9`."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """The orderly end."""
        self._end(signal.SIGTERM)

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.kill()

    def _end(self, how: signal.Signals) -> None:
        if self._process.poll() is None:
            self._process.send_signal(how)
        self._process.wait(timeout=_START_SECONDS)
        for reader in self._readers:
            reader.join(timeout=5)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _read(self, stream: Any) -> None:
        for line in stream:
            self._lines.append(line.rstrip())
            del self._lines[:-200]
            if line.startswith("{"):
                event = json.loads(line)
                if event.get("event") == "listening" and event.get("what") == "market":
                    self._port = int(event["port"])
                    self._listening.set()
        # It has ended, so nothing waits for it.
        self._listening.set()
