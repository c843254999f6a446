from typing import Any

import numpy as np
from numpy.typing import NDArray

def build_outlooks(
    tiles: NDArray[np.uint8], walls: NDArray[Any], cells: NDArray[np.int64], turrets: NDArray[np.float64]
) -> NDArray[np.uint8]: ...
