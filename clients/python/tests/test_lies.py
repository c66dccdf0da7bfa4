"""A server that builds something else than it was asked for: the client signs none of it."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from support.liar import Change, Liar
from support.person import funded, launch, picture

from upcurve import ApiError, Client, Key, Wallet
from upcurve.launching import content_id
from upcurve.payments import starts_of


def asks(**change: Any) -> Change:
    return lambda body: json.dumps({**json.loads(body), **change}).encode()


def edits(*pairs: tuple[str, str]) -> Change:
    def edited(answer: Any) -> Any:
        for old, new in pairs:
            assert old in answer["cbor"], old
            answer["cbor"] = answer["cbor"].replace(old, new)
        return answer

    return edited


async def refused(
    liar: Liar,
    path: str,
    act: Callable[[], Awaitable[Any]],
    ask: Change | None = None,
    answer: Change | None = None,
) -> ApiError:
    liar.ask, liar.answer = {path: ask} if ask else {}, {path: answer} if answer else {}
    liar.asked.clear()
    try:
        with pytest.raises(ApiError) as error:
            await act()
        assert "/sign-and-submit" not in liar.asked
        return error.value
    finally:
        liar.ask, liar.answer = {}, {}


async def _market(client: Client, wallet: Wallet, name: str) -> str:
    asset = await launch(wallet, name)
    async with client.watch_pool(asset) as pool:
        await asyncio.wait_for(pool.until(lambda state: state is not None), 60)
    return asset


def _word(amount: int) -> str:
    return f"1a{amount:08x}"


async def test_no_order_that_a_server_falsifies_is_signed(devnet: str) -> None:
    async with Liar(devnet) as liar, Client(liar.url) as client, Client(devnet) as honest:
        wallet = await funded(honest, outputs=3)
        asset = await _market(honest, wallet, "Lied")
        thief = await funded(honest)
        mine = client.wallet(wallet.key, "testnet")

        def buy() -> Awaitable[Any]:
            return mine.buy(asset, lovelace=5_000_000)

        def cheap(answer: Any) -> Any:
            return {**answer, "outputAmount": "1", "minimumOutput": "1"}

        fee, deposit = 1_100_000, 1_500_000
        held = 5_000_000 + fee + deposit
        script = (await honest.build.protocol_config()).data["addresses"]["scripts"]["order"]["hash"]
        dear = (_word(fee), _word(fee + 1_000_000))
        lies: list[tuple[str, Change | None, Change | None]] = [
            ("worse price", asks(slippage="infinity", minOutput="1"), cheap),
            ("worse price", asks(amount="6000000"), None),
            ("pays others", asks(changeAddress=thief.address), None),
            ("waits for longer", asks(waitFor=2_592_000), None),
            ("on top", None, edits(dear, (_word(held), _word(held + 1_000_000)))),
            ("executor", None, edits(dear, (_word(deposit), _word(deposit - 1_000_000)))),
            ("unknown address", None, edits((script, "78" * 28))),
            ("not ours", None, edits(("581c" + wallet.key.hash, "581c" + thief.key.hash))),
        ]
        for why, ask, answer in lies:
            error = await refused(liar, "/order", buy, ask, answer)
            assert error.cause == "NOT_WHAT_WAS_ASKED" and why in error.message, error.message
        tokens = mine.buy_tokens(asset, tokens=1_000_000, most_lovelace=5_000_000)
        fewer = asks(amount="600000", minOutput="1")
        assert "worse price" in (await refused(liar, "/order", lambda: tokens, fewer)).message
        moved = await refused(liar, "/order", buy, asks(minOutput="900000000"))
        assert moved.cause == "PRICE_MOVED"
        placed = await buy()
        assert "/sign-and-submit" in liar.asked and placed.quote["minimumOutput"] > "1"


async def test_no_launch_that_a_server_falsifies_is_signed(devnet: str) -> None:
    async with Liar(devnet) as liar, Client(liar.url) as client, Client(devnet) as honest:
        wallet = await funded(honest, outputs=3)
        mine = client.wallet(wallet.key, "testnet")
        policy = (await honest.build.protocol_config()).data["addresses"]["launchPolicy"]

        def launched() -> Awaitable[Any]:
            return mine.launch(
                picture(),
                "image/png",
                name="Rocket",
                ticker="COIN",
                description="Up, up and away",
                first_buy_lovelace=100_000_000,
                website="https://Example.com",
            )

        def form(old: str, new: str) -> Change:
            def changed(body: bytes) -> bytes:
                assert old.encode() in body
                return body.replace(old.encode(), new.encode())

            return changed

        def text(value: str) -> str:
            return value.encode().hex()

        lies: list[tuple[str, Change | None, Change | None]] = [
            ("another name", form('"Rocket"', '"Socket"'), None),
            ("wallets would show", form('"COIN"', '"FAKE"'), None),
            ("wallets would show", form("Up, up", "No, no"), None),
            ("describes the token otherwise", form('"DEFAULT"', '"HYPED"'), None),
            ("describes the token otherwise", form("Example.com", "Example.org"), None),
            ("tokens for us", form("100000000", "050000000"), None),
            ("keeps 0 tokens", form("100000000", "0"), None),
            ("wallets would show", None, edits((text("bafkrei"), text("bafkref")))),
            ("otherwise", None, edits((text("example.com"), text("example.net")))),
            ("another launchpad", None, edits((policy, "79" * 28))),
        ]
        for why, ask, answer in lies:
            error = await refused(liar, "/launch", launched, ask, answer)
            assert error.cause == "NOT_WHAT_WAS_ASKED" and why in error.message, error.message
        token = await launched()
        assert token.tokens > 0


async def test_a_cancel_that_a_server_falsifies_is_not_signed(devnet: str) -> None:
    async with Liar(devnet) as liar, Client(liar.url) as client, Client(devnet) as honest:
        wallet = await funded(honest, outputs=3)
        asset = await _market(honest, wallet, "Kept")
        mine = client.wallet(wallet.key, "testnet")
        waits = await mine.buy(asset, lovelace=5_000_000, min_output=900_000_000, wait_for=86_400)
        other = await mine.buy(asset, lovelace=5_000_000, min_output=900_000_000, wait_for=86_400)
        for change in ({"txHash": other.tx_id}, {"ttl": 0}):
            error = await refused(liar, "/cancel", waits.cancel, asks(**change))
            assert error.cause == "NOT_WHAT_WAS_ASKED", error.message
        await waits.cancel()


async def test_no_lock_or_transfer_that_a_server_falsifies_is_signed(devnet: str) -> None:
    async with Liar(devnet) as liar, Client(liar.url) as client, Client(devnet) as honest:
        wallet, thief = await funded(honest, outputs=3), await funded(honest)
        asset = await _market(honest, wallet, "Moved")
        mine = client.wallet(wallet.key, "testnet")
        end_ms = (await honest.server.time()).data["timestamp"] + 7_200_000
        vesting = (await honest.build.protocol_config()).data["addresses"]["scripts"]["vesting"]["hash"]

        def locked() -> Awaitable[Any]:
            return mine.lock(asset, tokens=11, end_ms=end_ms, stages=2)

        def paid() -> Awaitable[Any]:
            return mine.transfer(thief.address, lovelace=3_000_000, assets={asset: 7})

        units: Any = [{"unit": asset, "amount": "9"}]
        lies: list[tuple[str, Callable[[], Awaitable[Any]], Change | None, Change | None]] = [
            ("/create-lock", locked, asks(amount="12"), None),
            ("/create-lock", locked, asks(stagesCount=1), None),
            ("/create-lock", locked, asks(lockEnd=end_ms - 1), None),
            ("/create-lock", locked, asks(ttl=0), None),
            ("/create-lock", locked, None, edits((vesting, "78" * 28))),
            ("/transfer", paid, asks(distAddress=Key.new().address("testnet")), None),
            ("/transfer", paid, asks(transferAssets={"lovelace": "3000000", "assets": units}), None),
            ("/transfer", paid, asks(transferAssets={"lovelace": "4000000", "assets": []}), None),
        ]
        for path, act, ask, answer in lies:
            error = await refused(liar, path, act, ask, answer)
            assert error.cause == "NOT_WHAT_WAS_ASKED", error.message
        late = int(time.time() * 1000) + 3_600_000

        def built_late(built: Any) -> Any:
            return {**built, "cbor": _first_stage_at(built["cbor"], end_ms, (late + end_ms) // 2)}

        liar.answer = {
            "/v1/utility/server/time": lambda told: {**told, "timestamp": late},
            "/health/ready": lambda told: {**told, "tip": {**told["tip"], "time": late // 1000}},
            "/create-lock": built_late,
        }
        with pytest.raises(ApiError, match="stage 1 opens at another time"):
            await locked()
        liar.answer = {}
        await paid()
        assert await locked()


def _first_stage_at(transaction: str, end_ms: int, moved_ms: int) -> str:
    """The same with another time at which the first of two stages opens."""
    times = re.findall("1b000001[0-9a-f]{10}", transaction)
    half = next(found for found in times if found != f"1b{end_ms:016x}")
    return transaction.replace(half, f"1b{moved_ms:016x}")


def test_a_lock_starts_by_the_clock_of_its_chain_but_no_later_than_asked() -> None:
    """A chain that makes blocks on demand may be behind the clocks."""
    own, behind, ahead = 10_000_000, 1_000_000, 90_000_000
    assert starts_of(own, [own + 5, behind, ahead]) == [own, own + 5, behind]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"),
        (262_145, None),
    ],
)
def test_the_content_id_of_a_logo(size: int, expected: str | None) -> None:
    """`test_lies` above compares a commitment computed by the server; several leaves have another
    prefix."""
    found = content_id(bytes(size))
    assert found == expected or (expected is None and found.startswith("bafybei") and len(found) == 59)
