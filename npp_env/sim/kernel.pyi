from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.sim.turn import Turn

class LevelHandle:
    geometry: Any
    address: int
    state_bytes: int
    def __init__(self, geometry: Any, guarded: bool = False) -> None: ...

class Batch:
    states: NDArray[np.uint8]
    addresses: NDArray[np.uintp]
    num_envs: int
    stride: int
    turn: Turn
    def __init__(self, num_envs: int, stride: int) -> None: ...
    def set_level(self, i: int, handle: LevelHandle) -> None: ...
    def set_levels(self, handle: LevelHandle) -> None: ...
    def restart(self, i: int) -> None: ...
    def advance_one(self, i: int, byte: int, ticks: int = 1, stop: bool = True) -> int: ...
    def advance(self, inputs: NDArray[np.uint8], ticks: int = 1, stop: bool = True) -> None: ...
    def advance_range(
        self, inputs: NDArray[np.uint8], first: int, last: int, ticks: int = 1, stop: bool = True
    ) -> None: ...

def complete_initial_state(geometry: Any) -> None: ...
