import numpy as np
from numpy.typing import NDArray

def spread_labels(image: NDArray[np.uint16]) -> tuple[NDArray[np.int32], NDArray[np.uint16]]: ...
