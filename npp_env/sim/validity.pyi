import numpy as np
from numpy.typing import NDArray

from npp_env.sim.kernel import LevelHandle

def check_state(handle: LevelHandle, state: NDArray[np.uint8]) -> None: ...
