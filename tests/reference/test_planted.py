"""Faults planted in the references are found: the comparison compares."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from reference import rewards, vectors
from reference.compare import assert_equal, mismatches
from reference.levels import crowded_room, hall
from reference.play import KEYS, RIGHT, play, revealing


def swapped(items, one, two):
    items = list(items)
    items[one], items[two] = items[two], items[one]
    return items


def transposed_window(scene):
    values = vectors_spatial_context(scene)
    return [values[11 * (k % 11) + k // 11] for k in range(121)] + values[121:]


vectors_spatial_context = vectors.spatial_context
vectors_relative = vectors.relative
vectors_game_state = vectors.game_state


# Name of the fault, key that shows it, what is replaced, by what.
FAULTS = [
    ("dx and dy swapped", "entity_states", "relative", lambda *place: vectors_relative(*place)[::-1]),
    ("dx and dy swapped", "switch_states", "relative", lambda *place: vectors_relative(*place)[::-1]),
    ("wrong width", "entity_states", "LEVEL_WIDTH", 1056.0 + 12),
    ("wrong height", "switch_states", "LEVEL_HEIGHT", 606.0),
    ("wrong width", "game_state", "LEVEL_WIDTH", 1058.0),
    ("wrong scale of speed", "game_state", "FASTEST", 12.1),
    ("wrong scale of speed", "entity_states", "FASTEST", 12.1),
    ("states in another order", "game_state", "STATE_NAMES", swapped(vectors.STATE_NAMES, 3, 4)),
    ("dead and celebrating exchanged", "game_state", "STATE_NAMES", swapped(vectors.STATE_NAMES, 6, 7)),
    ("buffer one tick older", "game_state", "buffer_age", lambda age: 0.0 if age < 0 else (age + 2) / 6),
    ("buffer one tick younger", "game_state", "buffer_age", lambda age: max(age, 0) / 6),
    ("buffers exchanged", "game_state", "game_state", lambda scene: swapped(vectors_game_state(scene), 22, 23)),
    ("normal components exchanged", "game_state", "game_state", lambda s: swapped(vectors_game_state(s), 17, 18)),
    ("time and gold exchanged", "game_state", "game_state", lambda scene: swapped(vectors_game_state(scene), 31, 33)),
    ("wrong gravity", "game_state", "NORMAL_GRAVITY", 0.0667),
    ("wrong longest jump", "game_state", "MOST_HOLD", 45),
    ("types in another order", "entity_states", "TYPE_NAMES", swapped(vectors.TYPE_NAMES, 4, 5)),
    ("last types exchanged", "entity_states", "TYPE_NAMES", swapped(vectors.TYPE_NAMES, 17, 18)),
    ("wrong mode of mines", "entity_states", "MINE_MODES", [1.0, 0.5, 0.0]),
    ("wrong mode of mines", "spatial_context", "MINE_MODES", [1.0, 0.5, 0.0]),
    ("wrong radius of arming mines", "entity_states", "MINE_RADII", [4.0, 3.5, 4.0]),
    ("wrong radius of death balls", "entity_states", "RADII", {**vectors.RADII, "death ball": 8.0}),
    ("wrong radius of lasers", "entity_states", "RADII", {**vectors.RADII, "laser turret": 6.0}),
    ("wrong radius of exits", "entity_states", "RADII", {**vectors.RADII, "open exit": 10.0}),
    ("mirrored orientations", "entity_states", "ORIENTATIONS", [(x, -y) for x, y in vectors.ORIENTATIONS]),
    ("drones turn the other way", "entity_states", "COMPASS", swapped(vectors.COMPASS, 1, 3)),
    ("wrong speed of one drone", "entity_states", "DRONE_SPEEDS", {14: 8 / 7, 26: 8 / 7}),
    ("thwumps return too fast", "entity_states", "RETREAT_SPEED", 20 / 7),
    ("shove thwumps go backwards", "entity_states", "LAUNCH_SPEED", -4.0),
    ("collected things stay", "entity_states", "matters", lambda entity: True),
    ("fewer rows count", "switch_states", "GROUPS", 4),
    ("window transposed", "spatial_context", "spatial_context", transposed_window),
    ("beyond the map is empty", "spatial_context", "solidity", lambda scene, i, j: 0.0),
    ("mines twice as far", "spatial_context", "MINE_RANGE", 66.0),
    ("half tile one pixel too wide", "spatial_context", "HALF_TILE", 13.0),
    ("a press is never idle", "action_mask", "RISING", vectors.SLIDING),
    ("actions in another order", "action_mask", "ACTION_NAMES", swapped(vectors.ACTION_NAMES, 2, 3)),
]


@pytest.mark.parametrize(("fault", "key", "name", "value"), FAULTS, ids=[f"{row[1]}-{row[0]}" for row in FAULTS])
def test_a_fault_in_the_reference_is_found(monkeypatch, fault, key, name, value):
    monkeypatch.setattr(vectors, name, value)
    if name in vectors.VECTORS:
        monkeypatch.setitem(vectors.VECTORS, name, value)
    with pytest.raises(AssertionError, match="instead of"):
        assert_equal(key, revealing())


@pytest.mark.parametrize("tile", range(1, 34))
def test_a_fault_in_a_tile_is_found(monkeypatch, tile):
    shares = dict(vectors.SOLID_SHARES)
    quarter = max(((tile, right, lower) for right in (0, 1) for lower in (0, 1)), key=lambda place: shares[place])
    shares[quarter] -= 1 / 144
    monkeypatch.setattr(vectors, "SOLID_SHARES", shares)
    moment = next(play(hall([], (80, 60), {(20, 15): tile}), []))
    assert mismatches("spatial_context", moment)


@pytest.mark.parametrize("key", KEYS)
def test_every_single_number_counts(key):
    """Each number of an observation is changed by the least that float16 can tell, alone."""
    moment = revealing()[20]
    given = moment.observation[key]
    assert mismatches(key, moment) == []
    for index in range(given.size):
        changed = given.copy()
        value = changed.reshape(-1)[index]
        changed.reshape(-1)[index] = 1 - value if key == "action_mask" else np.nextafter(value, np.float16(2))
        assert len(mismatches(key, moment, changed)) == 1


def test_wrong_types_and_sizes_are_found():
    moment = revealing()[0]
    for key in KEYS:
        given = moment.observation[key]
        assert mismatches(key, moment, given.astype("f4"))
        assert mismatches(key, moment, given.reshape(-1)[:-1])


@pytest.mark.parametrize(
    ("name", "value"), [("DEAD", 99), ("CELEBRATING", 99), ("EXIT", 99), ("DEAD", rewards.CELEBRATING)]
)
def test_a_fault_in_the_reference_of_the_reward_is_found(monkeypatch, name, value):
    weights = {"switch_weight": 0.5, "exit_weight": 1, "death_weight": -0.5, "time_weight": -1e-4, "gold_weight": 0}
    won = hall([(3, 34, 78), (4, 28, 78)])
    plays = [list(play(level, [RIGHT] * 80)) for level in (won, crowded_room(1))]

    def wrong():
        pairs = [pair for moments in plays for pair in pairwise(moments)]
        paid = [rewards.event_reward(before.scene, after.scene, weights) for before, after in pairs]
        return [one for one, (_, after) in zip(paid, pairs, strict=True) if abs(one - after.reward) > 1e-12]

    assert wrong() == []
    monkeypatch.setattr(rewards, name, value)
    assert wrong() != []
