import numpy as np
from numpy.typing import NDArray

from npp_env.observe.path_features import PathHandle
from npp_env.sim.kernel import LevelHandle

class Assignment:
    level: LevelHandle
    paths: PathHandle | None
    background: NDArray[np.uint8] | None
    def __init__(
        self,
        level: LevelHandle,
        paths: PathHandle | None,
        background: NDArray[np.uint8] | None,
        limit_frames: int,
        gold: int,
        index: int,
    ) -> None: ...
