"""Damages saved states, bit by bit."""

from __future__ import annotations

from typing import Any

import pytest

from npp_env.errors import StateError


def refuse_every_flipped_bit(played: Any) -> None:
    """A simulation or an environment refuses its own state with any one bit flipped, and stays as it is."""
    good = played.get_state()
    damaged = bytearray(good)
    for bit in range(8 * len(good)):
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(StateError):
            played.set_state(bytes(damaged))
        damaged[bit // 8] ^= 1 << bit % 8
    assert played.get_state() == good
