from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.sim.kernel import LevelHandle

STATE_ROW_VERSION: int
STATE_ROW: np.dtype[Any]

def check_row(handle: LevelHandle, row: NDArray[np.uint8]) -> None: ...
