from __future__ import annotations

import json
import subprocess
import sys

import pytest

import npp_env

# In a process of its own: what 100 environments add to it, and what they say that they hold.
PROGRAM = """
import gc, json, sys
import npp_env
from npp_env.level.heap import return_free_memory
from npp_env.profiling.process_memory import read_page_memory
keys = json.loads(sys.argv[1])
def make():
    config = {"observation": {"keys": keys}, "levels": "shipped:first_steps"}
    return npp_env.NppEnv(preset="parallel_training", config=config)

warm = make()
for seed in range(40):
    warm.reset(seed=seed)
    warm.step(1)
def written():
    gc.collect()
    return_free_memory()
    return read_page_memory().dirty_bytes
before = written()
envs = [make() for _ in range(100)]
for seed, env in enumerate(envs):
    env.reset(seed=seed)
    env.step(1)
print(json.dumps([written() - before, sum(env.memory_report().private_bytes for env in envs)]))
"""
VECTORS = ["game_state", "reachability_features", "action_mask"]


@pytest.mark.parametrize("keys", [VECTORS, [*VECTORS, "player_frame", "global_view"]])
def test_report_agrees_with_the_process(keys):
    done = subprocess.run([sys.executable, "-c", PROGRAM, json.dumps(keys)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    measured, reported = json.loads(done.stdout)
    assert abs(measured - reported) < max(0.05 * measured, 250_000)
    limit = 120_000 if "player_frame" in keys else 50_000
    assert measured / 100 < limit


def test_vector_report():
    env = npp_env.NppVectorEnv(256, preset="parallel_training")
    env.reset(seed=0)
    report = env.memory_report()
    owners = report.by_owner()
    assert set(owners) == {"states", "observation buffers", "levels", "python objects"}
    assert owners["levels"].private_bytes == 0
    assert owners["observation buffers"].private_bytes == 2 * 256 * (68 + 20 + 6)
    assert report.private_bytes / 256 < 8192
    assert "exact states" in report.to_text()
    assert json.loads(json.dumps(report.to_dict()))["total_bytes"] == report.total_bytes
