from typing import Any

from numpy.typing import NDArray

from npp_env.induction.agents import Agents
from npp_env.induction.robot import RobotNumbers
from npp_env.induction.transitions import Rows
from npp_env.runtime.thread_pool import ThreadPool

def robot_block(
    rows: Rows,
    agents: Agents,
    parameters: RobotNumbers,
    human_policies: NDArray[Any],
    robot_targets: NDArray[Any],
    human_targets: NDArray[Any],
    first_target: int,
    results: tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]],
    pool: ThreadPool,
) -> int: ...
