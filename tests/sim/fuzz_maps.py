"""Hostile maps, for the fuzz test and for the build with the sanitizers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from npp_env.errors import LevelError
from npp_env.level import Level, read_map
from npp_env.level.entity_kinds import SIMULATED_ROWS
from npp_env.level.layout import COUNTS_OFFSET, HEADER_BYTES, RECORD_BYTES, RECORDS_OFFSET

SIMULATED = tuple(int(kind) for kind in SIMULATED_ROWS)
EDGES = (0, 1, 2, 3, 4, 5, 98, 99, 100, 101, 170, 171, 172, 173, 174, 175, 176, 177, 254, 255)
SANE_PX = 1_000_000
"""By the rules a ninja may fall out of the map, and a stack of bounce blocks may throw it far at great speed.
Up to here cells and half cells are exact; beyond it something is wrong.
"""


def random_map(rng: np.random.Generator) -> bytes:
    """Random in every byte; most are refused."""
    records = int(rng.integers(1, 30))
    return rng.integers(0, 256, RECORDS_OFFSET + RECORD_BYTES * records).astype(np.uint8).tobytes()


def wild_map(rng: np.random.Generator, max_records: int = 60) -> bytes:
    """A map that the physics accepts: any tiles, any place, any count, everywhere at the edges."""
    n = int(rng.integers(1, max_records))
    records = np.zeros((n + 1, RECORD_BYTES), np.uint8)
    kinds = rng.choice(SIMULATED, int(rng.integers(1, 5))) if rng.random() < 0.5 else np.array(SIMULATED)
    records[:, 0] = rng.choice(kinds, n + 1)
    style = rng.integers(0, 4)
    for axis, limit in ((1, 177), (2, 101)):
        anywhere = rng.integers(0, 256, n + 1)
        inside = rng.integers(0, limit, n + 1)
        at_edge = rng.choice(EDGES, n + 1)
        near_spawn = np.clip(rng.integers(2, limit - 2) + rng.integers(-4, 5, n + 1), 0, 255)
        records[:, axis] = (anywhere, inside, at_edge, near_spawn)[style]
    records[:, 3] = rng.integers(0, 8, n + 1)
    records[:, 4] = rng.integers(0, 4, n + 1)
    free = np.isin(records[:, 0], (1, 2, 3, 16, 17, 20, 21, 24, 25, 28)) & (rng.random(n + 1) < 0.3)
    records[free, 3:] = rng.integers(0, 256, (int(free.sum()), 2))
    records[0, 0] = 0 if rng.random() < 0.8 else records[0, 0]
    # The last record is the switch of whatever wants one.
    records[-1, 0] = 7
    density = rng.choice([0.0, 0.1, 0.5, 1.0])
    tiles = rng.integers(0, rng.choice([2, 38, 256]), COUNTS_OFFSET - HEADER_BYTES)
    tiles[rng.random(len(tiles)) > density] = 0
    counts = np.zeros(40, "<u2")
    counts[3] = rng.integers(0, 2)
    counts[25] = rng.choice([0, 1, n, 255, 256, 65535])
    header = bytes(HEADER_BYTES)
    return header + tiles.astype(np.uint8).tobytes() + counts.tobytes() + records.tobytes()


def mutated_map(rng: np.random.Generator, valid: bytes) -> bytes:
    """A valid map with some bytes changed, and some records doubled or cut off."""
    data = bytearray(valid)
    for _ in range(int(rng.integers(1, 40))):
        data[int(rng.integers(HEADER_BYTES, len(data)))] = int(rng.integers(0, 256))
    cut = RECORDS_OFFSET + RECORD_BYTES * int(rng.integers(1, (len(data) - RECORDS_OFFSET) // RECORD_BYTES + 1))
    return bytes(data[:cut] + data[RECORDS_OFFSET:cut] * int(rng.integers(0, 3)))


CROWDS = {3: 300, 22: 256, 25: 300}
"""How many of a type make a crowd, where thousands would take too long or are not allowed."""


def crowded_map(kind: int, count: int | None = None) -> bytes:
    """Very many of one type in one place, with the switches that they need."""
    record = bytes((kind, 40, 40, 2, 0)) * (CROWDS.get(kind, 8190) if count is None else count)
    head = bytes(COUNTS_OFFSET) + bytes(2 * 40)
    return head + bytes((0, 40, 40, 0, 0)) + record + bytes((7, 41, 41, 0, 0))


def accepted_levels(rng: np.random.Generator, valid: list[bytes]) -> Iterator[Level]:
    """An endless mixture of the above; a map must be a level or a `LevelError`."""
    while True:
        for data in (
            random_map(rng),
            wild_map(rng),
            mutated_map(rng, valid[int(rng.integers(0, len(valid)))]),
        ):
            try:
                yield read_map(data)
            except LevelError:
                continue


def random_inputs(rng: np.random.Generator, ticks: int) -> list[int]:
    """Keys that are held for a while, as a player holds them; one entry for ten ticks."""
    return rng.integers(0, 8, ticks // 10).tolist()


def find_insanity(ninja, movers) -> str | None:
    """What is not a number, or is farther away than anything should get."""
    for name in ("x", "y", "vx", "vy"):
        if not abs(float(ninja[name])) < SANE_PX:
            return f"ninja {name} is {ninja[name]}"
    for name in ("x", "y", "u", "v"):
        wrong = np.flatnonzero(~(np.abs(movers[name]) < SANE_PX))
        if len(wrong):
            return f"mover {wrong[0]} {name} is {movers[name][wrong[0]]}"
    return None
