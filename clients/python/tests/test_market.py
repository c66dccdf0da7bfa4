"""A random market with forks, cuts, an orderly restart and a kill -9: every mirror is what HTTP says at
the same position, and nothing had to be loaded again."""

from __future__ import annotations

import os
import random
from pathlib import Path

from support.person import launch
from support.proxy import TcpProxy
from support.same import assert_same, whole_market
from support.server import Server
from support.until import until

from upcurve import ApiError, Client, Key, Notice, Wallet

SEED = int(os.environ.get("SEED", "") or random.SystemRandom().randrange(10**6))
ROUNDS = 4
ACTIONS = 5
DEEPEST_FORK = 3
#: Blocks on demand.
ENV = {"NETWORK": "devnet", "BLOCK_EVERY_MS": "0"}


async def act(rng: random.Random, client: Client, wallet: Wallet, asset: str) -> bool:
    """One random step; false where the market refused it."""
    step = rng.choice(["buy", "sell", "cancel", "mine", "fork"])
    try:
        if step == "buy":
            await wallet.buy(asset, lovelace=rng.randrange(3, 60) * 1_000_000)
        elif step == "sell":
            tokens = (await wallet.balances()).get(asset, 0)
            await wallet.sell(asset, tokens=tokens // rng.randrange(2, 9), slippage="infinity")
        elif step == "cancel":
            page = (await client.orders.open_of_keys([wallet.key.hash])).data
            pending = [row for row in page["ledger"]["items"] if row["status"] == "Pending"]
            if not pending:
                return False
            await wallet.cancel(pending[0]["entityId"])
        elif step == "mine":
            await client.devnet.mine(blocks=rng.randrange(1, 4))
        else:
            resubmit = rng.choice(["all", "none"])
            depth = rng.randrange(1, DEEPEST_FORK + 1)
            await client.devnet.fork(depth=depth, resubmit=resubmit)  # type: ignore[typeddict-item]
    except ApiError as error:
        # Spent already, too small, nothing to undo.
        assert error.status is not None and error.status < 503, error
        return False
    return True


async def test_every_mirror_is_what_http_says(directory: Path) -> None:
    rng = random.Random(SEED)
    print(f"SEED={SEED}")
    server = Server(directory, **ENV)
    notices: list[Notice] = []
    done = 0
    try:
        async with (
            TcpProxy(server.port) as proxy,
            Client(proxy.url, max_attempts=5) as one,
            Client(proxy.url, max_attempts=5, encoding="msgpack") as two,
        ):
            wallet = await _funded(one)
            asset = await launch(wallet, "Market")
            # Mirrors of a token that is in no block yet.
            compared = whole_market(one, asset, wallet) + whole_market(two, asset, wallet)
            # Deeper than all forks together: a rollback never removes the compared data.
            await one.devnet.mine(blocks=ROUNDS * ACTIONS * DEEPEST_FORK)
            for each in (one, two):
                each.connection.on_notice(notices.append)
            for round in range(ROUNDS):
                for _ in range(ACTIONS):
                    done += await act(rng, one, wallet, asset)
                if round == 0:
                    proxy.cut()
                if round in (1, 2):
                    server.kill() if round == 1 else server.stop()
                    server = Server(directory, **ENV)
                    proxy.target = server.port
                    await until("back", lambda: _is_ready(one))
                await one.devnet.mine(blocks=1)
                await assert_same(compared, f"in round {round} of SEED={SEED}")
            assert done > ROUNDS, "most of it happened"
            assert notices == [], "everything came, nothing had to be loaded again"
    finally:
        server.kill()


async def _funded(client: Client) -> Wallet:
    """Blocks come only when they are asked for."""
    wallet = client.wallet(Key.new(), "testnet")
    for _ in range(6):
        await client.devnet.faucet(address=wallet.address, ada=900)
    await client.devnet.mine(blocks=1)
    await until("funded", lambda: _has_coins(wallet))
    return wallet


async def _has_coins(wallet: Wallet) -> bool:
    return (await wallet.balances()).get("lovelace", 0) > 0


async def _is_ready(client: Client) -> bool:
    try:
        return (await client.server.ready()).data["synced"]
    except ApiError:
        return False
