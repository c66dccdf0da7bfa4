"""Whether a transaction that a server built does what was asked, before it is signed.

The rule: whatever is not paid back to the wallet's own address must be the one order that was asked
for, on its terms; nothing is minted, certified or withdrawn beside it. Inputs need no look: the ledger
conserves value, so what does not leave in an output comes back in one, and the fee is bounded here.
Trusts: the server to name the script of its market, and the amount that it quotes: `slippage` is
        counted from there. And not to name our output as collateral for scripts that fail. And to name
        the market that may fill the order: only the server could tell its NFT. The order's script asks
        for the worst price whatever the market is, so a wrong one brings that price, or no fill and a
        refund.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from . import bech32, cbor
from .errors import ApiError
from .market import Slippage
from .wire.rest import OrderAnswer

_MOST_FEE = 3_000_000
_MOST_COLLATERAL = 5_000_000
#: Executor fee and deposit of an order, in lovelace.
_MOST_ON_TOP = 5_000_000

# Fields of a body (Conway's CDDL).
_INPUTS, _OUTPUTS, _FEE, _END, _COLLATERAL, _SIGNERS, _TOTAL_COLLATERAL = 0, 1, 2, 3, 13, 14, 17
#: Also the start of its validity, the metadata's hash and the network.
_PLAIN = {_INPUTS, _OUTPUTS, _FEE, _END, 7, 8, 15}
#: Also what a script needs: hash of its data, returned collateral, references.
_OF_SCRIPTS = {11, _COLLATERAL, _SIGNERS, 16, _TOTAL_COLLATERAL, 18}
#: Kinds of an address whose payment part is a script (CIP-19).
_SCRIPT_KINDS = (1, 3, 7)
_INLINE = 1
_ENCODED = 24
_CONSTRUCTOR_0 = 121
#: Fields of an order's datum, by its tag: a limit order of Splash; orders of the launchpad, which from
#: 02 on name their market.
_ORDER_FIELDS = {b"\x00": 12, b"\x01": 10, b"\x02": 11}
_LIMIT_ORDER = b"\x00"


@dataclass(frozen=True)
class OrderTerms:
    input: str
    output: str
    input_amount: int
    #: Output per input; the order must not take less.
    worst_price: Fraction


def terms_of(
    built: OrderAnswer,
    asset: str,
    side: str,
    amount: int,
    slippage: Slippage,
    most_lovelace: int | None,
    min_output: int | None,
) -> OrderTerms:
    """The terms that the order must have; raises ApiError where the answer is another order."""
    spent, received = (asset, ".") if side == "SELL" else (".", asset)
    given, gotten = int(built["inputAmount"]), int(built["outputAmount"])
    is_exact = gotten >= amount if side == "BUY_WITH_OUTPUT" else given == amount
    assets = (built["inputAsset"], built["outputAsset"])
    if assets != (spent, received) or given <= 0 or gotten <= 0 or not is_exact:
        raise _not_signed("the order that was built is not the one asked for")
    if most_lovelace is not None and given > most_lovelace:
        raise _not_signed(f"it costs {given} lovelace now, more than {most_lovelace}")
    if min_output is not None:
        return OrderTerms(spent, received, given, Fraction(min_output, given))
    if slippage == "infinity":
        return OrderTerms(spent, received, given, Fraction(1, given))
    kept = Fraction(100 - int(slippage), 100)
    return OrderTerms(spent, received, given, Fraction(gotten, given) * kept)


def refuse_unless_order(
    transaction: str, address: str, terms: OrderTerms, must_expire: bool
) -> int:
    """The place of the order among the outputs; raises ApiError NOT_WHAT_WAS_ASKED. `must_expire`:
    not signed where it may be submitted at any later time."""
    body = _body(transaction, _PLAIN)
    if must_expire and _END not in body:
        raise _not_signed("it never expires")
    _, own = bech32.decode(address)
    paid_away = [(n, out) for n, out in enumerate(_outputs(body)) if out.address != own]
    if len(paid_away) != 1:
        raise _not_signed("it pays others than the one order")
    index, order = paid_away[0]
    is_script = order.address[0] >> 4 in _SCRIPT_KINDS and order.address[0] & 15 == own[0] & 15
    if not is_script or order.address[29:] != own[29:]:
        raise _not_signed("the order is at an unknown address")
    datum = _order_datum(order.datum)
    if datum.redeemer != _address_data(own) or datum.owner != own[1:29]:
        raise _not_signed("the order is not ours")
    if [datum.input, datum.output] != [_asset_data(terms.input), _asset_data(terms.output)]:
        raise _not_signed("the order trades other assets")
    numerator, denominator = _ints(_constructor_0(datum.worst_price, 2))
    if denominator <= 0 or Fraction(numerator, denominator) < terms.worst_price:
        raise _not_signed("the order takes a worse price")
    is_buy = terms.input == "."
    offered = terms.input_amount if is_buy else 0
    on_top = order.lovelace - offered if datum.on_top is None else datum.on_top
    if not 0 <= on_top <= _MOST_ON_TOP:
        raise _not_signed(f"the order costs {on_top} lovelace on top")
    if datum.amount not in (None, terms.input_amount):
        raise _not_signed("the order offers something else")
    lovelace = on_top + offered
    tokens = {} if is_buy else {terms.input: terms.input_amount}
    if (order.lovelace, order.tokens) != (lovelace, tokens):
        raise _not_signed("the order holds something else")
    return index


def refuse_unless_reclaim(
    transaction: str, address: str, entity_id: str, must_expire: bool
) -> None:
    """Raises ApiError NOT_WHAT_WAS_ASKED unless it takes back the output `<tx>:<index>`."""
    body = _body(transaction, _PLAIN | _OF_SCRIPTS)
    if must_expire and _END not in body:
        raise _not_signed("it never expires")
    _, own = bech32.decode(address)
    spent = [f"{tx.hex()}:{index}" for tx, index in _items(body[_INPUTS])]
    if entity_id not in spent:
        raise _not_signed(f"it does not spend {entity_id}")
    if any(output.address != own for output in _outputs(body)):
        raise _not_signed("it pays someone else")
    collateral = body.get(_TOTAL_COLLATERAL)
    if _COLLATERAL in body and (collateral is None or collateral > _MOST_COLLATERAL):
        raise _not_signed("it risks too much collateral")
    if any(signer != own[1:29] for signer in _items(body.get(_SIGNERS, []))):
        raise _not_signed("it needs the signature of somebody else")


@dataclass(frozen=True)
class _Output:
    address: bytes
    lovelace: int
    tokens: dict[str, int]
    #: Of an inline datum; None without one.
    datum: Any


def _body(transaction: str, allowed: set[int]) -> dict[int, Any]:
    try:
        whole = cbor.decode(bytes.fromhex(transaction))
        body, _, is_valid, _ = whole
        strange = set(body) - allowed
        fee = body[_FEE]
    except (ValueError, TypeError, KeyError) as error:
        raise _not_signed("it is no transaction") from error
    if is_valid is not True:
        raise _not_signed("it announces that its scripts fail")
    if strange:
        raise _not_signed(f"it has fields that it does not need: {sorted(strange)}")
    if fee > _MOST_FEE:
        raise _not_signed(f"its fee is {fee} lovelace")
    result: dict[int, Any] = body
    return result


def _outputs(body: dict[int, Any]) -> list[_Output]:
    try:
        return [_output(output) for output in body[_OUTPUTS]]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _not_signed("it has an output that cannot be read") from error


def _output(output: Any) -> _Output:
    if isinstance(output, list):
        output = dict(enumerate(output[:2]))
    address, value = output[0], output[1]
    lovelace, assets = (value, {}) if isinstance(value, int) else value
    tokens = {
        f"{policy.hex()}.{name.hex()}": amount
        for policy, names in assets.items()
        for name, amount in names.items()
    }
    kind, content = output.get(2, (None, None))
    is_inline = kind == _INLINE and content.number == _ENCODED
    datum = cbor.decode(content.value) if is_inline else None
    return _Output(bytes(address), lovelace, tokens, datum)


def _items(values: Any) -> Sequence[Any]:
    """Of a list, or of a set as Conway tags it."""
    listed = values.value if isinstance(values, cbor.Tag) else values
    return listed if isinstance(listed, list) else []


def _constructor_0(data: Any, count: int) -> list[Any]:
    is_one = isinstance(data, cbor.Tag) and data.number == _CONSTRUCTOR_0
    if not is_one or not isinstance(data.value, list) or len(data.value) != count:
        raise _not_signed("the order has no datum of an order")
    return data.value


@dataclass(frozen=True)
class _OrderDatum:
    redeemer: Any
    owner: Any
    input: Any
    output: Any
    worst_price: Any
    #: Fee and deposit; None: all that the output holds beside the offer.
    on_top: int | None
    #: None: what the output holds.
    amount: int | None


def _order_datum(datum: Any) -> _OrderDatum:
    fields = getattr(datum, "value", None)
    tag = fields[0] if isinstance(fields, list) and fields else None
    if not isinstance(tag, bytes) or tag not in _ORDER_FIELDS:
        raise _not_signed("the order has no datum of an order")
    values = _constructor_0(datum, _ORDER_FIELDS[tag])
    if tag == _LIMIT_ORDER:
        # Not looked at: tag, beacon, step, least output of a step, fee, executors.
        _, _, given, amount, _, _, gotten, price, _, redeemer, owner, _ = values
        _ints([amount])
        return _OrderDatum(redeemer, owner, given, gotten, price, None, amount)
    on_top = sum(_ints(values[5:7]))
    return _OrderDatum(values[1], values[9], values[2], values[3], values[4], on_top, None)


def _ints(values: list[Any]) -> list[int]:
    if any(type(value) is not int for value in values):
        raise _not_signed("the order has no datum of an order")
    return values


def _address_data(address: bytes) -> cbor.Tag:
    """As datums have an address whose parts are keys."""

    def constructor(number: int, *fields: Any) -> cbor.Tag:
        return cbor.Tag(_CONSTRUCTOR_0 + number, list(fields))

    stake_hash = address[29:]
    stake = constructor(0, constructor(0, constructor(0, stake_hash)))
    payment = constructor(0, address[1:29])
    return constructor(0, payment, stake if stake_hash else constructor(1))


def _asset_data(asset: str) -> cbor.Tag:
    policy, _, name = asset.partition(".")
    return cbor.Tag(_CONSTRUCTOR_0, [bytes.fromhex(policy), bytes.fromhex(name)])


def _not_signed(why: str) -> ApiError:
    return ApiError("NOT_WHAT_WAS_ASKED", f"not signed: {why}")
