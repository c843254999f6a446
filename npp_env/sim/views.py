"""Named views of the bytes of a state; nothing here copies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.sim.geometry import Geometry
from npp_env.sim.structs import MOVER, NINJA, SWITCHED_EXIT


def ninja_view(states: NDArray[np.uint8]) -> NDArray[Any]:
    """The ninjas of states (..., stride) as a structured array (...,); a view."""
    return states[..., : NINJA.itemsize].view(NINJA)[..., 0]


def movers_view(state: NDArray[np.uint8], geometry: Geometry) -> NDArray[Any]:
    """The movers of one state (stride,) of this level as a structured array (n,); a view."""
    end = NINJA.itemsize + len(geometry["mover_entity"]) * MOVER.itemsize
    return state[NINJA.itemsize : end].view(MOVER)


def flags_view(state: NDArray[np.uint8], geometry: Geometry) -> NDArray[np.uint8]:
    """The flags of one state (stride,) of this level, by the `slot` of an entity at rest; a view."""
    start = NINJA.itemsize + len(geometry["mover_entity"]) * MOVER.itemsize
    return state[start : start + int(geometry["scalars"][1])]


def switches_taken(state: NDArray[np.uint8], geometry: Geometry) -> NDArray[np.uint8]:
    """1 for every switch taken in one state (stride,): of locked and trap doors, then of exits where there are several.

    Returns:
        A fresh array, in the order of the bits of a door configuration.
    """
    doors = geometry["doors"]
    switched = doors[doors["switched"] != 0]
    bit = (SWITCHED_EXIT - switched["switched"]).astype(np.uint8)
    taken: NDArray[np.uint8] = flags_view(state, geometry)[switched["flag"]] >> bit & 1
    return taken


def bit_mask(bits: NDArray[np.uint8]) -> int:
    """Zeros and ones as a number, the first one as its lowest bit."""
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")
