"""Named views of the bytes of a state; nothing here copies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.sim.geometry import Geometry
from npp_env.sim.structs import MOVER, NINJA


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
