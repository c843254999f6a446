import numpy as np
from numpy.typing import NDArray

from npp_env.runtime.thread_pool import ThreadPool

def hash_rows(rows: NDArray[np.uint8], hashes: NDArray[np.uint64], pool: ThreadPool) -> None: ...
def enter(slots: NDArray[np.uint32], hashes: NDArray[np.uint64], first: int, last: int) -> None: ...
def find_or_enter(
    slots: NDArray[np.uint32],
    hashes: NDArray[np.uint64],
    known: int,
    wanted: NDArray[np.uint64],
    numbers: NDArray[np.uint32],
    fresh: NDArray[np.uint32],
) -> int: ...
