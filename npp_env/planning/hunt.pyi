from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.planning.state_keys import StateKeys
from npp_env.runtime.thread_pool import ThreadPool
from npp_env.sim.kernel import LevelHandle

MOST_TICKS: int

class Hunter:
    def __init__(
        self,
        handle: LevelHandle,
        keys: StateKeys,
        graph: Any,
        columns: NDArray[np.int64],
        initial: NDArray[np.uint8],
        frame_skip: int,
    ) -> None: ...
    def add_table(self, configuration: int, table: NDArray[np.float32]) -> None: ...
    def configurations(self) -> NDArray[np.int64]: ...
    def set_branches(
        self,
        keys: NDArray[np.uint64],
        first_step: NDArray[np.int64],
        left: NDArray[np.int64],
        steps: NDArray[np.uint8],
    ) -> None: ...
    def run(
        self, states: NDArray[np.uint8], ticks: NDArray[np.int64], pool: ThreadPool
    ) -> tuple[list[NDArray[np.uint8] | None], int, list[int]]: ...
