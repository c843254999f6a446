import numpy as np
from numpy.typing import NDArray

def find_node(
    nearest: NDArray[np.uint16], split_half: NDArray[np.uint16], split_node: NDArray[np.uint16], x: float, y: float
) -> int: ...
