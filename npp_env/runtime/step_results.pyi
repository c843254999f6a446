from typing import Any

import numpy as np
from numpy.typing import NDArray

INFO_KEYS: tuple[str, ...]
COLUMNS: tuple[tuple[str, type[np.generic]], ...]

class StepResults:
    block: NDArray[np.uint8]
    def __init__(self, num_envs: int) -> None: ...
    def hand_out(self) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]: ...

class ResultMemory:
    num_envs: int
    def __init__(self, num_envs: int) -> None: ...
    def free(self) -> StepResults: ...
    @property
    def nbytes(self) -> int: ...
