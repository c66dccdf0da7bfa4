"""Whether a transaction is the launch that was asked for: the token's name, both of its descriptions,
the pool under the creator's name, and the tokens of the first buy. The launch policy, whose id is
compared, asks the rest of the pool: address, curve, reserve and supply."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from . import bech32, cbor, check
from .errors import ApiError
from .wire.rest import ProtocolConfigAnswer

#: Prefixes of a CIDv1: raw bytes, a node of dag-pb, SHA-256 of 32 bytes.
_RAW, _DAG_PB = b"\x01\x55\x12\x20", b"\x01\x70\x12\x20"
_CHUNK = 262_144
_LABEL = 721
_LONGEST_TEXT = 64
_LAUNCH_TYPES = ("DEFAULT", "HYPED")
SOCIALS = ("twitter", "discord", "telegram", "website")
#: Lovelace that a launch needs besides the first buy: the pool's own, the metadata output's and the
#: least launch fee.
_MOST_ON_TOP = 20_000_000
_COST = 3 * 10**27
_MINT = 9


@dataclass(frozen=True)
class LaunchTerms:
    name: str
    ticker: str
    description: str
    #: By name; absent ones are empty.
    links: Mapping[str, str]
    launch_type: str
    logo_cid: str
    media_type: str
    #: Lovelace of the first buy, and the tokens that the parameters of the curve give for it.
    first_buy: int
    tokens: int
    launch_policy: str
    supply: int
    metadata_address: str


def terms_of(
    config: ProtocolConfigAnswer,
    image: bytes,
    media_type: str,
    info: Mapping[str, Any],
    first_buy: int,
) -> LaunchTerms:
    """Values that the transaction must have, from the request and the deployment in force."""
    parameters, addresses = config["parameters"], config["addresses"]
    supply = int(parameters["tokenEmission"]["raw"])
    a, b = int(parameters["aNum"]), int(parameters["bNum"])
    return LaunchTerms(
        name=info["name"].strip(),
        ticker=info["ticker"],
        description=info["description"],
        links={name: info.get(name) or "" for name in SOCIALS},
        launch_type=info.get("launchType") or "DEFAULT",
        logo_cid=content_id(image),
        media_type="image/jpeg" if media_type == "image/jpg" else media_type,
        first_buy=first_buy,
        tokens=_bought(a, b, supply, first_buy),
        launch_policy=addresses["launchPolicy"],
        supply=supply,
        metadata_address=addresses["metadata"],
    )


def _bought(a: int, b: int, supply: int, lovelace: int) -> int:
    """The largest number of tokens that the given lovelace buy from a new curve."""
    low, high = 0, supply
    while low < high:
        middle = (low + high + 1) // 2
        cost = middle * (a * middle * middle + 3 * 10**21 * b)
        low, high = (middle, high) if cost <= lovelace * _COST else (low, middle - 1)
    return low


def content_id(image: bytes) -> str:
    """As `ipfs add --cid-version=1` gives it for a file of at most 45 MB: chunks of 262,144 bytes as
    raw leaves, several under one node of dag-pb."""
    chunks = [image[at : at + _CHUNK] for at in range(0, max(len(image), 1), _CHUNK)]
    leaves = [_RAW + hashlib.sha256(chunk).digest() for chunk in chunks]
    found = leaves[0]
    if len(chunks) > 1:
        sizes = [len(chunk) for chunk in chunks]
        links = [
            _field(2, _field(1, leaf) + _field(2, b"") + _number(3, size))
            for leaf, size in zip(leaves, sizes)
        ]
        file = _number(1, 2) + _number(3, len(image)) + b"".join(_number(4, size) for size in sizes)
        found = _DAG_PB + hashlib.sha256(b"".join(links) + _field(1, file)).digest()
    return "b" + base64.b32encode(found).decode().rstrip("=").lower()


def _field(key: int, content: bytes) -> bytes:
    return bytes([key << 3 | 2]) + _varint(len(content)) + content


def _number(key: int, value: int) -> bytes:
    return bytes([key << 3]) + _varint(value)


def _varint(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def refuse_unless_launch(
    transaction: str,
    address: str,
    asset: str,
    terms: LaunchTerms,
    must_expire: bool,
    held: Collection[str],
) -> None:
    """Raises ApiError NOT_WHAT_WAS_ASKED. `asset`: the token that the server names; `held`: as in
    `check.refuse_unless_reclaim`."""
    body = check.body_of(transaction, check.LAUNCH_FIELDS)
    check.refuse_scripted(body, address, must_expire, held)
    _, own = bech32.decode(address)
    _refuse_other_mint(body, own, asset, terms)
    _refuse_other_words(transaction, body, own, asset, terms)
    outputs = check.outputs_of(body)
    kept = sum(output.tokens.get(asset, 0) for output in outputs if output.address == own)
    if kept != terms.tokens or (terms.first_buy > 0 and kept == 0):
        raise _not_signed(f"it keeps {kept} tokens for us, not {terms.tokens}")
    paid_away = [output for output in outputs if output.address != own]
    minted = _minted(body)
    if any(unit not in minted for output in paid_away for unit in output.tokens):
        raise _not_signed("it gives away other tokens")
    lovelace = sum(output.lovelace for output in paid_away)
    if lovelace > terms.first_buy + terms.first_buy // 100 + _MOST_ON_TOP:
        raise _not_signed(f"it pays {lovelace} lovelace away")


def _minted(body: Mapping[int, Any]) -> dict[str, int]:
    return {
        f"{policy.hex()}.{name.hex()}": amount
        for policy, names in body.get(_MINT, {}).items()
        for name, amount in names.items()
    }


def _refuse_other_mint(
    body: Mapping[int, Any], own: bytes, asset: str, terms: LaunchTerms
) -> None:
    minted = _minted(body)
    if minted.pop(asset, 0) != terms.supply:
        raise _not_signed("it mints another number of tokens")
    if asset.partition(".")[2] != terms.name.encode().hex():
        raise _not_signed("another name")
    nfts = {
        f"{terms.launch_policy}.{_nft_name(tx, int(index), own)}"
        for tx, index in (ref.split(":") for ref in check.refs_of(body[0]))
    }
    if len(minted) != 1 or not any(minted.get(nft) == 1 for nft in nfts):
        raise _not_signed("its pool is another's, or of another launchpad")


def _nft_name(tx: str, index: int, own: bytes) -> str:
    """Named after an output that the launch spends and its creator, as Plutus serialises them."""
    first, after = b"\xd8\x79\x9f", b"\xff"
    number = bytes([index]) if index < 24 else bytes([0x18, index]) if index < 256 else b""
    number = number or b"\x19" + index.to_bytes(2, "big")
    seed = first + first + cbor.byte_string(bytes.fromhex(tx)) + after + number + after
    keys = cbor.byte_string(own[1:29]) + cbor.byte_string(own[29:])
    return hashlib.blake2b(first + seed + keys + after, digest_size=32).hexdigest()


def _refuse_other_words(
    transaction: str, body: Mapping[int, Any], own: bytes, asset: str, terms: LaunchTerms
) -> None:
    metadata = cbor.decode(bytes.fromhex(transaction))[3]
    if metadata != wallet_metadata(asset, terms):
        raise _not_signed("wallets would show something else")
    _, place = bech32.decode(terms.metadata_address)
    found = [output.datum for output in check.outputs_of(body) if output.address == place]
    if len(found) != 1:
        raise _not_signed("it does not describe the token")
    token, ticker, logo, words, kind, author, links, version = check.constructor_0(found[0], 8)
    written = (terms.ticker, terms.logo_cid, terms.description)
    said = [
        token == check.asset_data(asset),
        (ticker, logo, words) == tuple(text.encode() for text in written),
        kind == _LAUNCH_TYPES.index(terms.launch_type),
        check.constructor_0(author, 2) == [own[1:29], own[29:]],
        version == 1,
    ]
    listed = check.constructor_0(links, 4)
    same = all(_is_link(link, terms.links[name]) for name, link in zip(SOCIALS, listed))
    if not all(said) or not same:
        raise _not_signed("it describes the token otherwise")


def _is_link(stored: Any, given: str) -> bool:
    """A link is stored as browsers print it: scheme and host in lower case, a path in any case."""
    if not isinstance(stored, bytes):
        return False
    if stored.decode("utf-8", "replace") == given:
        return True
    parts = urlsplit(given)
    netloc, path = parts.netloc.lower(), parts.path or "/"
    printed = parts._replace(scheme=parts.scheme.lower(), netloc=netloc, path=path).geturl()
    return stored == printed.encode()


def wallet_metadata(asset: str, terms: LaunchTerms) -> dict[int, Any]:
    """A token's metadata for wallets, as CIP-25 (version 1) in the launch transaction."""
    policy = asset.partition(".")[0]
    details: dict[str, Any] = {
        "name": terms.name,
        "image": ["ipfs://", terms.logo_cid],
        "ticker": terms.ticker,
        "decimals": 0,
        "mediaType": terms.media_type,
    }
    if terms.description:
        details["description"] = _pieces(terms.description)
    return {_LABEL: {policy: {terms.name: details}}}


def _pieces(text: str) -> list[str]:
    """At most 64 bytes each, cut between code points."""
    pieces = [""]
    for letter in text:
        if len((pieces[-1] + letter).encode()) > _LONGEST_TEXT:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def _not_signed(why: str) -> ApiError:
    return ApiError("NOT_WHAT_WAS_ASKED", f"not signed: {why}")
