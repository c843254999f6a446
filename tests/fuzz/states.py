"""Entrances for states: saved episodes, rows of the state layout, snapshots of a simulation."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

import numpy as np

from npp_env.config import EnvironmentConfig
from npp_env.env import NppEnv
from npp_env.errors import NppError
from npp_env.level.shipped import load_shipped
from npp_env.observe.state_row import STATE_ROW
from npp_env.profiling.mixed_levels import mixed_level
from npp_env.rollouts.decoder import ObservationDecoder
from npp_env.runtime.saved_state import SavedState, read_saved_state, write_saved_state
from npp_env.sim import Simulation
from npp_env.sim.checksum import seal
from npp_env.sim.simulation import pack_state
from npp_env.vector import NppVectorEnv
from tests.fuzz.entrance import Entrance, Run, chance, require
from tests.fuzz.mutate import BINARY, FIXED_LENGTH

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from sim.phases import rooms_with_phases, states_with_phases

SHIPPED = (
    "mixed/laser_room",
    "mixed/clockwork",
    "mixed/factory",
    "death_balls/chase",
    "thwumps/shove",
    "doors/two_keys",
    "drones/floor_guard",
    "bounce_blocks/stack",
    "launch_boost/ping_pong",
    "mines/toggle_steps",
)
LEVEL = slice(STATE_ROW.fields["level"][1], STATE_ROW.fields["checksum"][1])
"""The hash of its level, in a row."""
KEYS = ("game_state", "entity_states", "switch_states", "reachability_features", "spatial_context", "player_frame")
KEYS = (*KEYS, "global_view", "action_mask")
PLAYED = (*map(load_shipped, SHIPPED), mixed_level(1), mixed_level(2))
LEVELS = (*PLAYED, *rooms_with_phases())
"""All kinds of entities, many of them in few levels and in many."""


def configuration(layout: str = "dict") -> EnvironmentConfig:
    return EnvironmentConfig(observation={"keys": KEYS, "layout": layout})


@lru_cache(maxsize=1)
def saved_states() -> list[tuple[int, bytes]]:
    """Number of the level and bytes of episodes: at different ages, and with entities in each of their phases."""
    env = NppEnv(configuration(), levels=LEVELS)
    rng = np.random.default_rng(3)
    found = []
    for number in range(len(PLAYED)):
        env.reset(seed=number, options={"level": number})
        for age in range(60):
            if age in (0, 5, 20, 59):
                found.append((number, env.get_state()))
            env.step(int(rng.integers(6)))
    for number in range(len(PLAYED), len(LEVELS)):
        env.reset(seed=number, options={"level": number})
        original = read_saved_state(env.get_state())
        found += [
            (number, write_saved_state(original._replace(state=state))) for state in states_with_phases(LEVELS[number])
        ]
    return found


def check_finite(observation: dict[str, np.ndarray]) -> None:
    for key, values in observation.items():
        require(values.dtype.kind != "f" or bool(np.isfinite(values).all()), f"{key} has a value that is no number")


class Episode:
    """An environment that takes states; a refused one changes nothing, an accepted one can be played."""

    def __init__(self, layout: str = "dict") -> None:
        self.env = NppEnv(configuration(layout), levels=LEVELS)
        self.env.reset(seed=0)
        self.before = self.env.get_state()

    def restore(self, state: bytes | np.ndarray) -> None:
        try:
            self.env.set_state(state)
        except NppError:
            require(self.env.get_state() == self.before, "a refused state changed the environment")
            raise
        for action in (5, 1):
            observation = self.env.step(action)[0]
            if isinstance(observation, dict):
                check_finite(observation)
        self.env.action_masks()
        self.before = self.env.get_state()


def open_saved(folder: Path) -> Run:
    """The bytes as they are: checksums keep nearly all of it out."""
    episode = Episode()
    return lambda data: episode.restore(data)


def open_state(folder: Path) -> Run:
    """Only the content is changed; the checksums are right, so that the check of the content itself is met."""
    episode = Episode()
    originals = [read_saved_state(data) for _, data in saved_states()]
    by_level = {saved.level_index: saved for saved in originals}

    def run(data: bytes) -> None:
        if len(data) < 2:
            raise NppError("no level")
        original = by_level[data[0] % len(LEVELS)]
        size = original.state.size
        state = np.frombuffer(data[1 : 1 + size].ljust(size, b"\0"), np.uint8)
        episode.restore(write_saved_state(rewritten(original, state, data[1 + size :])))

    return run


def rewritten(original: SavedState, state: np.ndarray, tail: bytes) -> SavedState:
    """A saved state with other content; what is behind the state changes the numbers around it."""
    numbers = np.frombuffer(tail[: len(tail) // 4 * 4], "<i4").tolist()
    limit, steps, key, episode = (numbers + [original.limit_frames, original.episode_steps, 7, 3][len(numbers) :])[:4]
    total = float(np.frombuffer(tail[16:24], "<f8")[0]) if len(tail) >= 24 else original.episode_return
    return SavedState(
        original.level_hash, original.level_index, limit, steps, total, key % 2**64, episode, steps & 1, state
    )


def state_seeds() -> list[bytes]:
    return [bytes([number]) + read_saved_state(data).state.tobytes() for number, data in saved_states()]


def open_simulation(folder: Path) -> Run:
    simulations = [Simulation(level) for level in LEVELS]

    def run(data: bytes) -> None:
        if len(data) < 2:
            raise NppError("no level")
        simulation = simulations[data[0] % len(simulations)]
        size = simulation.handle.state_bytes
        before = simulation.get_state()
        state = np.frombuffer(data[1 : 1 + size].ljust(size, b"\0"), np.uint8)
        blob = pack_state(simulation.level.hash, state) if not chance(data, 8) else data[1:]
        try:
            simulation.set_state(blob)
        except NppError:
            require(simulation.get_state() == before, "a refused state changed the simulation")
            raise
        require(simulation.get_state() == blob, "the state does not come back as it was")
        simulation.advance(data[-1] & 7, 20, stop=False)

    return run


@lru_cache(maxsize=1)
def rows() -> np.ndarray:
    """Rows of the state layout (n, row_bytes)."""
    env = NppVectorEnv(len(LEVELS), configuration("state"), levels=LEVELS)
    rng = np.random.default_rng(4)
    found = []
    for number in range(len(LEVELS)):
        observation, _ = env.reset(seed=1, options={"level": number})
        for _ in range(12):
            observation = env.step(rng.integers(0, 6, len(LEVELS)))[0]
        found.append(observation[:3].copy())
    for number in range(len(PLAYED), len(LEVELS)):
        observation, _ = env.reset(seed=1, options={"level": number})
        for state in states_with_phases(LEVELS[number]):
            row = observation[0].copy()
            row[STATE_ROW.itemsize : STATE_ROW.itemsize + len(state)] = state
            found.append(sealed(row, _state_bytes())[None])
    return np.concatenate(found)


def _state_bytes() -> dict[bytes, int]:
    """How long the states of each level are, by its hash."""
    return {bytes.fromhex(one.hash): Simulation(one).handle.state_bytes for one in LEVELS}


def row_seeds() -> list[bytes]:
    """Without the zeros behind their states, where no change gets further; and two as they are."""
    known = _state_bytes()
    seeds = [row.tobytes() for row in rows()]
    short = [seed[: STATE_ROW.itemsize + known[seed[LEVEL]]] for seed in seeds]
    return [*short, *seeds[:2]]


def open_rows(folder: Path) -> Run:
    """A row of the state layout: into an environment, and through the decoder."""
    episode = Episode("state")
    decoder = ObservationDecoder(configuration("state"), LEVELS, keys=KEYS)
    batch = decoder.allocate(2)
    good = rows()[:1]
    state_bytes = _state_bytes()

    def run(data: bytes) -> None:
        row = np.frombuffer(data[: decoder.row_bytes].ljust(decoder.row_bytes, b"\0"), np.uint8)
        if not chance(data, 16):
            row = sealed(row, state_bytes)
        try:
            check_finite(decoder.decode(np.concatenate([good, row[None]]), out=batch))
        finally:
            episode.restore(row)

    return run


def sealed(row: np.ndarray, state_bytes: dict[bytes, int]) -> np.ndarray:
    """The row with the checksum that belongs to its content, as long as its level is known."""
    known = state_bytes.get(row[LEVEL].tobytes())
    if known is None:
        return row
    state = row[STATE_ROW.itemsize : STATE_ROW.itemsize + known].tobytes()
    start = seal(row[: STATE_ROW.fields["checksum"][1]].tobytes(), state)
    return np.concatenate([np.frombuffer(start, np.uint8), row[len(start) :]])


ENTRANCES = (
    Entrance("saved-state", lambda: [data for _, data in saved_states()], open_saved, BINARY),
    Entrance("state", state_seeds, open_state, FIXED_LENGTH),
    Entrance("simulation-state", state_seeds, open_simulation, FIXED_LENGTH),
    Entrance("state-row", row_seeds, open_rows, FIXED_LENGTH),
)
