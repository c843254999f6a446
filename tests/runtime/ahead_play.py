"""Play of environments whose levels a worker makes ahead."""

from __future__ import annotations

import hashlib
import os
import time

import numpy as np
import pytest

from npp_env import NppVectorEnv
from npp_env.runtime import worker_process

KEYS = ("game_state", "entity_states", "reachability_features", "graph_node_feats", "global_view", "action_mask")
PATIENCE_SECONDS = 120
NEEDS_WORKER = [
    pytest.mark.skipif(not worker_process.can_work_beside(), reason="no worker on this platform"),
    pytest.mark.usefixtures("unharmed"),
]


def make(count=6, ahead=128, **options):
    observation = {"keys": KEYS}
    return NppVectorEnv(
        count,
        max_episode_steps=8,
        **{"levels": "generated:any", "levels_ahead": ahead, "observation": observation, **options},
    )


def play(env, steps=40, wait=True):
    """Digest of all that some steps give; with `wait` the worker has always done its work before."""
    digest = hashlib.sha256()
    actions = np.random.default_rng(7).integers(0, 6, (steps, env.num_envs))
    for row in actions:
        if wait:
            catch_up(env)
        observations, rewards, _, _, info = env.step(row)
        for value in (*observations.values(), rewards, info["level"], info["frame"]):
            digest.update(np.ascontiguousarray(value).tobytes())
    return digest.hexdigest()


def customer_of(env):
    return env._episodes.ahead._customer


def catch_up(env):
    """Wait until all levels that were asked for are there."""
    until = time.monotonic() + PATIENCE_SECONDS
    customer = customer_of(env)
    while customer is not None and len(customer.made) < len(customer.asked) and env._episodes.ahead._worker.alive:
        assert time.monotonic() < until, "the worker does not come to an end"
        env._episodes.ahead._worker.receive()
        time.sleep(0.01)


def worker_pid(env):
    return env._episodes.ahead._worker.pid


def is_gone(pid, seconds=PATIENCE_SECONDS):
    """Whether a process ends in some time, and is no zombie."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def begun(seed=3, **options):
    """An environment whose worker is running."""
    env = make(**options)
    env.reset(seed=seed)
    play(env, 12)
    assert customer_of(env) is not None
    return env
