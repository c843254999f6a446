"""Small levels for the tests of graph and paths, and states of them that play would take long to reach."""

from __future__ import annotations

import struct

import numpy as np

from npp_env.level import Level
from npp_env.observe.spec import OBSERVATION_KEYS
from reference.checksums import resealed_block
from reference.play import recorded_actions
from reference.scene import CELEBRATING, MOVER_BYTES, NINJA_BYTES, movers_of, scene_of

LEFT, TOP, WIDE, HIGH = 3, 3, 15, 10  # of the box that a cave is cut into, in cells of the world
STATE_OFFSET, SWITCHES_OFFSET = 128, 138
CELL_OFFSET = 36  # of a mover
HEADER_BYTES = 64  # of a saved state, before its checksum
LOCKED_DOOR_TAKEN, TRAP_DOOR_TAKEN, EXIT_TAKEN = 3, 2, 1


def cave(seed: int, exits: int = 1, locked: int = 1, traps: int = 1, one_ways: int = 8, buried: bool = False) -> Level:
    """A box full of every tile shape, glitched and unknown ones too, in which everything lies anywhere.

    One-way platforms and doors come in every orientation. `buried` puts the spawn into the rock.
    """
    rng = np.random.default_rng(seed)
    box = np.where(rng.random(WIDE * HIGH) < 0.15, 1, 0).astype(np.uint8)
    shapes = np.arange(2, 41)
    box[rng.choice(len(box), len(shapes), replace=False)] = rng.permutation(shapes)
    tiles = np.ones((23, 42), np.uint8)
    tiles[TOP - 1 : TOP - 1 + HIGH, LEFT - 1 : LEFT - 1 + WIDE] = box.reshape(HIGH, WIDE)
    tiles[TOP - 1 : TOP + 1, LEFT - 1 : LEFT + 1] = 0

    def anywhere():
        return [int(rng.integers(4 * LEFT, 4 * (LEFT + WIDE))), int(rng.integers(4 * TOP, 4 * (TOP + HIGH)))]

    records = [[0, 100, 60, 0, 0] if buried else [0, 4 * LEFT + 4, 4 * TOP + 4, 0, 0]]
    records += [[3, *anywhere(), 0, 0] for _ in range(exits)]
    records += [[4, *anywhere(), 0, 0] for _ in range(exits)]
    turns = iter(rng.permutation(8).tolist() * 9)
    for door, switch, count in ((6, 7, locked), (8, 9, traps)):
        for _ in range(count):
            records += [[door, *anywhere(), next(turns), 0], [switch, *anywhere(), 0, 0]]
    records += [[5, *anywhere(), next(turns), 0]]
    records += [[11, *anywhere(), next(turns), 0] for _ in range(one_ways)]
    return Level.from_parts(tiles, records, name=f"cave {seed}")


def gallery(*records, columns: int = 20, spawn: int = 10, spawn_y: int = 42) -> Level:
    """A level corridor of one tile's height: x from 48 on, y from 240 to 264; records as (type, x, y, orientation)."""
    tiles = np.ones((23, 42), np.uint8)
    tiles[9, 1 : 1 + columns] = 0
    table = [[0, spawn, spawn_y, 0, 0]] + [[kind, x, y, turn, 0] for kind, x, y, turn in records]
    return Level.from_parts(tiles, table)


def vault() -> Level:
    """The exit switch lies behind a locked door, its key and the exit in front of it."""
    return gallery((3, 20, 42, 0), (4, 70, 42, 0), (6, 60, 42, 0), (7, 36, 42, 0), spawn=28)


def chain(doors: int) -> Level:
    """Locked doors in a row, each with its key behind the one before; switch and exit behind the last."""
    records = [(3, 160, 42, 0), (4, 150, 42, 0)]
    for number in range(doors):
        records += [(6, 29 + 20 * number, 42, 0), (7, 18 + 20 * number, 42, 0)]
    return gallery(*records, columns=40)


def trap_and_key() -> Level:
    """A trap door and a locked door in a row, both switches before them: only the key helps."""
    return gallery((3, 84, 42, 0), (4, 78, 42, 0), (6, 70, 42, 0), (7, 26, 42, 0), (8, 50, 42, 0), (9, 18, 42, 0))


def changed_state(level, state, x=None, y=None, doors=(), exits=(), dead=False):
    """A copy of a state with the ninja elsewhere and the switches of some doors and exits (by number) taken."""
    data = bytearray(bytes(state))
    scene = scene_of(level, data)
    x, y = scene.ninja.x if x is None else x, scene.ninja.y if y is None else y
    struct.pack_into("<2d", data, 0, x, y)
    movers = movers_of(level)
    flagged = [entity for entity in scene.entities if entity.flag is not None]
    for kinds_of, numbers in (((6, 8), doors), ((3,), exits)):
        own = [k for k, entity in enumerate(flagged) if entity.kind in kinds_of]
        for number in numbers:
            kind = flagged[own[number]].kind
            value = {6: LOCKED_DOOR_TAKEN, 8: TRAP_DOOR_TAKEN, 3: EXIT_TAKEN}[kind]
            data[NINJA_BYTES + MOVER_BYTES * movers + own[number]] = value
            if kind == 3:
                door = flagged[own[number]]
                cell = 25 * int(door.place_x // 24) + int(door.place_y // 24)
                struct.pack_into("<h", data, NINJA_BYTES + MOVER_BYTES * door.mover + CELL_OFFSET, cell)
    if exits:
        data[SWITCHES_OFFSET] = len(exits)
    if dead:
        data[STATE_OFFSET] = 6
    return np.frombuffer(bytes(data), np.uint8).copy()


def state_of(env, i=0):
    """A copy of the state of an environment."""
    return env._engine.states[i][: env._episodes.resources_of(i).handle.state_bytes].copy()


def rows_of_play(env, actions, held):
    """Rows of the `state` layout, and the states that they are of, at the start and after each action."""
    rows, states = [env.reset(seed=0)[0]], [state_of(env)]
    for action in actions:
        for _ in range(held):
            row, *_ = env.step(action)
        rows.append(row)
        states.append(state_of(env))
    return np.stack(rows), states


def put(env, state):
    """Bring an environment into a state of its present level."""
    env.set_state(resealed_block(env.get_state()[: HEADER_BYTES + 8] + bytes(state), HEADER_BYTES))


def observed(env, key):
    """One observation of the present state."""
    out = np.zeros(env.observation_space[key].shape, env.observation_space[key].dtype)
    env._engine.write_key(OBSERVATION_KEYS.index(key), out)
    return out


def halves_match(found, exact):
    """Whether float16 numbers are the exact ones rounded; a neighbour counts next to the middle between two."""
    exact = np.asarray(exact, np.float64)
    found = np.asarray(found)
    same = found == exact.astype(np.float16)
    for factor in (1 - 1e-6, 1 + 1e-6):
        same |= found == (exact * factor).astype(np.float16)
    return same


def moments_of_a_win(env, level, name, every):
    """Observation and scene along the winning recording: when switch or doors change, now and then, and at the end."""
    observation, _ = env.reset(seed=0)
    seen = set()
    for tick, action in enumerate(recorded_actions(name)):
        scene = scene_of(level, state_of(env))
        phase = (scene.ninja.switches > 0, *(door.taken for door in scene.of_kind(6, 8)))
        if phase not in seen or tick % every == every - 1:
            seen.add(phase)
            yield observation, scene
        observation, _, terminated, _, _ = env.step(action)
        if terminated:
            break
    scene = scene_of(level, state_of(env))
    assert scene.ninja.state == CELEBRATING
    assert len(seen) >= 2
    yield observation, scene
