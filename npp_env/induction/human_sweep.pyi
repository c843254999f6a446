from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.induction.agents import Agents
from npp_env.induction.transitions import Rows
from npp_env.runtime.thread_pool import ThreadPool

def human_block(
    rows: Rows,
    agents: Agents,
    targets: NDArray[Any],
    first_target: int,
    attained: NDArray[np.uint8],
    betas: NDArray[np.float64],
    values: NDArray[Any],
    policies: NDArray[Any],
    pool: ThreadPool,
) -> int: ...
