from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.induction.transitions import Rows
from npp_env.runtime.thread_pool import ThreadPool

def optimal_block(
    rows: Rows,
    operator: int,
    beta: float,
    costs: NDArray[np.float64],
    targets: NDArray[Any],
    first_target: int,
    values: NDArray[Any],
    best: NDArray[np.uint16],
    policies: NDArray[Any] | None,
    pool: ThreadPool,
) -> None: ...
