from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.planning.keys import Resolution

class StateKeys:
    def __init__(self, geometry: Any, resolution: Resolution) -> None: ...
    def of(self, states: NDArray[np.uint8], configurations: NDArray[np.int64]) -> NDArray[np.uint64]: ...
