"""What nobody asks for is not built and not imported, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
import npp_env
from npp_env.level.cache import default_cache
config = json.loads(sys.argv[1])
envs = [npp_env.NppEnv(config) for _ in range(3)] + [npp_env.NppVectorEnv(4, config)]
for env in envs:
    env.reset(seed=1)
    env.step([2] * 4 if hasattr(env, "num_envs") else 2)
report = default_cache().report()
heavy = sorted({"networkx", "cv2", "pygame", "matplotlib", "torch", "PIL", "numpy.ma"} & set(sys.modules))
print(json.dumps([{name: use.builds for name, use in report.items()}, heavy]))
"""


def run(config, cache):
    environment = {**os.environ, "NPP_ENV_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(config)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


LEVEL = {"levels": "shipped:first_steps/walk"}
NO_SHAPING = {**LEVEL, "reward": {"shaping_weight": 0}}


@pytest.mark.parametrize("keys", [["game_state"], ["spatial_context", "entity_states", "switch_states", "action_mask"]])
def test_without_need_there_is_no_graph(tmp_path, keys):
    builds, heavy = run({**NO_SHAPING, "observation": {"keys": keys}}, tmp_path)
    assert "graph" not in builds
    assert "distances" not in builds
    assert "frame_background" not in builds
    assert heavy == []


def test_the_first_builds_and_the_others_reuse(tmp_path):
    builds, heavy = run(LEVEL, tmp_path)
    assert (builds["geometry"], builds["graph"], builds["distances"]) == (1, 1, 1)
    assert heavy == []
    builds, heavy = run(LEVEL, tmp_path)
    assert (builds["geometry"], builds["graph"], builds["distances"]) == (0, 0, 0)


def test_frames_need_no_image_library(tmp_path):
    builds, heavy = run({**NO_SHAPING, "observation": {"keys": ["player_frame", "global_view"]}}, tmp_path)
    assert builds["frame_background"] == 1
    assert heavy == []


def test_cache_directory_of_the_configuration(tmp_path):
    builds, _ = run({**LEVEL, "cache_directory": str(tmp_path / "mine")}, tmp_path / "usual")
    assert builds.get("graph", 0) == 0
    assert list((tmp_path / "mine").rglob("*.nppc"))
    assert not list((tmp_path / "usual").rglob("*.nppc"))


def test_the_process_of_a_thousand_environments_stays_small(tmp_path):
    program = """
import numpy as np, psutil
import npp_env
env = npp_env.NppVectorEnv(1024, preset="parallel_training")
env.reset(seed=0)
for _ in range(50):
    env.step(np.random.randint(0, 6, 1024))
print(psutil.Process().memory_info().rss)
"""
    for _ in range(2):  # with an empty and with a filled cache
        environment = {**os.environ, "NPP_ENV_CACHE": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        assert int(done.stdout) < 80e6


DOORS = """
import sys
from npp_env.graph import fields_of, graph_of
from npp_env.level.shipped import load_shipped
level = load_shipped("doors/two_keys")
for taken in range(2 ** graph_of(level).door_count):
    fields_of(level, taken)
print("numpy.ma" in sys.modules)
"""


def test_graphs_and_distances_do_not_import_masked_arrays(tmp_path):
    environment = {**os.environ, "NPP_ENV_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", DOORS], capture_output=True, text=True, env=environment)
    assert done.stdout == "False\n", done.stderr
