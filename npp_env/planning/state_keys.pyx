"""Keys under which states that are nearly the same count as one."""

import numpy as np

from npp_env.level.entity_kinds import EntityKind, kinds_where
from npp_env.sim.structs import MOVER, NINJA, address_of

MINES = sorted(kinds_where(family="mines"))


cdef class StateKeys:
    """Computes keys of states of one level.

    Args:
        geometry: The compiled level.
        resolution: How finely states are told apart.
    """

    def __init__(self, geometry, resolution) -> None:
        movers_end = NINJA.itemsize + len(geometry["mover_entity"]) * MOVER.itemsize
        entities = geometry["entities"]
        kinds = entities["kind"][geometry["mover_entity"]]
        moving = np.flatnonzero(kinds != EntityKind.EXIT).astype(np.int32)
        mines = movers_end + entities["slot"][np.isin(entities["kind"], MINES)].astype(np.int32)
        self.arrays = (moving, mines)
        self.rule.position_px, self.rule.speed_px = resolution.position_px, resolution.speed_px
        self.rule.mover_px, self.rule.mover_reach_px = resolution.mover_px, resolution.mover_reach_px
        self.rule.hold_ticks = resolution.hold_ticks
        self.rule.n_moving, self.rule.n_mines = len(moving), len(mines)
        self.rule.moving = <int*><size_t>address_of(moving)
        self.rule.mines = <int*><size_t>address_of(mines)

    def of(self, states, configurations):
        """Key of each state.

        Args:
            states: uint8 (n, state_bytes), valid states.
            configurations: int64 (n,), which switches are touched.

        Returns:
            A fresh uint64 array (n,).
        """
        cdef const unsigned char[:, ::1] rows = np.ascontiguousarray(states)
        cdef const long long[::1] switches = np.ascontiguousarray(configurations, np.int64)
        keys = np.empty(rows.shape[0], np.uint64)
        cdef unsigned long long[::1] out = keys
        cdef Py_ssize_t i
        if switches.shape[0] != rows.shape[0]:
            raise ValueError(f"{rows.shape[0]} states, {switches.shape[0]} configurations")
        with nogil:
            for i in range(rows.shape[0]):
                out[i] = key_of(&self.rule, <unsigned char*>&rows[i, 0], switches[i])
        return keys
