from typing import Any

import numpy as np
from numpy.typing import NDArray

def build_around(tiles: NDArray[np.uint8], walls: NDArray[Any], start: NDArray[np.uint16]) -> NDArray[np.uint32]: ...
def build_lines(walls: NDArray[Any]) -> NDArray[np.uint64]: ...
