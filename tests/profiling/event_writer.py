"""Writes TensorBoard event files, for tests; a second reading of the format."""

from __future__ import annotations

import struct
from pathlib import Path


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes([*written, value])


def message(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def record(content: bytes) -> bytes:
    return struct.pack("<QI", len(content), 0) + content + bytes(4)


def event(step: int, *values: bytes) -> bytes:
    """With its time, which readers of scalars do not need."""
    summary = message(5, b"".join(message(1, value) for value in values)) if values else b""
    return record(b"\x09" + struct.pack("<d", 1.7e9) + b"\x10" + varint(step) + summary)


def scalar(tag: str, value: float) -> bytes:
    return message(1, tag.encode()) + b"\x15" + struct.pack("<f", value)


def write_events(path: Path, scalars: list[tuple[str, int, float]]) -> None:
    version = record(b"\x09" + struct.pack("<d", 1.7e9) + message(3, b"brain.Event:2"))
    path.write_bytes(version + b"".join(event(step, scalar(tag, value)) for tag, step, value in scalars))
