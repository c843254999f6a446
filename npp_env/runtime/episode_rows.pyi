from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.config import RewardConfig
from npp_env.observe.spec import Capacity

SLOT: np.dtype[Any]
HELD: np.dtype[Any]
INPUT_OF_ACTION: tuple[int, ...]

class EpisodeRows:
    num_envs: int
    stride: int
    states: NDArray[np.uint8]
    slots: NDArray[Any]
    ended: NDArray[np.bool_]
    n_unfinished: int
    def __init__(
        self, num_envs: int, stride: int, frame_skip: int, reward: RewardConfig, capacity: Capacity
    ) -> None: ...
