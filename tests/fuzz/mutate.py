"""Changes of bytes that find their way into readers: bits, numbers at the edge, pieces moved, doubled and cut."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence

MAX_BYTES = 1 << 20
WHOLE = (0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 1023, 4095, 32767, 32768, 65535, 65536)
EDGES = (*WHOLE, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1)
NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, 1e6, -1e6, float("inf"), float("-inf"), float("nan"), 5e-324)

Change = Callable[[random.Random, bytearray], None]


def _flip_bit(rng: random.Random, data: bytearray) -> None:
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set_byte(rng: random.Random, data: bytearray) -> None:
    data[rng.randrange(len(data))] = rng.randrange(256)


def _add_to_byte(rng: random.Random, data: bytearray) -> None:
    place = rng.randrange(len(data))
    data[place] = (data[place] + rng.choice((-16, -2, -1, 1, 2, 16))) % 256


def _set_whole(rng: random.Random, data: bytearray) -> None:
    width = rng.choice((1, 2, 4, 8))
    value = rng.choice(EDGES) * rng.choice((1, 1, 1, -1))
    _place(rng, data, (value % (1 << 8 * width)).to_bytes(width, "little"))


def _set_float(rng: random.Random, data: bytearray) -> None:
    value = rng.choice(NUMBERS)
    layout = "<f" if rng.random() < 0.3 and abs(value) != 1e300 else "<d"
    _place(rng, data, struct.pack(layout, value), aligned=rng.random() < 0.8)


def _place(rng: random.Random, data: bytearray, piece: bytes, aligned: bool = False) -> None:
    place = rng.randrange(len(data))
    if aligned:
        place -= place % len(piece)
    if place + len(piece) <= len(data):
        data[place : place + len(piece)] = piece


def _delete(rng: random.Random, data: bytearray) -> None:
    start = rng.randrange(len(data))
    del data[start : start + _length(rng)]


def _cut_off(rng: random.Random, data: bytearray) -> None:
    del data[rng.randrange(len(data)) :]


def _double(rng: random.Random, data: bytearray) -> None:
    start = rng.randrange(len(data))
    piece = bytes(data[start : start + _length(rng)])
    times = 1 if rng.random() < 0.9 else rng.randrange(2, 300)
    if len(data) + times * len(piece) <= MAX_BYTES:
        data[start:start] = piece * times


def _copy_within(rng: random.Random, data: bytearray) -> None:
    start = rng.randrange(len(data))
    _place(rng, data, bytes(data[start : start + _length(rng)]))


def _insert(rng: random.Random, data: bytearray) -> None:
    start = rng.randrange(len(data) + 1)
    data[start:start] = (
        rng.randbytes(_length(rng)) if rng.random() < 0.5 else bytes([rng.randrange(256)]) * _length(rng)
    )


def _swap_lines(rng: random.Random, data: bytearray) -> None:
    lines = bytes(data).split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    data[:] = b"\n".join(lines)


def _change_decimal(rng: random.Random, data: bytearray) -> None:
    """Another number in place of one that is written in digits."""
    place = rng.randrange(len(data))
    while place < len(data) and not 48 <= data[place] <= 57:
        place += 1
    end = place
    while end < len(data) and 48 <= data[end] <= 57:
        end += 1
    data[place:end] = str(rng.choice(EDGES) * rng.choice((1, 1, -1))).encode()


def _length(rng: random.Random) -> int:
    return rng.choice((1, 1, 2, 4, 5, 8, 16, 40, rng.randrange(1, 200)))


BINARY: tuple[Change, ...] = (
    _flip_bit,
    _set_byte,
    _add_to_byte,
    _set_whole,
    _set_float,
    _delete,
    _cut_off,
    _double,
    _copy_within,
    _insert,
)
TEXT: tuple[Change, ...] = (*BINARY, _swap_lines, _change_decimal, _change_decimal)
FIXED_LENGTH: tuple[Change, ...] = (
    _flip_bit,
    _set_byte,
    _add_to_byte,
    _set_whole,
    _set_float,
    _set_float,
    _copy_within,
)
"""Changes that keep the length, for content whose length is known from elsewhere."""


class Mutator:
    """Makes new inputs out of old ones.

    Args:
        rng: Source of chance.
        changes: What may be done.
        tokens: Pieces that mean something to the reader.
    """

    def __init__(self, rng: random.Random, changes: Sequence[Change], tokens: Sequence[bytes]) -> None:
        self._rng, self._changes, self._tokens = rng, changes, tokens

    def mutate(self, data: bytes, other: bytes) -> bytes:
        """A changed copy of some bytes, at times with a piece of another input in it."""
        rng = self._rng
        changed = bytearray(data or b"\0")
        for _ in range(rng.choice((1, 1, 1, 1, 2, 3, 8))):
            if not changed:
                changed = bytearray(b"\0")
            draw = rng.random()
            if draw < 0.1 and self._tokens:
                self._put_token(changed)
            elif draw < 0.15 and other and self._changes is not FIXED_LENGTH:
                start = rng.randrange(len(other))
                place = rng.randrange(len(changed) + 1)
                changed[place : place + rng.choice((0, 1, 8, 40))] = other[start : start + _length(rng)]
            else:
                rng.choice(self._changes)(rng, changed)
        return bytes(changed[:MAX_BYTES])

    def _put_token(self, data: bytearray) -> None:
        token = self._rng.choice(self._tokens)
        place = self._rng.randrange(len(data) + 1)
        data[place : place + (len(token) if self._rng.random() < 0.5 else 0)] = token
