"""Damaged and forged states under checksums that fit, for the tests of restores and the build with the sanitizers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from golden_levels import golden
from sim.fuzz_maps import SIMULATED, accepted_levels, crowded_map
from sim.phases import rooms_with_phases, states_with_phases

from npp_env import NppVectorEnv
from npp_env.errors import NppError, StateError
from npp_env.level import Level, read_map
from npp_env.observe.spec import OBSERVATION_KEYS
from npp_env.rollouts.decoder import ObservationDecoder
from npp_env.sim.checksum import CHECKSUM_BYTES, seal
from npp_env.sim.structs import CELLS
from npp_env.sim.views import movers_view, ninja_view

HEADER_BYTES, ROW_HEADER_BYTES = 64, 32
GRAPH = {"max_nodes": 200, "max_edges": 800}
NUMBERS = (
    np.nan,
    np.inf,
    -np.inf,
    0.0,
    -0.0,
    5e-324,
    1e-200,
    1e9,
    -1e9,
    1.0000001e9,
    1e7,
    1e300,
    -1e300,
    2.0**53,
    np.pi,
)
BYTES = (0, 1, 2, 3, 4, 5, 6, 9, 10, 46, 47, 127, 128, 254, 255)


def damage(rng: np.random.Generator, state: np.ndarray) -> np.ndarray:
    """A copy with something wrong with it: bits, bytes, or whole numbers."""
    wrong = state.copy()
    style = rng.integers(5)
    if style == 0:
        for bit in rng.integers(0, 8 * len(wrong), rng.integers(1, 5)).tolist():
            wrong[bit // 8] ^= 1 << bit % 8
    elif style == 1:
        places = rng.integers(0, len(wrong), rng.integers(1, 17))
        wrong[places] = rng.choice(BYTES, len(places))
    elif style == 2:
        wrong.view(np.float64)[rng.integers(0, len(wrong) // 8)] = rng.choice(NUMBERS)
    elif style == 3:
        words = wrong.view(np.uint64)
        words[rng.integers(0, len(words))] = words[rng.integers(0, len(words))]
    else:
        first = rng.integers(0, len(wrong))
        wrong[first : first + 40] = rng.integers(0, 256, len(wrong[first : first + 40]))
    return wrong


def forge(rng: np.random.Generator, state: np.ndarray, geometry) -> np.ndarray:
    """A copy with every number somewhere else in its range: most of them pass the check."""

    def anywhere(most: float, count: int) -> np.ndarray:
        return rng.choice([-1.0, 1.0], count) * most ** rng.random(count) * rng.choice([0, 1, 1, 1], count)

    wrong = state.copy()
    ninja, movers = ninja_view(wrong), movers_view(wrong, geometry)
    for name, most in (("x", 1e9), ("y", 1e9), ("vx", 1e7), ("vy", 1e7), ("fnx", 1.0), ("wn", 1.0), ("pnx", 1.0)):
        if rng.random() < 0.5:
            ninja[name] = anywhere(most, 1)[0]
    for name, low, high in (
        ("state", 0, 9), ("air", 0, 1), ("walled", 0, 1), ("h", -1, 1), ("hold", 0, 46), ("b_jump", -1, 5),
        ("b_pad", -1, 3), ("frame", 0, 2**30), ("stamp", int(ninja["stamp"]), 2**30),
    ):  # fmt: skip
        if rng.random() < 0.5:
            ninja[name] = rng.integers(low, high + 1)
    if not len(movers):
        return wrong
    kinds = geometry["entities"]["kind"][geometry["mover_entity"]]
    free = np.isin(kinds, (14, 15, 17, 25, 26))
    for name, most in (("x", 1e9), ("y", 1e9), ("u", 1e7), ("v", 1e7)):
        if rng.random() < 0.5:
            movers[name][free] = anywhere(most, int(free.sum()))
    lasers, shoves, listed = kinds == 23, kinds == 28, movers["cell"] >= 0
    movers["x"][kinds == 16] = anywhere(1e9, int((kinds == 16).sum()))
    movers["u"][np.flatnonzero(lasers)[::2]] = anywhere(1e3, int(lasers.sum() // 2))
    movers["phase"][shoves] = rng.integers(0, 4, int(shoves.sum()))
    movers["u"][shoves], movers["v"][shoves] = 1.0, 0.0
    for kind in (16, 20):
        movers["phase"][kinds == kind] = rng.integers(-1, 2, int((kinds == kind).sum()))
    _forge_hunters(rng, movers, kinds)
    for kind in (14, 15, 26):
        movers["turn"][kinds == kind] = rng.integers(0, 4, int((kinds == kind).sum()))
    # A flying rocket must be listed where it is.
    anywhere_listed = listed & (kinds != 3) & (kinds != 18)
    movers["cell"][anywhere_listed] = rng.integers(0, CELLS, int(anywhere_listed.sum()))
    return wrong


def _forge_hunters(rng: np.random.Generator, movers: np.ndarray, kinds: np.ndarray) -> None:
    """Chasers, gun drones, turrets and evil ninjas in the middle of what they do, each number at some place."""

    def some(where: np.ndarray) -> np.ndarray:
        return np.flatnonzero(where & (rng.random(len(kinds)) < 0.5))

    movers["phase"][kinds == 15] = rng.integers(0, 2, int((kinds == 15).sum()))
    # What is in the middle of a phase: how long it has been in it.
    busy = some(np.isin(kinds, (12, 13, 19)) & (movers["phase"] > 0))
    movers["stamp"][busy] = rng.integers(0, 60, len(busy))
    aims = some((kinds == 19) & (movers["phase"] > 0))
    for name in ("u", "v"):
        movers[name][aims] = rng.choice([-1.0, 1.0], len(aims)) * 1e9 ** rng.random(len(aims))
    # The second mover of a gun drone, or a rocket: any direction.
    ways = some(np.isin(kinds, (12, 13, 18)) & (movers["u"] ** 2 + movers["v"] ** 2 > 0.5) & (movers["x"] < 1e4))
    angles = rng.random(len(ways)) * 2 * np.pi
    movers["u"][ways], movers["v"][ways] = np.cos(angles), np.sin(angles)
    places = some((kinds == 22) & (movers["phase"] == 3))
    for name in ("x", "y"):
        movers[name][places] = rng.choice([-1.0, 1.0], len(places)) * 1e9 ** rng.random(len(places))


def hostile_levels(rng: np.random.Generator, count: int) -> list[Level]:
    """All kinds in one room, rooms for all phases of some, crowds, golden levels and hostile maps."""
    maps = [run.map for run in golden()]
    crowds = [read_map(crowded_map(kind, 60)) for kind in SIMULATED if kind in (16, 20, 23, 25, 26, 28)]
    chosen = [read_map(maps[i]) for i in rng.choice(len(maps), max(count // 4, 1), replace=False)]
    known = [*rooms_with_phases(), *crowds, *chosen]
    return [*known, *islice(accepted_levels(rng, maps), max(count - len(known), 0))]


@dataclass(slots=True)
class Tally:
    """What came of restores.

    Attributes:
        restores: How many were tried, at every entrance.
        accepted: How many were accepted.
        slowest_seconds: Processor time of the longest restore, with what followed it: observations, decoding, steps.
    """

    restores: int = 0
    accepted: int = 0
    slowest_seconds: float = 0.0


class Target:
    """One level in two environments and a decoder; hostile states go into the second environment."""

    def __init__(self, level: Level, rng: np.random.Generator) -> None:
        self.rng = rng
        options = {"levels": [level], "graph": GRAPH, "max_episode_frames": None}
        self.env = NppVectorEnv(2, observation={"keys": OBSERVATION_KEYS}, **options)
        self.rows = NppVectorEnv(2, observation={"keys": OBSERVATION_KEYS, "layout": "state"}, **options)
        self.decoder = ObservationDecoder(self.rows.config, [level])
        self.geometry = self.env._episodes.resources(0).handle.geometry
        self.env.reset(seed=0)
        self.rows.reset(seed=0)
        self.states = [self.env.get_state()[0]]
        for _ in range(12):
            self.env.step(rng.integers(0, 6, 2))
            self.states.append(self.env.get_state()[0])
        if level in rooms_with_phases():
            start = self.states[0][:HEADER_BYTES]
            self.states += [seal(start, state.tobytes()) for state in states_with_phases(level)]
        self.env.reset(seed=0)

    def attack(self, tally: Tally) -> None:
        """Try one hostile state at every entrance, and go on from it where it is accepted."""
        rng = self.rng
        saved = self.states[rng.integers(len(self.states))]
        header = saved[:HEADER_BYTES]
        state = np.frombuffer(saved[HEADER_BYTES + CHECKSUM_BYTES :], np.uint8)
        hostile = forge(rng, state, self.geometry) if rng.random() < 0.4 else state
        hostile = damage(rng, hostile) if rng.random() < 0.7 else hostile
        block = seal(header, hostile.tobytes())
        before = self.env.get_state()
        start = time.process_time()
        tally.restores += 1
        try:
            self.env.set_state([before[0], block])
        except StateError:
            assert self.env.get_state() == before
        else:
            tally.accepted += 1
            for _ in range(3):
                self.env.step(rng.integers(0, 6, 2))
            self.env.set_state(before)
        self._attack_rows(hostile, tally)
        tally.slowest_seconds = max(tally.slowest_seconds, time.process_time() - start)

    def _attack_rows(self, hostile: np.ndarray, tally: Tally) -> None:
        rows = self.rows.reset(seed=0)[0]
        header = rows[1, :ROW_HEADER_BYTES].tobytes()
        sealed = np.frombuffer(seal(header, hostile.tobytes()), np.uint8)
        tally.restores += 2
        for entrance in (self.decoder.decode, lambda row: self.rows.set_state([row], indices=[1])):
            try:
                entrance(sealed)
            except StateError:
                continue
            tally.accepted += 1
        self.rows.step(np.full(2, 5))


def attack_all(levels: Sequence[Level], count: int, seed: int) -> Tally:
    """Restore about `count` hostile states, taking turns between the levels.

    Raises:
        NppError: A state made something fail that is not a refusal.
    """
    rng = np.random.default_rng(seed)
    tally = Tally()
    for number, level in enumerate(levels):
        target = Target(level, rng)
        while tally.restores * len(levels) < count * (number + 1):
            target.attack(tally)
    if not tally.accepted:
        raise NppError(f"none of {tally.restores} hostile states was accepted: nothing was tried")
    return tally
