"""The programs in `examples/` and in the README, as they are, beside somebody who moves the price."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.examples import HERE, PROGRAM_SECONDS, environment, output_of
from support.person import funded, launch

from upcurve import ApiError, Client

MAX_LINES = 60
BOT_LINES = 15


@asynccontextmanager
async def moving_token(url: str, name: str) -> AsyncIterator[str]:
    """A token whose price goes up and down, an order at a time."""
    async with Client(url) as client:
        wallet = await funded(client, outputs=3)
        asset = await launch(wallet, name, initial_ada=100)
        async with client.watch_pool(asset) as pool:
            await asyncio.wait_for(pool.until(lambda state: state is not None), 60)

        async def move() -> None:
            while True:
                try:
                    bought = await wallet.buy(asset, lovelace=300_000_000, slippage="infinity")
                    tokens = int((await bought.settled())["toAmount"])
                    sold = await wallet.sell(asset, tokens=tokens, slippage="infinity")
                    await sold.settled()
                except ApiError as error:
                    # Its coins are in no block yet.
                    assert error.cause == "UNKNOWN", error
                    await asyncio.sleep(0.2)

        moving = asyncio.ensure_future(move())
        try:
            yield asset
        finally:
            moving.cancel()
            results = await asyncio.gather(moving, return_exceptions=True)
            assert isinstance(results[0], asyncio.CancelledError), results


def example(name: str) -> str:
    path = HERE / "examples" / name
    assert len(path.read_text().splitlines()) <= MAX_LINES
    return str(path)


async def test_price_watcher(devnet: str) -> None:
    async with moving_token(devnet, "Watched") as asset:
        text = await output_of(devnet, example("price_watcher.py"), devnet, asset, "3")
    assert re.match(r"Watched \(COIN\), in ADA, minute by minute:\n", text)
    assert len(re.findall(r"^\d\d:\d\d {2}0\.0\d+ {2}low ", text, re.M)) == 3, text


async def test_grid_bot(devnet: str) -> None:
    async with moving_token(devnet, "Grid") as asset:
        text = await output_of(devnet, example("grid_bot.py"), devnet, asset, "3", "1")
    assert re.search(r"^BUY: Evaluated, received \d+$", text, re.M), text
    assert re.search(r"^SELL: (Evaluated|Refunded), received \d+$", text, re.M), text


async def test_backtest(devnet: str) -> None:
    async with Client(devnet) as client:
        wallet = await funded(client)
        asset = await launch(wallet, "Tested")
        async with client.watch_trades(asset) as trades:
            await asyncio.wait_for(trades.until(lambda state: len(state.trades) > 0), 60)
    text = await output_of(devnet, example("backtest.py"), devnet, asset, "1", "2")
    assert re.search(r"^[1-9]\d* bars up to \S+:\d+, \d+ trades$", text, re.M), text
    assert re.search(r"^1000 ADA became \d+\.\d\d; bought and held: 1000\.00$", text, re.M), text


async def test_programs_of_the_readme(devnet: str, tmp_path: Path) -> None:
    async with Client(devnet) as client:
        wallet = await funded(client)
        asset = await launch(wallet, "Readme", initial_ada=200)
        async with client.watch_trades(asset) as trades:
            await asyncio.wait_for(trades.until(lambda state: len(state.trades) > 0), 60)
    text = (HERE / "README.md").read_text()
    programs = re.findall(r"```python\n(.*?)```", text, re.S)
    bot, watcher, frame = (text for text in programs if "adapters" not in text)
    assert len(bot.strip().splitlines()) <= BOT_LINES
    expected = {
        bot: r"Evaluated \d+ tokens\nEvaluated \d+ lovelace\n$",
        watcher: r"\d{10} 0\.\d+\n$",
        frame: r"time\n",
    }
    for number, program in enumerate((bot, watcher, frame)):
        path = tmp_path / f"readme{number}.py"
        path.write_text(program.replace("http://127.0.0.1:8080", devnet))
        assert re.search(expected[program], await output_of(devnet, str(path)))


def test_notebook(devnet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell runs, in a kernel of this Python."""
    import nbformat
    from nbclient import NotebookClient

    async def prepare() -> None:
        async with Client(devnet) as client:
            asset = await launch(await funded(client), "Noted")
            async with client.watch_trades(asset) as trades:
                await asyncio.wait_for(trades.until(lambda state: len(state.trades) > 0), 60)

    asyncio.run(prepare())
    for name, value in environment(devnet).items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(HERE / "examples" / "notebook.ipynb", as_version=4)
    NotebookClient(notebook, timeout=PROGRAM_SECONDS, kernel_name="python3").execute()
    printed = [
        output["text"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output["output_type"] == "stream"
    ]
    assert any(re.match(r"Evaluated \d+ tokens", text) for text in printed), printed
    assert any(re.match(r"Evaluated \d+\.\d{6} ADA", text) for text in printed), printed
