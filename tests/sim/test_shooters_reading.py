"""The shooters of random levels, bit for bit against a second reading of the physics."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from npp_env.level import Level
from npp_env.sim import Simulation
from npp_env.sim.structs import (
    GAUSS_IDLE,
    GAUSS_POSTFIRE,
    GAUSS_PREFIRE,
    GAUSS_TARGETING,
    GUN_FIRING,
    GUN_IDLE,
    GUN_POSTFIRE,
    GUN_PREFIRE,
    ROCKET_HOMING,
    ROCKET_IDLE,
    ROCKET_PREFIRE,
)
from sim.pairs import FALLING, Place, anywhere, met_often, play_pair
from sim.shooters_reading import CELEBRATING, CHAINGUN, DEAD, GAUSS, LASER_DRONE, ROCKET, Ninja, World

SHOOTERS = (CHAINGUN, LASER_DRONE, ROCKET, GAUSS)
GUN_PHASES = {"idle": GUN_IDLE, "prefire": GUN_PREFIRE, "firing": GUN_FIRING, "postfire": GUN_POSTFIRE}
GAUSS_PHASES = {
    "idle": GAUSS_IDLE,
    "targeting": GAUSS_TARGETING,
    "prefire": GAUSS_PREFIRE,
    "postfire": GAUSS_POSTFIRE,
}
ROCKET_PHASES = {"idle": ROCKET_IDLE, "prefire": ROCKET_PREFIRE, "homing": ROCKET_HOMING}
LEVELS, TICKS = 24, 700


def shooting_level(rng: np.random.Generator) -> Level:
    """Rooms of all tiles with shooters, doors and boost pads anywhere in them, on the grid and off it."""
    tiles = np.where(rng.random((23, 42)) < rng.choice([0.02, 0.12, 0.3]), rng.integers(0, 38, (23, 42)), 0)
    for _ in range(int(rng.integers(2, 8))):
        row, column, length = int(rng.integers(0, 23)), int(rng.integers(0, 36)), int(rng.integers(3, 16))
        tiles[row, column : column + length] = 1

    def place() -> tuple[int, int]:
        if rng.random() < 0.5:
            return 4 * int(rng.integers(1, 43)) + 2, 4 * int(rng.integers(1, 24)) + 2
        return int(rng.integers(2, 175)), int(rng.integers(2, 99))

    records: list[tuple[int, ...]] = [(0, *place(), 0, 0)]
    for kind in rng.choice(SHOOTERS, int(rng.integers(4, 12))).tolist():
        records.append((kind, *place(), int(rng.integers(0, 8)), int(rng.integers(0, 4))))
    for kind in rng.choice([5, 6, 8, 24], int(rng.integers(2, 12))).tolist():
        records.append((kind, *place(), int(rng.choice([0, 2, 4, 6])), 0))
        if kind in (6, 8):
            records.append((kind + 1, *place(), 0, 0))
    return Level.from_parts(tiles.astype(np.uint8), np.array(records))


def without_shooters(level: Level) -> Level:
    """The same level, where the ninja can die only of other things."""
    return Level.from_parts(level.tiles, level.records[~np.isin(level.records[:, 0], SHOOTERS)])


class Pair:
    """The package and the second reading, side by side."""

    def __init__(self, level: Level) -> None:
        self.simulation = Simulation(level)
        self.alone = Simulation(without_shooters(level))
        records = level.records.tolist()
        self.reading = World(level.tiles, records)
        flagged = [kind for kind, *_ in records if kind in (5, 6, 8, ROCKET, 24)]
        self.other_flags = [k for k, kind in enumerate(flagged) if kind != ROCKET]
        self.door_flags = [k for k, kind in enumerate(flagged) if kind in (5, 6, 8)]
        self.pad_flags = [k for k, kind in enumerate(flagged) if kind == 24]
        self.rocket_flags = [k for k, kind in enumerate(flagged) if kind == ROCKET]
        self.seen: Counter[object] = Counter()

    def put(self, x: float, y: float, vx: float, vy: float, state: int = FALLING) -> None:
        n = self.simulation.ninja
        n["x"], n["y"], n["vx"], n["vy"], n["state"] = x, y, vx, vy, state

    def tick(self, byte: int) -> None:
        simulation, reading, n = self.simulation, self.reading, self.simulation.ninja
        reading.ninja = Ninja(*(float(n[name]) for name in ("x", "y", "vx", "vy")), int(n["state"]))
        for door, slot in zip(reading.doors, self.door_flags, strict=True):
            flag = int(simulation.flags[slot])
            door.open, door.timer = bool(flag & 1), flag >> 1 if door.regular else 0
        for pad, slot in zip(reading.pads, self.pad_flags, strict=True):
            pad[2] = bool(simulation.flags[slot])
        self.alone.state[:144] = simulation.state[:144]
        self.alone.flags[:] = simulation.flags[self.other_flags]
        was_dead = int(n["state"]) == DEAD
        reading.advance_pass()
        reading.react_pass()
        simulation.advance(byte, 1, stop=False)
        self.alone.advance(byte, 1, stop=False)
        # Without a jump or launch pad, the ninja ends the tick where its contacts were evaluated.
        reading.touch(float(n["x"]), float(n["y"]))
        killed = not was_dead and reading.ninja.state >= DEAD and reading.ninja.state != CELEBRATING
        assert (int(n["state"]) == DEAD) == (killed or int(self.alone.ninja["state"]) == DEAD)
        self.compare()
        self.seen["killed"] += killed

    def compare(self) -> None:
        movers, flags = self.simulation.movers, self.simulation.flags
        position = 0
        rockets = iter(self.rocket_flags)
        for shooter in self.reading.shooters:
            mover = movers[position]
            if shooter.kind == ROCKET:
                assert flags[next(rockets)] == ROCKET_PHASES[shooter.phase]
                expected = (*shooter.rocket, *shooter.way) if shooter.rocket else (shooter.x, shooter.y, 0.0, 0.0)
                assert (mover["cell"] >= 0) == (shooter.rocket is not None)
            elif shooter.kind == GAUSS:
                assert mover["phase"] == GAUSS_PHASES[shooter.phase]
                aim = (shooter.x, shooter.y) if shooter.phase == "idle" else shooter.aim
                expected = (shooter.x, shooter.y, *aim)
                scale = 2 if shooter.phase == "targeting" else 1
                assert mover["stamp"] == (0 if shooter.phase == "idle" else scale * shooter.t)
            else:
                assert mover["phase"] == GUN_PHASES[shooter.phase]
                expected = (shooter.x, shooter.y, *shooter.goal)
                assert mover["turn"] == shooter.direction
                assert mover["stamp"] == (0 if shooter.phase == "idle" else shooter.t)
                line = movers[position + 1]
                if shooter.phase == "firing" or (shooter.phase == "prefire" and shooter.kind == LASER_DRONE):
                    assert [float(line[name]).hex() for name in "uv"] == [float(z).hex() for z in shooter.g]
                if shooter.phase == "firing" and shooter.kind == CHAINGUN:
                    side = int(line["phase"])
                    assert (-side * line["v"], side * line["u"]) == shooter.s
            found = [float(mover[name]).hex() for name in ("x", "y", "u", "v")]
            assert found == [float(z).hex() for z in expected], (shooter, int(self.simulation.ninja["frame"]))
            self.seen[shooter.kind, shooter.phase] += 1
            position += 1 if shooter.kind in (ROCKET, GAUSS) else 2


def near_a_shooter(pair: Pair, rng: np.random.Generator) -> Place:
    """Anywhere, or near a shooter, or where it is."""
    shooter = pair.reading.shooters[int(rng.integers(0, len(pair.reading.shooters)))]
    draw = rng.random()
    if draw < 0.15:
        return shooter.x, shooter.y
    if draw < 0.3:
        return shooter.x + float(rng.integers(-40, 41)), shooter.y + float(rng.integers(-40, 41))
    return anywhere(rng)


@pytest.mark.parametrize("seed", range(LEVELS))
def test_shooters_are_as_the_second_reading_has_them(seed, seen):
    rng = np.random.default_rng([seed, 15])
    play_pair(Pair(shooting_level(rng)), rng, TICKS, 220, near_a_shooter, seen)


def test_the_random_levels_show_every_phase_of_every_shooter(seen):
    wanted = {(kind, phase) for kind in (CHAINGUN, LASER_DRONE) for phase in GUN_PHASES}
    wanted |= {(GAUSS, phase) for phase in GAUSS_PHASES} | {(ROCKET, phase) for phase in ROCKET_PHASES}
    assert met_often(seen) >= wanted
    assert seen["killed"] >= 20
