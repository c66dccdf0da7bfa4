"""Tests without a server: rows of mirrors, keys, amounts, CBOR, DataFrames."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from upcurve import Key, ada_of, lovelace_of, payment_key_hash, price_of, transaction_id
from upcurve import bech32, cbor
from upcurve.backoff import RETRY
from upcurve.dataframes import bars_frame, trades_frame
from upcurve.mirrors.bar_list import BarRows
from upcurve.mirrors.orders import OrdersState, merged
from upcurve.position import Position, read_position

#: RFC 8032, section 7.1, test 1; CIP-19's test vectors for the addresses.
SECRET = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
PUBLIC = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
SIGNATURE = (
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
    "d25bf5f0595bbe24655141438e7a100b"
)
CIP19 = "addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8"
CIP19_KEY_HASH = "9493315cd92eb5d8c4304e67b7e16ae36d61d34502694657811a2c8e"


def test_keys_are_those_of_the_standards() -> None:
    key = Key(SECRET)
    assert key.public_key == PUBLIC
    assert key.sign(b"").hex() == SIGNATURE
    assert SECRET not in repr(key)
    for wrong in ("", "ab", SECRET + "00", "zz" * 32):
        with pytest.raises(ValueError):
            Key(wrong)
    assert payment_key_hash(CIP19) == CIP19_KEY_HASH
    for network in ("mainnet", "testnet"):
        address = key.address(network)  # type: ignore[arg-type]
        assert payment_key_hash(address) == key.hash
        assert payment_key_hash(key.address(network, "ab" * 28)) == key.hash  # type: ignore[arg-type]


def test_wrong_addresses_are_refused() -> None:
    typo = CIP19[:-1] + ("q" if CIP19[-1] != "q" else "p")
    script = bech32.encode("addr", bytes([0x71]) + bytes(28))
    for wrong in ("", "addr1", "nonsense", typo, CIP19.replace("v", "V", 1), script):
        with pytest.raises(ValueError):
            payment_key_hash(wrong)


def test_a_transaction_is_signed_over_the_bytes_of_its_body() -> None:
    # [{0: [], 2: 1000}, {}, true, null], and the same with lists of indefinite length.
    body = bytes.fromhex("a20080021903e8")
    for transaction in ("84" + body.hex() + "a0f5f6", "9f" + body.hex() + "a0f5f6ff"):
        key = Key(SECRET)
        assert cbor.first_of_list(bytes.fromhex(transaction)) == body
        expected = "a100818258" + "20" + PUBLIC + "5840"
        witness = key.witness(transaction)
        assert witness.startswith(expected)
        signature = bytes.fromhex(witness[len(expected) :])
        assert signature == key.sign(bytes.fromhex(transaction_id(transaction)))


def test_what_is_no_transaction_is_refused() -> None:
    for wrong in ("", "80", "a0", "84", "8218", "84" + "81" * 200, "821b00", "83ff", "841c"):
        with pytest.raises(ValueError):
            transaction_id(wrong)


def test_amounts_are_exact() -> None:
    assert [lovelace_of(ada) for ada in (5, "0.000001", Decimal("12.5"))] == [5_000_000, 1, 12_500_000]
    assert str(ada_of("12500001")) == "12.500001"
    assert price_of({"numerator": "1", "denominator": "3"}) == Fraction(1, 3)
    with pytest.raises(ValueError):
        lovelace_of("0.0000001")
    with pytest.raises(TypeError):
        lovelace_of(0.1)  # type: ignore[arg-type]


def test_positions_are_ordered_by_epoch_and_seq() -> None:
    known = read_position("7-abc:12")
    assert known == Position("7-abc", 12)
    assert known.includes(Position("7-abc", 12)) and not known.includes(Position("7-abc", 13))
    assert known.includes(Position("6-zzz", 99)) and not known.includes(Position("10-aaa", 0))
    for wrong in (None, "", "7-abc", "abc:12", "7-abc:-1", "7-abc:12 "):
        assert read_position(wrong) is None


def test_tries_back_off_with_jitter_up_to_a_limit() -> None:
    for failures in range(40):
        whole = min(15.0, 0.25 * 2**failures)
        waits = [RETRY.after(failures) for _ in range(50)]
        assert all(whole / 2 <= wait <= whole for wait in waits)
        assert len(set(waits)) > 1


def _bar(time: int, close: str, trades: int = 1) -> dict[str, Any]:
    return {"time": time, "close": close, "trades": trades}


def test_bars_are_those_of_a_model_after_random_patches() -> None:
    rng = random.Random(1)
    for _ in range(200):
        model = {time: _bar(time, "0") for time in range(5, 9)}
        has_older = rng.random() < 0.5
        rows: BarRows[Any] = BarRows(list(model.values()), has_older)
        for _ in range(20):
            time = rng.randrange(12)
            is_before = has_older and (not model or time < min(model))
            if rng.random() < 0.3:
                rows.apply([{"time": time, "removed": True}], False)
                model.pop(time, None)
            else:
                bar = _bar(time, str(rng.random()))
                rows.apply([bar], False)
                if not is_before:
                    model[time] = bar
            assert rows.bars == [model[time] for time in sorted(model)]


def test_a_flat_bar_without_trades_stands_for_what_a_rollback_removed() -> None:
    rows: BarRows[Any] = BarRows([_bar(1, "1")], False)
    assert rows.apply([_bar(1, "9", trades=0)], False) == ([], [1])
    assert (rows.bars, rows.standing) == ([], _bar(1, "9", trades=0))
    assert rows.apply([_bar(2, "2")], False) == ([_bar(2, "2")], [])
    assert rows.standing is None
    filled: BarRows[Any] = BarRows([], False)
    assert filled.apply([_bar(1, "9", trades=0)], True) == ([_bar(1, "9", trades=0)], [])


def _order(id: str, second: int, status: str = "Pending") -> Any:
    return {"entityId": id, "timestamp": second, "status": status}


def _ids(orders: Any) -> list[str]:
    return [order["entityId"] for order in orders]


def _changes(ledger: Any = (), mempool: Any = (), removed: Any = ()) -> Any:
    return {"ledger": list(ledger), "mempool": list(mempool), "removed": list(removed)}


def test_changed_orders_take_their_place_newest_first() -> None:
    known = OrdersState(True, (_order("c", 3), _order("b", 2), _order("a", 1)), (_order("m", 9),), 3)
    news = [_order("m", 4), _order("d", 3), _order("b", 2, "Evaluated")]
    ledger, mempool = merged(known, _changes(news))
    assert (_ids(ledger), _ids(mempool)) == (["m", "d", "c", "b", "a"], [])
    assert ledger[3]["status"] == "Evaluated"
    # Back into the mempool, and gone.
    ledger, mempool = merged(known, _changes((), [_order("c", 3)], ["a", "m"]))
    assert (_ids(ledger), _ids(mempool)) == (["b"], ["c"])
    # With another second after a fork.
    ledger, _ = merged(known, _changes([_order("a", 5)]))
    assert _ids(ledger) == ["a", "c", "b"]
    # The chain has more than is shown: orders older than the shown ones are left out.
    some = OrdersState(True, (_order("c", 3), _order("b", 2)), (), 9)
    assert _ids(merged(some, _changes([_order("z", 1)]))[0]) == ["c", "b"]


def test_frames_are_exact() -> None:
    bar = {
        "time": 60,
        "open": "0.000002545182",
        "high": "0.1",
        "low": "0.000000000000000001",
        "close": "12345678901234567890.123456789012345678",
        "volume": "1",
        "baseVolume": "2",
        "trades": 3,
        "final": True,
    }
    frame = bars_frame([bar])
    assert frame["close"].iloc[0] == Decimal(bar["close"])
    assert str(frame["low"].iloc[0] + 0).endswith("E-18")
    assert frame["trades"].dtype == "int64" and frame["final"].dtype == "bool"
    assert str(frame.index[0]) == "1970-01-01 00:01:00+00:00"
    assert list(bars_frame([]).columns)[:4] == ["open", "high", "low", "close"]
    row: Any = {"id": "2", "time": 5, "side": "buy", "price": "0.1", "baseAmount": str(2**70)}
    tape = trades_frame([{**row, "quoteAmount": "1"}, {**row, "id": "1", "quoteAmount": "2"}])
    assert list(tape["id"]) == ["1", "2"] and tape["baseAmount"].sum() == 2**71
