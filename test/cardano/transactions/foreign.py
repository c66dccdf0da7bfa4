# Reads a transaction (hex) as any CBOR, writes it again, and hashes its body.
import hashlib
import sys

import cbor2

transaction = cbor2.loads(bytes.fromhex(sys.stdin.read()))
print(cbor2.dumps(transaction).hex())
print(hashlib.blake2b(cbor2.dumps(transaction[0]), digest_size=32).hexdigest())
