# A wallet in another language: reads a transaction as any CBOR, writes its body again, hashes and
# signs that, and writes a witness set. Input: a line of transaction hex, a line of secret hex.
import hashlib
import sys

import cbor2



def check(value):
    # Tag 258 makes a set, which other libraries write in another order, or not at all.
    assert not isinstance(value, (set, frozenset)), "a set"
    if isinstance(value, dict):
        for each in value.items():
            check(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            check(each)


transaction_hex, secret_hex = sys.stdin.read().split()
transaction = cbor2.loads(bytes.fromhex(transaction_hex))
check(transaction)
again = cbor2.dumps(transaction)
body_hash = hashlib.blake2b(cbor2.dumps(transaction[0]), digest_size=32).digest()
print(again.hex())
print(body_hash.hex())
try:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret_hex))
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    print(cbor2.dumps({0: [[public, key.sign(body_hash)]]}).hex())
except ImportError:
    print("none")
