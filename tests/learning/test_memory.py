"""Training with a thousand environments fits into little memory, and the memory stays flat."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch")

from npp_env.learning.ppo import PPO
from npp_env.learning.settings import TrainSettings
from npp_env.profiling.process_memory import read_in_use_bytes

MANY = """
import re
from pathlib import Path
from npp_env.learning.ppo import PPO
from npp_env.learning.settings import TrainSettings
options = {"num_steps": 32, "epochs": 1}
algorithm = PPO(TrainSettings(task="shipped", num_envs=1024, policy="POLICY", algo_options=options))
algorithm.iterate()
# Not ru_maxrss, which a child process inherits from its parent.
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""


@pytest.mark.parametrize("policy", ["mlp", "attention"])
def test_a_thousand_environments_on_all_levels_take_less_than_600_mb(policy):
    """Counted with torch; measured: 412 MB."""
    found = subprocess.run(
        [sys.executable, "-c", MANY.replace("POLICY", policy)], capture_output=True, text=True, check=True
    )
    assert int(found.stdout) < 600


def test_iterations_leave_nothing_behind():
    options = {"num_steps": 16, "minibatch": 128, "epochs": 1}
    algorithm = PPO(TrainSettings(num_envs=32, algo_options=options, environment={"max_episode_frames": 60}))
    for _ in range(150):  # until the heap has settled
        algorithm.iterate()
    levels = []
    for _ in range(40):
        algorithm.iterate()
        levels.append(read_in_use_bytes())
    # Something that is kept per step, or a graph that is kept per minibatch, takes more than this in an iteration.
    assert np.median(levels[20:]) - np.median(levels[:20]) < 20 * 512 * 4
