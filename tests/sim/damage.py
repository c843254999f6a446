"""Damages and forges saved states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.checksums import resealed_block

from npp_env.errors import StateError
from npp_env.sim import Simulation

HEADER_BYTES = 32


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


def restore_forged(simulation: Simulation, forged: np.ndarray) -> None:
    """Restore bytes as if they had been saved, with a checksum that fits."""
    block = simulation.get_state()[: HEADER_BYTES + 8] + forged.tobytes()
    simulation.set_state(resealed_block(block, HEADER_BYTES))
