"""Checks that a receiver of webhooks makes."""

from __future__ import annotations

from upcurve import is_from_webhook

SECRET = "a-secret-of-this-test"
BODY = '[{"event":"TradesUpdate","data":"ä"}]'.encode()
NOW = 1_800_000_000
#: As the server signs it: the same in test/client/webhookSignature.test.ts.
KNOWN = (
    "t=1800000000,"
    "v1=01c9e9934f774bde1e9a6288a9ef74716c609ffcfa9c0af1212d7fbb4a11bbdd"
)


def test_a_delivery_of_the_server_is_known() -> None:
    assert is_from_webhook(SECRET, KNOWN, BODY, NOW)
    assert is_from_webhook(SECRET, KNOWN, BODY, NOW + 299)


def test_another_body_secret_or_time_is_refused() -> None:
    assert not is_from_webhook(SECRET, KNOWN, BODY + b" ", NOW)
    assert not is_from_webhook(SECRET + "x", KNOWN, BODY, NOW)
    assert not is_from_webhook(SECRET, KNOWN, BODY, NOW + 301)
    assert not is_from_webhook(SECRET, KNOWN, BODY)
    later = KNOWN.replace("t=18", "t=19")
    assert not is_from_webhook(SECRET, later, BODY, 1_900_000_000)
    for sent in ("", "v1=00", KNOWN.upper(), KNOWN + ",v2=0", "t=1,v1="):
        assert not is_from_webhook(SECRET, sent, BODY, NOW)
