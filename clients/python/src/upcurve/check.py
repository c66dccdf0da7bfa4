"""Checks, before signing, that a transaction built by a server does what the client asked for.

The rule: every output that does not pay the wallet's own address must be the one order that was
          asked for, on its terms; nothing is minted, certified or withdrawn beside it. Inputs need
          no check: the ledger conserves value, so value that does not leave in an output comes back
          in one, and the fee is bounded here.
Trusts: the server's quotes, which define a fair price, and the scripts and the deployment named in
        them: the bytes are compared with these. Only a limit of one's own, or the quote of another
        node, protects against a server that lies there, too. And to name the market that may fill
        the order: only the server could tell its NFT. The order's script enforces the worst price
        in any market, so a wrong market brings that price, or no fill and a refund.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import bech32, cbor
from .errors import ApiError
from .market import Slippage
from .wire.rest import OrderAnswer, QuoteAnswer

_MOST_FEE = 3_000_000
_MOST_COLLATERAL = 5_000_000
#: Upper bound of collateral that returns to the server. Its own outputs for it hold 5 ADA.
_MOST_FOREIGN_COLLATERAL = 10_000_000
#: Upper bound of an order's executor fee plus deposit, in lovelace, even if a quote asks for more.
_MOST_ON_TOP = 5_000_000
#: Between the quote and the order, an order's time to live may grow by this many milliseconds.
_MOST_DELAY_MS = 600_000
_SIGNATURE_BYTES = 300

# Fields of a body (Conway's CDDL).
_INPUTS, _OUTPUTS, _FEE, _END, _COLLATERAL, _SIGNERS, _RETURN, _TOTAL_COLLATERAL = 0, 1, 2, 3, 13, 14, 16, 17
_MINT = 9
#: Also the start of its validity, the metadata's hash and the network.
_PLAIN = {_INPUTS, _OUTPUTS, _FEE, _END, 7, 8, 15}
#: Fields that a transaction with scripts needs in addition: hash of its data, returned collateral,
#: references.
_OF_SCRIPTS = {11, _COLLATERAL, _SIGNERS, _RETURN, _TOTAL_COLLATERAL, 18}
#: Fields that a launch may have.
LAUNCH_FIELDS = frozenset(_PLAIN | _OF_SCRIPTS | {_MINT})
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
    #: The order must offer exactly this amount.
    input_amount: int
    #: Computed here, of the quote that was seen; the order must not take less.
    min_output: int
    #: From the quote, in lovelace: the executor receives at most `fee`, and `deposit` comes back.
    fee: int
    deposit: int
    #: Hash of the script that holds it, of the quote.
    script: str
    #: Unix ms, the latest from which it may be refunded; None: it never is.
    refund_before: int | None


def bound_of(
    quote: QuoteAnswer,
    side: str,
    amount: int,
    slippage: Slippage,
    most_lovelace: int | None = None,
    min_output: int | None = None,
) -> tuple[int, int]:
    """The most that an order offers and the least that it brings, of the quote that was seen.
    Values given by the caller are not replaced. `slippage` "infinity" of a BUY_WITH_OUTPUT needs
    `most_lovelace`."""
    kept = None if slippage == "infinity" else 100 - int(slippage)
    if side == "BUY_WITH_OUTPUT":
        if most_lovelace is None:
            if kept is None:
                raise ApiError("INVALID_PARAMS", "at any price: name the most lovelace that it may cost")
            most_lovelace = int(quote["inputAmount"]) * 100 // kept
        return most_lovelace, amount if min_output is None else min_output
    least = 1 if kept is None else max(1, -(-int(quote["outputAmount"]) * kept // 100))
    return amount, least if min_output is None else min_output


def terms_of(
    built: OrderAnswer, quote: QuoteAnswer, asset: str, side: str, bound: tuple[int, int]
) -> OrderTerms:
    """The terms that the order must have; from the answer it takes only the value that the server
    may choose: the input. Raises ApiError PRICE_MOVED where that is more than the bound."""
    spent, received = (asset, ".") if side == "SELL" else (".", asset)
    most, least = bound
    given = int(built["inputAmount"]) if side == "BUY_WITH_OUTPUT" else most
    if not 0 < given <= most:
        what = f"it takes {given} lovelace now, more than {most}"
        raise ApiError("PRICE_MOVED", f"not signed: {what}: quote again, and look at the price")
    fees, expires = quote["fees"], quote["expiresAt"]
    refund_before = expires + _MOST_DELAY_MS if expires else None
    fee, deposit = int(fees["executorFee"]), int(fees["deposit"])
    script = quote["orderScript"]
    return OrderTerms(spent, received, given, least, fee, deposit, script, refund_before)


def refuse_unless_order(
    transaction: str, address: str, terms: OrderTerms, must_expire: bool
) -> int:
    """The place of the order among the outputs; raises ApiError NOT_WHAT_WAS_ASKED. `must_expire`:
    not signed where it may be submitted at any later time."""
    _, own = bech32.decode(address)
    outputs = plain_outputs(transaction, must_expire)
    paid_away = [(n, out) for n, out in enumerate(outputs) if out.address != own]
    if len(paid_away) != 1:
        raise _not_signed("it pays others than the one order")
    index, order = paid_away[0]
    is_script = order.address[0] >> 4 in _SCRIPT_KINDS and order.address[0] & 15 == own[0] & 15
    is_named = order.address[1:29].hex() == terms.script
    if not is_script or not is_named or order.address[29:] != own[29:]:
        raise _not_signed("the order is at an unknown address")
    datum = _order_datum(order.datum)
    _refuse_other_terms(datum, own, terms)
    offered = terms.input_amount if terms.input == "." else 0
    on_top = order.lovelace - offered if datum.deposit is None else datum.fee + datum.deposit
    is_dear = on_top > min(_MOST_ON_TOP, terms.fee + terms.deposit) or datum.fee > terms.fee
    if is_dear or datum.fee < 0 or on_top < datum.fee:
        raise _not_signed(f"the order costs {on_top} lovelace on top, {datum.fee} for its executor")
    if datum.amount not in (None, terms.input_amount):
        raise _not_signed("the order offers something else")
    tokens = {} if terms.input == "." else {terms.input: terms.input_amount}
    if (order.lovelace, order.tokens) != (on_top + offered, tokens):
        raise _not_signed("the order holds something else")
    return index


def _refuse_other_terms(datum: _OrderDatum, own: bytes, terms: OrderTerms) -> None:
    if datum.redeemer != _address_data(own) or datum.owner != own[1:29]:
        raise _not_signed("the order is not ours")
    if [datum.input, datum.output] != [asset_data(terms.input), asset_data(terms.output)]:
        raise _not_signed("the order trades other assets")
    numerator, denominator = _ints(constructor_0(datum.worst_price, 2))
    is_price = numerator > 0 and denominator > 0
    if not is_price or -(-terms.input_amount * numerator // denominator) < terms.min_output:
        raise _not_signed("the order takes a worse price")
    if datum.least_part is not None and datum.least_part < terms.min_output:
        raise _not_signed("the order fills in smaller parts")
    if None not in (datum.refund_after, terms.refund_before):
        if datum.refund_after > terms.refund_before:  # type: ignore[operator]
            raise _not_signed("the order waits for longer")


def plain_outputs(transaction: str, must_expire: bool = True) -> list[Output]:
    """Checks a transaction that runs no script and costs at most twice the fee that mainnet asks
    for it; raises ApiError for another one."""
    body = body_of(transaction, _PLAIN)
    if body[_FEE] > 2 * (155_381 + 44 * (len(transaction) // 2 + _SIGNATURE_BYTES)):
        raise _not_signed(f"its fee is {body[_FEE]} lovelace")
    if must_expire and _END not in body:
        raise _not_signed("it never expires")
    return outputs_of(body)


def refuse_unless_reclaim(
    transaction: str, address: str, entity_id: str, must_expire: bool, held: Collection[str]
) -> None:
    """Raises ApiError NOT_WHAT_WAS_ASKED unless it takes back the output `<tx>:<index>`. `held`: the
    wallet's own outputs, `<tx>:<index>` each: only little of them may be at risk as collateral."""
    body = body_of(transaction, _PLAIN | _OF_SCRIPTS)
    refuse_scripted(body, address, must_expire, held)
    _, own = bech32.decode(address)
    if entity_id not in refs_of(body.get(_INPUTS, [])):
        raise _not_signed(f"it does not spend {entity_id}")
    if any(output.address != own for output in outputs_of(body)):
        raise _not_signed("it pays someone else")


def refuse_scripted(
    body: Mapping[int, Any], address: str, must_expire: bool, held: Collection[str]
) -> None:
    """The person who submits a transaction may let its scripts fail: then its collateral moves, and
    nothing else."""
    if must_expire and _END not in body:
        raise _not_signed("it never expires")
    _, own = bech32.decode(address)
    if _COLLATERAL in body:
        risked = body.get(_TOTAL_COLLATERAL)
        if risked is None or risked > _MOST_COLLATERAL:
            raise _not_signed("it risks too much collateral")
        is_ours = any(ref in held for ref in refs_of(body[_COLLATERAL]))
        returned = _output(body[_RETURN]) if _RETURN in body else None
        if returned is not None and returned.address != own:
            if is_ours:
                raise _not_signed("our collateral would return to someone else")
            # The server says which outputs are ours. The ledger has them hold exactly these two sums.
            if returned.lovelace + risked > _MOST_FOREIGN_COLLATERAL or returned.tokens:
                raise _not_signed("more collateral than a server puts up would return to someone else")
    if any(signer != own[1:29] for signer in _items(body.get(_SIGNERS, []))):
        raise _not_signed("it needs the signature of somebody else")


@dataclass(frozen=True)
class Output:
    address: bytes
    lovelace: int
    tokens: dict[str, int]
    #: The inline datum; None without one.
    datum: Any


def body_of(transaction: str, allowed: Collection[int]) -> dict[int, Any]:
    """Its body; raises ApiError where it has other fields than these, or costs too much."""
    try:
        whole = cbor.decode(bytes.fromhex(transaction))
        body, _, is_valid, _ = whole
        strange = set(body) - set(allowed)
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


def outputs_of(body: Mapping[int, Any]) -> list[Output]:
    try:
        return [_output(output) for output in body[_OUTPUTS]]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _not_signed("it has an output that cannot be read") from error


def _output(output: Any) -> Output:
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
    return Output(bytes(address), lovelace, tokens, datum)


def refs_of(values: Any) -> list[str]:
    return [f"{tx.hex()}:{index}" for tx, index in _items(values)]


def _items(values: Any) -> Sequence[Any]:
    """Items of a list, or of a set as Conway tags it."""
    listed = values.value if isinstance(values, cbor.Tag) else values
    return listed if isinstance(listed, list) else []


def constructor_0(data: Any, count: int) -> list[Any]:
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
    #: For the executor.
    fee: int
    #: None: everything that the output holds besides offer and fee.
    deposit: int | None
    #: None: the whole value of the output.
    amount: int | None
    #: None: it is never refunded.
    refund_after: int | None
    #: Least output of each part; None: it is filled whole.
    least_part: int | None


def _order_datum(datum: Any) -> _OrderDatum:
    fields = getattr(datum, "value", None)
    tag = fields[0] if isinstance(fields, list) and fields else None
    if not isinstance(tag, bytes) or tag not in _ORDER_FIELDS:
        raise _not_signed("the order has no datum of an order")
    values = constructor_0(datum, _ORDER_FIELDS[tag])
    if tag == _LIMIT_ORDER:
        # Not looked at: tag, beacon, executors.
        _, _, given, amount, step, part, gotten, price, fee, redeemer, owner, _ = values
        _ints([amount, step, part, fee])
        return _OrderDatum(redeemer, owner, given, gotten, price, step + fee, None, amount, None, part)
    fee, deposit, refund_after = _ints([values[5], values[6], values[8]])
    given, gotten, price = values[2:5]
    return _OrderDatum(values[1], values[9], given, gotten, price, fee, deposit, None, refund_after, None)


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


def asset_data(asset: str) -> cbor.Tag:
    policy, _, name = asset.partition(".")
    return cbor.Tag(_CONSTRUCTOR_0, [bytes.fromhex(policy), bytes.fromhex(name)])


def _not_signed(why: str) -> ApiError:
    return ApiError("NOT_WHAT_WAS_ASKED", f"not signed: {why}")
