"""Restores: nothing gets in that the kernel could not have made, and a refused restore changes nothing."""

from __future__ import annotations

import pickle
import struct

import numpy as np
import pytest
from reference.checksums import checksum, resealed_block, resealed_row
from sim.damage import refuse_every_flipped_bit
from sim.rooms import level_of_every_type, room

from npp_env import NppEnv, NppVectorEnv
from npp_env.errors import NppError, StateError
from npp_env.level.shipped import load_shipped
from npp_env.observe.spec import OBSERVATION_KEYS
from npp_env.rollouts.decoder import ObservationDecoder
from npp_env.sim.structs import NINJA
from runtime.hostile_states import attack_all, hostile_levels

HEADER = struct.Struct("<4sHHI16siiidQq")
HEADER_FIELDS = (
    "magic", "version", "ended", "size", "level", "level_index", "limit_frames", "episode_steps", "episode_return",
    "key", "episode",
)  # fmt: skip
STATE = HEADER.size + 8
ALL = {"keys": OBSERVATION_KEYS}
FEW = {"keys": ("game_state", "entity_states", "reachability_features", "spatial_context", "action_mask")}
SMALL = {"max_nodes": 300, "max_edges": 1500}


def forged_ninja(block: bytes, **values: float) -> bytes:
    """A saved state with another ninja, under a checksum that fits."""
    state = np.frombuffer(block[STATE:], np.uint8).copy()
    for field, value in values.items():
        state[: NINJA.itemsize].view(NINJA)[field] = value
    return resealed_block(block[:STATE] + state.tobytes(), HEADER.size)


def forged_header(block: bytes, **values: object) -> bytes:
    """A saved state with another header, under a checksum that fits."""
    fields = dict(zip(HEADER_FIELDS, HEADER.unpack(block[: HEADER.size]), strict=True))
    return resealed_block(HEADER.pack(*{**fields, **values}.values()) + block[HEADER.size :], HEADER.size)


def played(env, steps: int = 6):
    env.reset(seed=3)
    for _ in range(steps):
        env.step(2 if isinstance(env, NppEnv) else np.full(env.num_envs, 2))
    return env


def test_a_saved_state_has_a_header_a_checksum_and_the_state():
    env = played(NppEnv(levels="shipped:first_steps"))
    block = env.get_state()
    magic, version, ended, size, level, *_ = HEADER.unpack(block[: HEADER.size])
    assert (magic, version, ended, size) == (b"NPPE", 2, 0, len(block) - STATE)
    assert level.hex() == env.level.hash
    assert struct.unpack_from("<Q", block, HEADER.size) == (checksum(block[: HEADER.size], block[STATE:]),)


# The defects that were found.


@pytest.mark.parametrize("state", [-128, -100, -7, -1, 10, 127])
def test_a_state_of_the_ninja_that_does_not_exist_writes_nowhere(state):
    env = played(NppVectorEnv(3, levels=[level_of_every_type()], observation=FEW, copy=False))
    before = env.get_state()
    with pytest.raises(StateError, match=f"environment 1: .*state of the ninja is {state}; it must be 0 to 9"):
        env.set_state([forged_ninja(before[1], state=state)], indices=[1])
    assert env.get_state() == before


def test_an_infinite_speed_before_a_laser_is_refused():
    env = played(NppEnv(levels=[room((23, 60, 60))]))
    good = env.get_state()
    for value in (np.inf, -np.inf, np.nan):
        with pytest.raises(StateError, match="vx of the ninja is"):
            env.set_state(forged_ninja(good, vx=value))
    assert env.get_state() == good
    env.step(2)


def test_a_floor_guard_without_a_place_is_refused():
    env = played(NppEnv(levels=[room((16, 60, 78))]))
    good = env.get_state()
    state = bytearray(good)
    state[STATE + NINJA.itemsize : STATE + NINJA.itemsize + 8] = struct.pack("<d", np.nan)
    with pytest.raises(StateError, match=r"x of the floor-guard at \(360, 468\) is nan; it must be"):
        env.set_state(resealed_block(bytes(state), HEADER.size))
    assert env.get_state() == good


@pytest.mark.parametrize("place", range(3))
def test_one_bad_state_keeps_all_environments_as_they_were(place):
    levels = "shipped:first_steps"
    env = played(NppVectorEnv(3, levels=levels, observation=FEW))
    saved = env.get_state()
    played(env, 9)
    before, keys = env.get_state(), env._engine.slots["key"].copy()
    foreign = NppEnv(levels=[room((2, 40, 40))])
    foreign.reset(seed=0)
    bad = {
        "damaged": saved[place][:-1] + bytes([saved[place][-1] ^ 1]),
        "vx of the ninja": forged_ninja(saved[place], vx=np.nan),
        "episode_steps of the saved state is -1": forged_header(saved[place], episode_steps=-1),
        "belongs to level": foreign.get_state(),
        "truncated": saved[place][:-8],
        "not a saved state": b"rubbish" * 20,
    }
    for message, block in bad.items():
        states = [*saved[:place], block, *saved[place + 1 :]]
        with pytest.raises(StateError, match=f"the state for environment {place}: .*{message}"):
            env.set_state(states)
        assert env.get_state() == before, message
        assert env._engine.slots["key"].tolist() == keys.tolist()
    env.set_state(saved)
    assert env.get_state() == saved


@pytest.mark.parametrize(
    ("field", "values"),
    {
        "level_index": (-2, -(2**31)),
        "limit_frames": (-1, -(2**31)),
        "episode_steps": (-1, 2**31 - 1),
        "episode_return": (float("nan"), float("inf"), -float("inf")),
        "key": (2**63, 2**64 - 1),
        "episode": (-2, 2**63 - 1),
        "ended": (2, 2**16 - 1),
    }.items(),
)
def test_the_context_of_an_episode_is_checked(field, values):
    env = played(NppEnv(levels="shipped:first_steps"))
    good = env.get_state()
    for value in values:
        with pytest.raises(StateError, match=f"{field} of the saved state is {value}; it must be"):
            env.set_state(forged_header(good, **{field: value}))
        assert env.get_state() == good


def test_the_context_of_a_row_is_checked():
    env = played(NppEnv(levels="shipped:first_steps/walk", observation={"layout": "state"}))
    row, before = env.step(2)[0].tobytes(), env.get_state()
    for place, field in ((8, "limit_frames"), (12, "episode_steps")):
        forged = row[:place] + struct.pack("<i", -5) + row[place + 4 :]
        with pytest.raises(StateError, match=f"{field} of the saved state is -5"):
            env.set_state(np.frombuffer(resealed_row(forged, len(row) - 40), np.uint8))
        assert env.get_state() == before


def test_old_versions_are_named():
    env = played(NppEnv(levels="shipped:first_steps/walk", observation={"layout": "state"}))
    row, block = env.step(2)[0], env.get_state()
    with pytest.raises(StateError, match="the state has version 1, this npp_env reads version 2"):
        env.set_state(forged_header(block, version=1))
    old = row.copy()
    old[0] = 1
    with pytest.raises(StateError, match="the state row has version 1, this npp_env reads 2"):
        env.set_state(old)
    with pytest.raises(StateError, match="row 0 has version 1"):
        ObservationDecoder(env.config).decode(old)


@pytest.mark.parametrize("make", [NppEnv, lambda **options: NppVectorEnv(2, **options)])
def test_a_pickle_with_a_forged_state_is_refused(make):
    env = played(make(levels="shipped:first_steps/walk"))
    pickle.loads(pickle.dumps(env))
    saved = env.__getstate__()
    last = max(saved["states"])
    states = {**saved["states"], last: forged_ninja(saved["states"][last], hold=99)}
    twin = type(env).__new__(type(env))
    with pytest.raises(StateError, match="hold of the ninja is 99"):
        twin.__setstate__({**saved, "states": states})


def test_bytes_behind_the_state_of_a_row_must_be_zero():
    levels = [load_shipped("first_steps/walk"), level_of_every_type()]
    env = NppEnv(levels=levels, observation={"layout": "state"})
    row, _ = env.reset(seed=0, options={"level": 0})
    decoder = ObservationDecoder(env.config, levels)
    before = env.get_state()
    size = env._episodes.resources_of(0).handle.state_bytes
    assert len(row) > 40 + size + 8
    for place in (40 + size, 40 + size + 1, len(row) - 1):
        damaged = row.copy()
        damaged[place] = 1
        with pytest.raises(StateError, match="damaged"):
            env.set_state(damaged)
        with pytest.raises(StateError, match="damaged"):
            decoder.decode(damaged)
        assert env.get_state() == before


@pytest.mark.parametrize("states", [None, 5, b"bytes", "text", iter(()), {}])
def test_what_is_no_sequence_of_states_is_refused(states):
    env = NppVectorEnv(2, levels="shipped:first_steps")
    env.reset(seed=0)
    before = env.get_state()
    with pytest.raises(NppError, match="it must be a sequence, with one for each environment"):
        env.set_state(states)
    assert env.get_state() == before


@pytest.mark.parametrize("indices", [[0.5, 1], ["a", "b"], "ab", 5, [None, 1]])
def test_indices_that_are_no_whole_numbers_are_refused(indices):
    env = NppVectorEnv(2, levels="shipped:first_steps")
    env.reset(seed=0)
    for call in (env.get_state, lambda chosen: env.set_state(env.get_state(), chosen)):
        with pytest.raises(NppError, match="it must be a sequence of whole numbers"):
            call(indices)


def test_one_environment_takes_one_state():
    env = NppVectorEnv(2, levels="shipped:first_steps")
    env.reset(seed=0)
    before = env.get_state()
    with pytest.raises(NppError, match="2 states for 1 environments"):
        env.set_state(before[::-1], indices=[1, 1])
    assert env.get_state() == before


# Damage, bit by bit.


def test_every_flipped_bit_of_a_saved_state_is_noticed():
    env = played(NppEnv(levels=[level_of_every_type()], observation=FEW))
    refuse_every_flipped_bit(env)


def test_every_flipped_bit_of_a_row_is_noticed():
    levels = [level_of_every_type()]
    env = played(NppEnv(levels=levels, observation={"layout": "state"}))
    row, good = env.step(2)[0], env.get_state()
    decoder = ObservationDecoder(env.config, levels)
    for bit in range(8 * len(row)):
        damaged = row.copy()
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(StateError):
            env.set_state(damaged)
        with pytest.raises(StateError):
            decoder.decode(damaged)
    assert env.get_state() == good


def test_every_flipped_bit_under_a_checksum_that_fits_is_refused_or_seen_and_played():
    levels = [level_of_every_type()]
    env = played(NppEnv(levels=levels, observation=ALL, graph=SMALL))
    compact = played(NppEnv(levels=levels, observation={**ALL, "layout": "state"}, graph=SMALL))
    row, good = compact.step(2)[0].tobytes(), env.get_state()
    decoder = ObservationDecoder(compact.config, levels)
    size = len(row) - 40
    rng = np.random.default_rng(0)
    bits = rng.choice(np.setdiff1d(np.arange(8 * len(row)), np.arange(32 * 8, 40 * 8)), 1500, replace=False)
    accepted = 0
    for bit in bits.tolist():
        damaged = bytearray(row)
        damaged[bit // 8] ^= 1 << bit % 8
        forged = np.frombuffer(resealed_row(bytes(damaged), size), np.uint8)
        try:
            seen = decoder.decode(forged)
            env.set_state(forged)
        except NppError:
            env.set_state(good)
            assert env.get_state() == good
            continue
        accepted += 1
        for key, spec in env.observation_space.items():
            assert spec.contains(seen[key]), (key, bit)
        observation, *_ = env.step(5)
        assert env.observation_space.contains(observation), bit
    assert 300 < accepted < 1300


def test_hostile_states_are_refused_or_played():
    levels = hostile_levels(np.random.default_rng(0), 14)
    tally = attack_all(levels, 2000, seed=1)
    assert tally.restores >= 2000
    assert 0.05 < tally.accepted / tally.restores < 0.6
