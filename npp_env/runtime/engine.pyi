from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.config import RewardConfig
from npp_env.observe.path_features import PathHandle
from npp_env.observe.spec import Capacity
from npp_env.sim.kernel import LevelHandle

SLOT: np.dtype[Any]
INPUT_OF_ACTION: tuple[int, ...]

class Engine:
    num_envs: int
    stride: int
    states: NDArray[np.uint8]
    slots: NDArray[Any]
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    level_handles: list[LevelHandle | None]
    path_handles: list[PathHandle | None]
    backgrounds: list[NDArray[np.uint8] | None]
    def __init__(
        self, num_envs: int, stride: int, frame_skip: int, reward: RewardConfig, capacity: Capacity
    ) -> None: ...
    def set_outputs(self, buffer: int, arrays: list[tuple[int, NDArray[np.uint8], int]]) -> None: ...
    def grow(self, stride: int) -> None: ...
    def assign(
        self,
        i: int,
        level: LevelHandle,
        paths: PathHandle | None,
        background: NDArray[np.uint8] | None,
        limit_frames: int,
        gold: int,
        index: int,
    ) -> None: ...
    def set_paths(self, i: int, paths: PathHandle | None) -> None: ...
    def restart(self, indices: NDArray[np.int64], fresh: bool) -> None: ...
    def reread(self, i: int) -> None: ...
    def advance(self, actions: NDArray[np.uint8], first: int, last: int) -> None: ...
    def finish(self, buffer: int, first: int, last: int) -> None: ...
    def observe(self, buffer: int, indices: NDArray[np.int64]) -> None: ...
    def write_key(self, key: int, out: NDArray[np.uint8]) -> None: ...
    def status(self, i: int) -> tuple[int, int, int, int, int, float, int]: ...
