"""A client that a stock generator makes of the server's OpenAPI document: it works as it comes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from support.examples import output_of
from support.person import funded, launch
from support.until import until

from upcurve import Client

pytest.importorskip("openapi_python_client", reason="no generator: pip install openapi-python-client")

PROGRAM = """
import sys
from generated import Client
from generated.api.builder import quote
from generated.api.operations import server_time
from generated.api.pools import pool, pool_list
from generated.models import LiquidityPoolInfo, PoolResponse400, QuoteResponse500

url, asset = sys.argv[1:]
with Client(base_url=url) as client:
    print(server_time.sync(client=client).timestamp > 1_700_000_000_000)
    print([each.info.name for each in pool_list.sync(client=client, filter_="New")])
    one = pool.sync(client=client, asset=asset)
    print(isinstance(one, LiquidityPoolInfo), one.info.asset == asset)
    wrong = pool.sync(client=client, asset="nonsense")
    print(isinstance(wrong, PoolResponse400), wrong.cause, wrong.details[0].path)
    terms = {"asset_id": asset, "side": "SELL", "amount": "1" + "0" * 18, "slippage": "15"}
    refused = quote.sync(client=client, **terms)
    print(isinstance(refused, QuoteResponse500), refused.cause, refused.retry)
"""


async def test_a_stock_generator_makes_a_client_that_works(devnet: str, tmp_path: Path) -> None:
    async with Client(devnet) as client:
        asset = await launch(await funded(client), "Generated")

        async def is_listed() -> bool:
            return any(row["info"]["asset"] == asset for row in (await client.pools.list("New")).data)

        await until("the token is listed", is_listed)
    document = tmp_path / "openapi.json"
    config = tmp_path / "config.yaml"
    # Its hooks only tidy the text.
    config.write_text("post_hooks: []\n")
    with urlopen(f"{devnet}/v1/docs/openapi.json") as answer:
        document.write_bytes(answer.read())
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--path", str(document)]
    options = ["--config", str(config), "--meta", "none", "--output-path", str(tmp_path / "generated")]
    made = await asyncio.to_thread(
        subprocess.run, [*command, *options], capture_output=True, text=True, timeout=100
    )
    assert made.returncode == 0, made.stdout + made.stderr
    program = tmp_path / "use.py"
    program.write_text(PROGRAM)
    lines = (await output_of(devnet, str(program), devnet, asset)).splitlines()
    assert lines[0] == "True"
    assert "Generated" in lines[1]
    assert lines[2:] == [
        "True True",
        "True INVALID_PARAMS query.asset",
        "True MAX_TRADE_AMOUNT False",
    ]
