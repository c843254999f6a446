"""The uncompiled kernel gives the same bits as the compiled one."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from bare import copy_sources, run_uncompiled
from golden_levels import golden

from npp_env.level import read_map, write_map
from npp_env.sim import IS_COMPILED, Simulation
from sim.fuzz_maps import accepted_levels
from sim.rooms import EVERY_TYPE, level_of_every_type, room

TICKS = 220
HOSTILE_LEVELS = 16

# Run in a process of its own, on a copy of the package without binaries.
PROGRAM = """
import hashlib, json, sys, warnings
from npp_env.level import read_map
from npp_env.sim import IS_COMPILED, Simulation
assert not IS_COMPILED
for line in sys.stdin:
    case = json.loads(line)
    simulation = Simulation(read_map(bytes.fromhex(case["map"])))
    digest = hashlib.sha256(simulation.state.tobytes())
    for byte in bytes.fromhex(case["inputs"]):
        simulation.advance(byte, 1, stop=False)
        digest.update(simulation.state.tobytes())
    print(digest.hexdigest())
"""


@pytest.fixture(scope="module")
def bare_package(tmp_path_factory) -> Path:
    """A copy of the parts of the package that the kernel needs, sources only."""
    folder = tmp_path_factory.mktemp("uncompiled")
    copy_sources(folder, ("sim", "level"))
    return folder


def digest_of(level_map: bytes, inputs: bytes) -> str:
    """Digest of all states of a run in this process, with all that a golden trajectory does not show."""
    simulation = Simulation(read_map(level_map))
    digest = hashlib.sha256(simulation.state.tobytes())
    for byte in inputs:
        simulation.advance(byte, 1, stop=False)
        digest.update(simulation.state.tobytes())
    return digest.hexdigest()


def cases() -> list[tuple[str, bytes, bytes]]:
    rng = np.random.default_rng(5)
    inputs = np.repeat(rng.integers(0, 8, TICKS // 10), 10).astype(np.uint8).tobytes()
    found = [(f"golden {g.id}", g.map, g.inputs[:TICKS].tobytes()) for g in golden()[::12]]
    found += [(f"type {kind}", write_map(room(*rows)), inputs) for kind, rows in EVERY_TYPE.items() if kind != 23]
    # Lasers: free spinners of both senses, turrets on the floor, in a corner, around a block, beside a door.
    lasers = [
        (23, 60, 50, 2),
        (23, 62, 50, 5, 1),
        (23, 50, 79),
        (23, 5, 79, 0, 1),
        (23, 80, 63, 0, 1),
        (23, 84, 63),
    ]
    doors = [(5, 66, 78, 0), (6, 40, 78, 0), (7, 36, 78)]
    crawl = room(*lasers, *doors, walls=[(20, 15), (20, 16), (21, 15)])
    found.append(("lasers", write_map(crawl), inputs))
    found.append(("every type", write_map(level_of_every_type()), inputs))
    hostile = islice(accepted_levels(rng, [g.map for g in golden()]), HOSTILE_LEVELS)
    found += [(f"hostile {k}", write_map(level), inputs) for k, level in enumerate(hostile)]
    return found


@pytest.mark.skipif(not IS_COMPILED, reason="there is nothing to compare with")
def test_uncompiled_kernel_gives_the_same_bits(bare_package):
    named = cases()
    lines = "\n".join(json.dumps({"map": m.hex(), "inputs": i.hex()}) for _, m, i in named)
    uncompiled = run_uncompiled(bare_package, PROGRAM, input=lines, timeout=300).split()
    different = [name for (name, m, i), digest in zip(named, uncompiled, strict=True) if digest_of(m, i) != digest]
    assert different == []


def test_uncompiled_kernel_warns_once_and_can_be_silenced(bare_package):
    program = "import npp_env.sim, npp_env.sim.kernel; from npp_env.sim import Simulation"
    for value, warnings in (("", 1), ("1", 0)):
        environment = {**os.environ, "PYTHONPATH": str(bare_package), "NPP_UNCOMPILED": value}
        done = subprocess.run(
            [sys.executable, "-W", "always", "-c", program],
            env=environment,
            cwd=bare_package,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr.count("npp_env runs uncompiled") == warnings
