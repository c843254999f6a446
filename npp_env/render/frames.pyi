import numpy as np
from numpy.typing import NDArray

from npp_env.sim.kernel import LevelHandle

def player_frame(
    handle: LevelHandle, state: NDArray[np.uint8], background: NDArray[np.uint8], out: NDArray[np.uint8]
) -> NDArray[np.uint8]: ...
def global_view(
    handle: LevelHandle, state: NDArray[np.uint8], background: NDArray[np.uint8], out: NDArray[np.uint8]
) -> NDArray[np.uint8]: ...
def aim_and_shot(
    handle: LevelHandle, state: NDArray[np.uint8], entity: int
) -> tuple[tuple[float, float] | None, tuple[float, float] | None]: ...
