"""Ed25519 keys that sign transactions. Code that holds a Key can sign: its secret is in no repr and in
no message, and never leaves the process."""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

from nacl.signing import SigningKey

from . import bech32, cbor
from .market import Network

_SECRET_BYTES: Final = 32
_PREFIXES = {"mainnet": ("addr", 1), "testnet": ("addr_test", 0)}
_ENTERPRISE = 0x60
_BASE = 0x00


class Key:
    """`secret`: 32 bytes as 64 hex digits."""

    def __init__(self, secret: str) -> None:
        try:
            seed = bytes.fromhex(secret)
        except ValueError:
            seed = b""
        if len(seed) != _SECRET_BYTES:
            raise ValueError("a secret is 32 bytes as 64 hex digits")
        self._key = SigningKey(seed)
        self._public = bytes(self._key.verify_key)
        #: 32 bytes, hex.
        self.public_key = self._public.hex()
        #: Hash of the public key, 28 bytes, hex: the payment key hash (pkh) of its addresses.
        self.hash = hashlib.blake2b(self._public, digest_size=28).hexdigest()

    @classmethod
    def new(cls) -> Key:
        return cls(new_secret())

    def __repr__(self) -> str:
        return f"Key({self.hash})"

    def address(self, network: Network, stake_key_hash: str | None = None) -> str:
        """An enterprise address; with the hash of a stake key (28 bytes, hex) a base address. Raises
        ValueError for another network."""
        if network not in _PREFIXES:
            known = "`mainnet`, or `testnet` for any other one, a devnet included"
            raise ValueError(f"there is no network {network!r}: name {known}")
        prefix, number = _PREFIXES[network]
        stake = b"" if stake_key_hash is None else bytes.fromhex(stake_key_hash)
        header = (_BASE if stake else _ENTERPRISE) | number
        return bech32.encode(prefix, bytes([header]) + bytes.fromhex(self.hash) + stake)

    def sign(self, message: bytes) -> bytes:
        """64 bytes."""
        return self._key.sign(message).signature

    def witness(self, transaction: str) -> str:
        """Signs a transaction (CBOR, hex) as the server built it: the witness set, CBOR hex, as
        `sign_and_submit` takes it. Raises ValueError if the text is not a transaction."""
        return self.witness_of(transaction_id(transaction))

    def witness_of(self, body_hash: str) -> str:
        """The same for the hash of a body (32 bytes, hex)."""
        signature = self.sign(bytes.fromhex(body_hash))
        pair = cbor.byte_string(self._public) + cbor.byte_string(signature)
        # {0: [[public key, signature]]}
        return (b"\xa1\x00\x81\x82" + pair).hex()


def new_secret() -> str:
    """32 random bytes of the system, hex: a new key."""
    return secrets.token_bytes(_SECRET_BYTES).hex()


def transaction_id(transaction: str) -> str:
    """The hash of a transaction's body, over its bytes as they are: the wallet signs this hash, and
    it is the transaction's id."""
    body = cbor.first_of_list(bytes.fromhex(transaction))
    return hashlib.blake2b(body, digest_size=32).hexdigest()


def payment_key_hash(address: str) -> str:
    """28 bytes, hex; raises ValueError where `address` has no payment key."""
    _, data = bech32.decode(address)
    kind = data[0] >> 4 if data else -1
    # CIP-19: base, pointer and enterprise addresses whose payment part is a key.
    if kind not in (0, 2, 4, 6) or len(data) < 29:
        raise ValueError(f"{address} has no payment key")
    return data[1:29].hex()
