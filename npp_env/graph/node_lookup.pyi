import numpy as np
from numpy.typing import ArrayLike, NDArray

def nodes_at(
    nearest: NDArray[np.uint16],
    split_half: NDArray[np.uint16],
    split_node: NDArray[np.uint16],
    x: ArrayLike,
    y: ArrayLike,
) -> NDArray[np.uint16]: ...
