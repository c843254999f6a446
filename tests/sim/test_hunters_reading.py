"""Chasers and evil ninjas of random levels, bit for bit against a second reading of the physics."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from npp_env.level import Level
from npp_env.sim import Simulation
from npp_env.sim.structs import CHASER_CHASING, FOLLOWER_ACTIVE, FOLLOWER_ASLEEP, FOLLOWER_TOUCHED, FOLLOWER_WAITING
from sim.hunters_reading import CHASER, EVIL, World
from sim.pairs import Place, anywhere, met_often, play_pair
from sim.shooters_reading import CELEBRATING, DEAD, Ninja

LEVELS, TICKS = 24, 900


def hunting_level(rng: np.random.Generator) -> Level:
    """Rooms and corridors with chasers, evil ninjas and doors anywhere in them, on the grid and off it."""
    density = rng.choice([0.02, 0.12, 0.3])
    tiles = np.where(rng.random((23, 42)) < density, rng.integers(0, 38, (23, 42)), 0)
    for row in rng.integers(0, 23, int(rng.integers(2, 8))).tolist():
        column, length = int(rng.integers(0, 36)), int(rng.integers(3, 16))
        tiles[row, column : column + length] = 1

    def place() -> tuple[int, int]:
        if rng.random() < 0.7:
            return 4 * int(rng.integers(1, 43)) + 2, 4 * int(rng.integers(1, 24)) + 2
        return int(rng.integers(2, 175)), int(rng.integers(2, 99))

    records: list[tuple[int, ...]] = [(0, *place(), 0, 0)]
    for kind in rng.choice([CHASER, CHASER, EVIL], int(rng.integers(6, 14))).tolist():
        records.append((kind, *place(), int(rng.integers(0, 8)), int(rng.integers(0, 4))))
    for kind in rng.choice([5, 6, 8], int(rng.integers(2, 8))).tolist():
        records.append((kind, *place(), int(rng.choice([0, 2, 4, 6])), 0))
        if kind in (6, 8):
            records.append((kind + 1, *place(), 0, 0))
    return Level.from_parts(tiles.astype(np.uint8), np.array(records))


class Pair:
    """The package and the second reading, side by side; and the level without its hunters."""

    def __init__(self, level: Level) -> None:
        self.simulation = Simulation(level)
        hunters = np.isin(level.records[:, 0], (CHASER, EVIL))
        self.alone = Simulation(Level.from_parts(level.tiles, level.records[~hunters]))
        self.reading = World(level.tiles, level.records.tolist())
        self.kinds = [kind for kind in level.records[:, 0].tolist() if kind in (CHASER, EVIL)]
        self.seen: Counter[object] = Counter()

    def put(self, x: float, y: float, vx: float, vy: float, state: int) -> None:
        n = self.simulation.ninja
        n["x"], n["y"], n["vx"], n["vy"], n["state"] = x, y, vx, vy, state

    def tick(self, byte: int) -> None:
        simulation, reading, n = self.simulation, self.reading, self.simulation.ninja
        reading.ninja = Ninja(*(float(n[name]) for name in ("x", "y", "vx", "vy")), int(n["state"]))
        for door, flag in zip(reading.doors, simulation.flags.tolist(), strict=True):
            door.open, door.timer = bool(flag & 1), flag >> 1 if door.regular else 0
        self.alone.state[:140] = simulation.state[:140]
        self.alone.flags[:] = simulation.flags
        was_dead = int(n["state"]) == DEAD
        reading.advance_pass()
        reading.react_pass()
        simulation.advance(byte, 1, stop=False)
        self.alone.advance(byte, 1, stop=False)
        if not was_dead:
            # Without a jump or launch pad, the ninja ends the tick where its contacts were evaluated.
            reading.touch(float(n["x"]), float(n["y"]))
        reading.end(float(n["x"]), float(n["y"]))
        killed = not was_dead and reading.ninja.state >= DEAD and reading.ninja.state != CELEBRATING
        assert (int(n["state"]) == DEAD) == (killed or int(self.alone.ninja["state"]) == DEAD)
        self.seen["killed"] += killed
        self.compare()

    def compare(self) -> None:
        chasers, evil = iter(self.reading.chasers), iter(self.reading.evil)
        assert int(self.simulation.ninja["followers"]) == self.reading.numbers
        for kind, mover in zip(self.kinds, self.simulation.movers, strict=True):
            hunter = next(chasers if kind == CHASER else evil)
            found = [float(mover[name]).hex() for name in ("x", "y", "u", "v")]
            if kind == CHASER:
                expected = (hunter.x, hunter.y, *hunter.goal)
                assert mover["turn"] == hunter.direction
                assert (mover["phase"] == CHASER_CHASING) == hunter.chasing
                self.seen["chasing" if hunter.chasing else "calm", hunter.mode] += 1
            else:
                expected = (hunter.x, hunter.y, hunter.number, hunter.starts if hunter.number else 0)
                phase = FOLLOWER_ASLEEP if hunter.touched is None else FOLLOWER_TOUCHED
                if hunter.number:
                    phase = FOLLOWER_ACTIVE if hunter.active else FOLLOWER_WAITING
                assert mover["phase"] == phase
                self.seen["evil", phase] += 1
            assert found == [float(z).hex() for z in expected], (hunter, self.reading.frame)


def near_a_hunter(pair: Pair, rng: np.random.Generator) -> Place:
    """Anywhere, or in line with a hunter, or where it is."""
    movers = pair.simulation.movers
    mover = movers[int(rng.integers(0, len(movers)))]
    near, far = float(rng.uniform(-16, 16)), float(rng.uniform(-200, 200))
    draw = rng.random()
    if draw > 0.7:
        return anywhere(rng)
    dx, dy = (near, far) if draw < 0.3 else (far, near) if draw < 0.6 else (0.0, 0.0)
    return float(mover["x"]) + dx, float(mover["y"]) + dy


@pytest.mark.parametrize("seed", range(LEVELS))
def test_hunters_are_as_the_second_reading_has_them(seed, seen):
    rng = np.random.default_rng([seed, 16])
    play_pair(Pair(hunting_level(rng)), rng, TICKS, 160, near_a_hunter, seen)


def test_the_random_levels_show_everything_that_hunters_do(seen):
    wanted = {(what, mode) for what in ("calm", "chasing") for mode in range(4)}
    wanted |= {("evil", phase) for phase in (FOLLOWER_ASLEEP, FOLLOWER_WAITING, FOLLOWER_ACTIVE)}
    assert met_often(seen) >= wanted
    assert seen["evil", FOLLOWER_TOUCHED] >= 10
    assert seen["killed"] >= 20
