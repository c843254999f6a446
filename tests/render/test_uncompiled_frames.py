"""The uncompiled frames are the compiled ones, byte for byte."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from bare import copy_sources, run_uncompiled
from golden_levels import golden

from npp_env.level import read_map, write_map
from npp_env.render.background import build_frame_background
from npp_env.render.frames import global_view, player_frame
from npp_env.sim import IS_COMPILED, Simulation
from render.scenes import KINDS, level_of

# Run in a process of its own, on a copy of the package without binaries.
PROGRAM = """
import hashlib, json, sys
import numpy as np
from npp_env.level import read_map
from npp_env.render.background import build_frame_background
from npp_env.render.frames import global_view, player_frame
from npp_env.sim import IS_COMPILED, Simulation
assert not IS_COMPILED
for line in sys.stdin:
    case = json.loads(line)
    simulation = Simulation(read_map(bytes.fromhex(case["map"])))
    background = build_frame_background(simulation.level)
    simulation.state[:] = np.frombuffer(bytes.fromhex(case["state"]), np.uint8)
    digest = hashlib.sha256()
    for draw, shape in ((player_frame, (84, 84, 1)), (global_view, (100, 176, 1))):
        out = np.zeros(shape, np.uint8)
        digest.update(draw(simulation.handle, simulation.state, background, out).tobytes())
    print(digest.hexdigest())
"""


def cases() -> list[tuple[bytes, np.ndarray]]:
    found = []
    for row in golden()[::8]:
        simulation = Simulation(read_map(row.map))
        for byte in row.inputs[:70]:
            simulation.advance(int(byte))
        found.append((row.map, simulation.state.copy()))
    for kind in KINDS:
        simulation = Simulation(level_of(kind, orientation=2 * (kind % 4)))
        simulation.advance(2, 17)
        found.append((write_map(simulation.level), simulation.state.copy()))
    return found


@pytest.mark.skipif(not IS_COMPILED, reason="there is nothing to compare with")
def test_uncompiled_frames_have_the_same_bytes(tmp_path):
    copy_sources(tmp_path, ("sim", "level", "render"))
    expected, lines = [], []
    for level_map, state in cases():
        level = read_map(level_map)
        handle, background = Simulation(level).handle, build_frame_background(level)
        digest = hashlib.sha256(player_frame(handle, state, background, np.zeros((84, 84, 1), np.uint8)).tobytes())
        digest.update(global_view(handle, state, background, np.zeros((100, 176, 1), np.uint8)).tobytes())
        expected.append(digest.hexdigest())
        lines.append(json.dumps({"map": level_map.hex(), "state": state.tobytes().hex()}))
    assert run_uncompiled(tmp_path, PROGRAM, input="\n".join(lines), timeout=120).split() == expected
