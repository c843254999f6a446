"""The checksum of saved states, read from the documentation (docs/rollouts.md, State rows)."""

from __future__ import annotations

import struct

K, MASK = 0x9E3779B97F4A7C15, 2**64 - 1


def mixed(lane: int, word: int) -> int:
    product = ((lane ^ word) * K) & MASK
    return product ^ (product >> 32)


def checksum(header: bytes, state: bytes) -> int:
    lanes = [K * factor & MASK for factor in (1, 3, 5, 7)]
    for part in (state, header):
        for number, (word,) in enumerate(struct.iter_unpack("<Q", part)):
            lanes[number % 4] = mixed(lanes[number % 4], word)
    return mixed(mixed(lanes[0], lanes[1]), mixed(lanes[2], lanes[3]))


def resealed_row(row: bytes, state_bytes: int) -> bytes:
    """A row of the state layout with the checksum that it should have."""
    return row[:32] + struct.pack("<Q", checksum(row[:32], row[40 : 40 + state_bytes])) + row[40:]


def resealed_block(block: bytes, header_bytes: int) -> bytes:
    """A saved state with the checksum that it should have behind its header."""
    header, state = block[:header_bytes], block[header_bytes + 8 :]
    return header + struct.pack("<Q", checksum(header, state)) + state
