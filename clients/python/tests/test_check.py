"""Limit orders for pools of Splash, as a server of mainnet builds them: no devnet has such pools."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from upcurve import ApiError, bech32, check

ORDERS = json.loads((Path(__file__).parent / "splash_orders.json").read_text())


def _terms(order: Any) -> check.OrderTerms:
    price, amount = order["worstPrice"], int(order["inputAmount"])
    least = -(-amount * int(price["numerator"]) // int(price["denominator"]))
    # The output's address in the bytes: a script with the owner's stake part.
    at = order["cbor"].index("5839") + 6
    script = order["cbor"][at : at + 56]
    return check.OrderTerms(
        order["input"], order["output"], amount, least, 2_000_000, 1_600_000, script, None
    )


@pytest.mark.parametrize("order", ORDERS, ids=["buy", "sell"])
def test_a_limit_order_is_signed_as_asked_and_not_otherwise(order: Any) -> None:
    sent, address, owner, terms = order["cbor"], order["address"], order["owner"], _terms(order)
    assert check.refuse_unless_order(sent, address, terms, False) == 0

    def refused(why: str, transaction: str, asked: check.OrderTerms = terms) -> None:
        with pytest.raises(ApiError) as error:
            check.refuse_unless_order(transaction, address, asked, False)
        assert error.value.cause == "NOT_WHAT_WAS_ASKED"
        assert why in error.value.message, error.value.message

    refused("worse price", sent, replace(terms, min_output=terms.min_output + 1))
    fewer = replace(terms, input_amount=terms.input_amount - 1, min_output=1)
    refused("offers something else", sent, fewer)
    refused("unknown address", sent, replace(terms, script="78" * 28))
    refused("lovelace on top", sent, replace(terms, fee=1))
    refused("other assets", sent, replace(terms, output="00" * 28 + ".00"))
    # In the datum: the recipient, the key that may cancel, and the amount offered.
    datum = sent.index("d818")
    first = sent.index(owner, datum)
    for at in (first, sent.index(owner, first + 56)):
        refused("not ours", sent[:at] + "ab" * 28 + sent[at + 56 :])
    amount = f"1a{terms.input_amount:08x}"
    at = sent.index(amount, datum)
    refused("offers something else", f"{sent[:at]}{amount[:-1]}f{sent[at + 10 :]}")


def test_collateral_that_a_server_may_have_hidden_is_little() -> None:
    """It says which outputs are ours: of one that is not known, no more returns to it than it puts up."""
    owner = ORDERS[0]["address"]
    _, own = bech32.decode(owner)
    stranger = own[:1] + bytes(28) + own[29:]

    def refuse(returned: Any, address: bytes = stranger) -> None:
        put_up = {13: [[bytes(32), 0]], 16: {0: address, 1: returned}, 17: 500_000}
        check.refuse_scripted({3: 1, **put_up}, owner, True, set())

    refuse(9_500_000)
    refuse(900_000_000, own)
    for returned in (9_500_001, [1_000_000, {bytes(28): {b"": 1}}]):
        with pytest.raises(ApiError, match="more collateral than a server puts up"):
            refuse(returned)


def test_a_limit_order_that_holds_much_more_is_refused() -> None:
    [buy, _] = ORDERS
    held = f"1a{53_500_000:08x}"
    assert held in buy["cbor"]
    with pytest.raises(ApiError, match="lovelace on top"):
        more = buy["cbor"].replace(held, f"1a{56_000_000:08x}")
        check.refuse_unless_order(more, buy["address"], _terms(buy), False)
