"""The uncompiled environment gives the same observations, rewards and infos, to the last bit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from bare import copy_sources

from npp_env.sim import IS_COMPILED

ROOT = Path(__file__).parent.parent.parent

# Run twice: in this checkout, and on a copy of the package without binaries.
PROGRAM = """
import hashlib, json, sys
import numpy as np
import npp_env
from npp_env.level.binary import read_map
from npp_env.observe.spec import OBSERVATION_KEYS
from npp_env.sim import IS_COMPILED
from golden_levels import golden
from play import held_actions

levels = [read_map(item.map) for item in golden()[:40:4]]
config = {"observation": {"keys": list(OBSERVATION_KEYS)}, "graph": {"max_nodes": 60, "max_edges": 200}}
env = npp_env.NppEnv(config, levels=levels)
result = {"compiled": IS_COMPILED, "steps": []}
for number in range(len(levels)):
    observation, info = env.reset(seed=number, options={"level": number})
    for action in held_actions(np.random.default_rng(number), 6)[:, 0]:
        observation, *rest = env.step(action)
        digests = {key: hashlib.sha256(array.tobytes()).hexdigest()[:12] for key, array in observation.items()}
        result["steps"].append([digests, env.action_masks().tolist(), *rest])
        if rest[1] or rest[2]:
            break
flat = npp_env.NppEnv({"observation": {"keys": ["action_mask", "game_state"], "layout": "flat"}}, levels=levels)
result["flat"] = flat.reset(seed=1)[0].tolist()
state = npp_env.NppEnv({"observation": {"layout": "state"}}, levels=levels)
result["state"] = hashlib.sha256(state.reset(seed=1)[0].tobytes()).hexdigest()
print(json.dumps(result))
"""


def run(folder: Path, tmp_path: Path) -> dict:
    paths = [str(folder), str(ROOT / "tests")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "NPP_ENV_CACHE": str(tmp_path / "cache"),
        "NPP_UNCOMPILED": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_same_bits(tmp_path):
    copy_sources(tmp_path / "bare")
    shutil.copytree(ROOT / "levels", tmp_path / "bare" / "levels")
    plain = run(tmp_path / "bare", tmp_path)
    compiled = run(ROOT, tmp_path)
    assert IS_COMPILED
    assert (plain.pop("compiled"), compiled.pop("compiled")) == (False, True)
    assert len(plain["steps"]) > 30
    for one, two in zip(plain["steps"], compiled["steps"], strict=True):
        assert one == two
    assert plain == compiled
