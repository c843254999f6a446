import numpy as np
from numpy.typing import NDArray

from npp_env.sim.kernel import LevelHandle

def wrong_section(
    handle: LevelHandle, records: NDArray[np.uint8], ball_count: int, digest: bytes, ninja: bytes, state_bytes: int
) -> str | None: ...
