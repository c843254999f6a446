"""What the uncompiled observers use in place of C: float16 bits and a view of plain objects."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

_HALF = struct.Struct("<e")
_BITS = struct.Struct("<H")


def half(value: float) -> int:
    """Bits of the nearest float16, ties to even."""
    return int(_BITS.unpack(_HALF.pack(value))[0])


def unit(z: float) -> float:
    """Cut to [-1, 1]."""
    return -1.0 if z < -1 else 1.0 if z > 1 else z


def rint(value: float) -> float:
    """Nearest whole number, ties to even."""
    return float(round(value))


def plain_view(world: Any, **context: Any) -> SimpleNamespace:
    """A view for the uncompiled observers, with the attributes of the C struct."""
    return SimpleNamespace(world=world, **context)
