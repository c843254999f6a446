import numpy as np
from numpy.typing import NDArray

def peel(
    offsets: NDArray[np.uint32], successors: NDArray[np.uint32], first: int, arriving: NDArray[np.uint32]
) -> int: ...
