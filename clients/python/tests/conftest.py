"""Tests may be coroutines: each runs in a new event loop."""

from __future__ import annotations

import asyncio
import inspect
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.server import Server

#: Time limit of one test; a wait inside the test has its own shorter deadline, whose message says
#: more.
LIMIT_SECONDS = 150

# Tests that are ended in the middle end their servers, too, as with Ctrl+C.
signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    names = inspect.signature(test).parameters
    arguments: dict[str, Any] = {name: pyfuncitem.funcargs[name] for name in names}
    asyncio.run(asyncio.wait_for(test(**arguments), LIMIT_SECONDS))
    return True


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture(scope="session")
def devnet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A market on a separate chain, five blocks a second, without traders: its URL."""
    directory = tmp_path_factory.mktemp("devnet") / "data"
    with Server(directory, NETWORK="devnet", BLOCK_EVERY_MS="200") as server:
        yield server.url
