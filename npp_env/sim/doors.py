"""Which switches of a level are taken in a state: its door configuration; `doors.pxd` has the same rule in C."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.sim.geometry import Geometry
from npp_env.sim.structs import SWITCHED_EXIT
from npp_env.sim.views import flags_view


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


def door_configuration(state: NDArray[np.uint8], geometry: Geometry) -> int:
    """The configuration of one state (stride,) as a bit mask: the first of `switches_taken` is its lowest bit."""
    if not len(geometry["doors"]):
        return 0
    bits = np.packbits(switches_taken(state, geometry), bitorder="little")
    return int.from_bytes(bits.tobytes(), "little")
