"""Programs as a stranger runs them, against a server of the test."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
PROGRAM_SECONDS = 100


def environment(url: str) -> dict[str, str]:
    paths = [str(HERE / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "UPCURVE_URL": url}


async def output_of(url: str, *args: str) -> str:
    """The output of a program that must end with code 0."""
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        "-W",
        "error",
        *args,
        env=environment(url),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        text, _ = await asyncio.wait_for(program.communicate(), PROGRAM_SECONDS)
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
    assert program.returncode == 0, text.decode()
    return text.decode()
