"""Where a plan begins: a state of a level in any of the forms in which the package hands states out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import StateError
from npp_env.level.model import Level
from npp_env.observe.state_row import STATE_ROW, check_row
from npp_env.runtime.saved_state import SAVED_STATE_MAGIC, read_saved_state
from npp_env.sim.kernel import LevelHandle
from npp_env.sim.simulation import unpack_state
from npp_env.sim.validity import check_state

AnyState = bytes | NDArray[np.uint8]
"""`get_state()` of an environment or a simulation, a row of the `state` layout, or the plain bytes of a state."""


def plain_state(level: Level, handle: LevelHandle, state: AnyState) -> NDArray[np.uint8]:
    """The bytes of a state alone, checked; a fresh array (handle.state_bytes,).

    Raises:
        StateError: They are foreign, damaged, of another level, or no valid state of this one.
    """
    if isinstance(state, np.ndarray) and state.shape == (handle.state_bytes,) and state.dtype == np.uint8:
        plain = state
    elif isinstance(state, np.ndarray) or bytes(state[:4]) == SAVED_STATE_MAGIC:
        saved = read_saved_state(state)
        if saved.level_hash != level.hash:
            raise StateError(f"the state belongs to level {saved.level_hash}, this is level {level.hash}")
        if saved.is_row:
            check_row(handle, saved.state)
        first = STATE_ROW.itemsize if saved.is_row else 0
        plain = saved.state[first : first + handle.state_bytes]
    else:
        plain = unpack_state(state, level.hash, handle.state_bytes)
    copied: NDArray[np.uint8] = plain.copy()
    check_state(handle, copied)
    return copied
