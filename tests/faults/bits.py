"""Single bits of a cache file: whichever is flipped, the arrays are right."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path

from npp_env.level.cache import LevelCache
from npp_env.level.shipped import load_shipped
from npp_env.sim.geometry import GEOMETRY
from tests.faults.storage import scratch
from tests.faults.tally import Tally
from tests.faults.victims import require

LEVEL = "slopes/tunnel"
"""The shipped level whose file is the smallest."""
PER_ROW = 1000


def flipped_bits(tally: Tally, every: int) -> None:
    """Flip every so-manieth bit of the file of a compiled level, one at a time."""
    level = load_shipped(LEVEL)
    right = LevelCache(persist=False).get(level, GEOMETRY)
    # What is built anew is known: compiling it 180,000 times would show nothing more.
    artifact = replace(GEOMETRY, build=lambda level, cache: right)
    with scratch() as folder:
        LevelCache(directory=folder).get(level, GEOMETRY)
        [path] = folder.rglob("*.nppc")
        good = path.read_bytes()
        bits = range(0, 8 * len(good), every)
        for first in range(0, len(bits), PER_ROW):
            with tally.fault("flipped bit of a cache file", 0) as row, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for bit in bits[first : first + PER_ROW]:
                    row.faults += 1
                    put(path, good, bit)
                    found = LevelCache(directory=folder).get(level, artifact)
                    require(found.tobytes() == right.tobytes(), f"a wrong array after a flip of bit {bit}")


def put(path: Path, good: bytes, bit: int) -> None:
    """Write the file with one bit flipped, as the store itself would own it."""
    wrong = bytearray(good)
    wrong[bit // 8] ^= 1 << bit % 8
    path.unlink(missing_ok=True)
    path.write_bytes(wrong)
    os.chmod(path, 0o444)
