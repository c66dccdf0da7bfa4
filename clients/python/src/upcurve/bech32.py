"""Addresses as text: bech32 (BIP 173) without its limit of length, as CIP-19 has it."""

from __future__ import annotations

_LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def encode(prefix: str, data: bytes) -> str:
    words = _words(data, 8, 5, pads=True)
    sum_of_it = _polymod(_expanded(prefix) + words + [0] * 6) ^ 1
    check = [(sum_of_it >> 5 * (5 - place)) & 31 for place in range(6)]
    return f"{prefix}1" + "".join(_LETTERS[word] for word in words + check)


def decode(text: str) -> tuple[str, bytes]:
    """Raises ValueError if the text is not bech32."""
    prefix, separator, rest = text.lower().rpartition("1")
    is_one_case = text in (text.lower(), text.upper())
    is_known = all(letter in _LETTERS for letter in rest)
    if not separator or not prefix or len(rest) < 6 or not is_known or not is_one_case:
        raise ValueError(f"{text} is not bech32")
    words = [_LETTERS.index(letter) for letter in rest]
    if _polymod(_expanded(prefix) + words) != 1:
        raise ValueError(f"{text} has a wrong checksum")
    return prefix, bytes(_words(bytes(words[:-6]), 5, 8, pads=False))


def _words(data: bytes, size: int, target: int, pads: bool) -> list[int]:
    words: list[int] = []
    held = bits = 0
    for byte in data:
        held = (held << size) | byte
        bits += size
        while bits >= target:
            bits -= target
            words.append((held >> bits) & ((1 << target) - 1))
        held &= (1 << bits) - 1
    if pads and bits > 0:
        words.append((held << (target - bits)) & ((1 << target) - 1))
    if not pads and (bits >= size or held != 0):
        raise ValueError("bits are left over")
    return words


def _expanded(prefix: str) -> list[int]:
    codes = [ord(letter) for letter in prefix]
    return [code >> 5 for code in codes] + [0] + [code & 31 for code in codes]


def _polymod(words: list[int]) -> int:
    value = 1
    for word in words:
        top = value >> 25
        value = (value & 0x1FFFFFF) << 5 ^ word
        for bit, generator in enumerate(_GENERATORS):
            if (top >> bit) & 1:
                value ^= generator
    return value
