from typing import Any

import numpy as np
from numpy.typing import NDArray

def open_sections(
    block: NDArray[np.uint8], places: list[int], names: tuple[str, ...], dtypes: tuple[np.dtype[Any], ...], first: int
) -> dict[str, NDArray[Any]]: ...
