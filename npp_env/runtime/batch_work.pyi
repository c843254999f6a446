import numpy as np
from numpy.typing import NDArray

from npp_env.runtime.thread_pool import ThreadPool
from npp_env.sim.kernel import Batch

def advance_batch(
    batch: Batch, pool: ThreadPool, inputs: NDArray[np.uint8], count: int, ticks: int, stop: bool
) -> None: ...
