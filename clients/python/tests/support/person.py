"""Somebody who launches and trades through the client alone."""

from __future__ import annotations

import struct
import zlib

from upcurve import Client, Key, Wallet


def picture() -> bytes:
    """The smallest PNG: one grey pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\x00\x80")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


async def funded(client: Client, outputs: int = 1, ada: int = 900) -> Wallet:
    """Several outputs, so that several transactions fit into one block."""
    wallet = client.wallet(Key.new(), "testnet")
    for _ in range(outputs - 1):
        await client.devnet.faucet(address=wallet.address, ada=ada)
    await wallet.fund(ada)
    return wallet


async def launch(
    wallet: Wallet, name: str, initial_ada: int = 20, ticker: str = "COIN"
) -> str:
    """The asset id of the token."""
    lovelace = initial_ada * 1_000_000
    about = {"name": name, "ticker": ticker, "description": "A token of a test."}
    launched = await wallet.launch(picture(), "image/png", first_buy_lovelace=lovelace, **about)
    assert (launched.tokens > 0) == (initial_ada > 0)
    return launched.asset
