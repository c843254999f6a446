"""Snapshots: byte copies that restore exactly, and refuse what is not theirs."""

from __future__ import annotations

import copy
import pickle
import struct
from functools import lru_cache

import numpy as np
import pytest
from golden_levels import golden
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.errors import NppError, StateError
from npp_env.level import read_map
from npp_env.sim import Batch, LevelHandle, Simulation, compile_level
from sim.rooms import level_of_every_type, room

HEADER_BYTES = 40


@lru_cache(maxsize=128)
def fresh(index: int) -> Simulation:
    return Simulation(read_map(golden()[index].map))


@given(index=st.integers(0, 95), cut=st.floats(0, 1), detour=st.binary(max_size=40))
@settings(max_examples=60, deadline=None)
def test_restoring_at_any_tick_gives_the_same_future(index, cut, detour):
    simulation, inputs = fresh(index), golden()[index].inputs.tolist()
    cut = int(cut * len(inputs))
    simulation.reset()
    for byte in inputs[:cut]:
        simulation.advance(byte, 1, stop=False)
    snapshot = simulation.get_state()
    for byte in inputs[cut:]:
        simulation.advance(byte, 1, stop=False)
    end = simulation.get_state()
    for byte in detour:
        simulation.advance(byte & 7, 1, stop=False)
    simulation.set_state(snapshot)
    assert simulation.get_state() == snapshot
    for byte in inputs[cut:]:
        simulation.advance(byte, 1, stop=False)
    assert simulation.get_state() == end
    # The same future in another simulation of the same level, which has another past.
    other = Simulation(simulation.level)
    other.advance(3, 17)
    other.set_state(snapshot)
    for byte in inputs[cut:]:
        other.advance(byte, 1, stop=False)
    assert other.get_state() == end


def test_a_snapshot_does_not_follow_the_simulation():
    simulation = Simulation(room())
    snapshot = simulation.get_state()
    simulation.advance(2, 30)
    assert simulation.get_state() != snapshot
    simulation.set_state(snapshot)
    assert simulation.ninja["frame"] == 0


def test_foreign_states_are_refused_and_change_nothing():
    simulation = Simulation(room((2, 30, 78)))
    simulation.advance(2, 20)
    good = simulation.get_state()
    other_level = Simulation(room((2, 31, 78))).get_state()
    wrong_version = good[:4] + struct.pack("<H", 1) + good[6:]
    bad = {
        "not a saved state": [b"", b"x" * len(good), good[1:], b"NPPR" + good[4:], good[:10]],
        "version 1, this npp_env reads version 2": [wrong_version],
        "belongs to level": [other_level, good[:12] + bytes(16) + good[28:]],
        "damaged": [good[:-9] + bytes([good[-9] ^ 1]) + good[-8:]],
        "truncated or padded": [good[:-1], good + b"\0", good[:HEADER_BYTES]],
    }
    for message, blobs in bad.items():
        for blob in blobs:
            with pytest.raises(StateError, match=message):
                simulation.set_state(blob)
            assert simulation.get_state() == good
    with pytest.raises(StateError, match="is bytes, got str"):
        simulation.set_state("state")


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_other_bytes_are_a_state_error(data):
    simulation = Simulation(room())
    blob = data.draw(st.binary(max_size=300))
    with pytest.raises(StateError):
        simulation.set_state(blob)


@pytest.mark.parametrize("duplicate", [lambda s: pickle.loads(pickle.dumps(s)), copy.deepcopy, copy.copy])
def test_pickles_and_copies_carry_the_state_and_go_their_own_way(duplicate):
    simulation = Simulation(level_of_every_type())
    for byte in (2, 3, 3, 2, 1, 4) * 10:
        simulation.advance(byte)
    twin = duplicate(simulation)
    assert twin.get_state() == simulation.get_state()
    before = simulation.get_state()
    twin.advance(5, 20)
    assert simulation.get_state() == before
    simulation.advance(5, 20)
    assert twin.get_state() == simulation.get_state()


def test_views_share_memory_with_the_state():
    simulation = Simulation(room((2, 24, 78), (17, 60, 60)))
    ninja, movers, flags = simulation.ninja, simulation.movers, simulation.flags
    for view in (movers, flags):
        assert np.shares_memory(view, simulation.state)
    simulation.advance(2, 40)
    assert ninja["frame"] == 40
    assert flags.tolist() == [1]
    assert movers["y"].tolist() == [360.0]


def test_misuse_of_a_batch_is_an_error():
    handle = LevelHandle(compile_level(room((17, 40, 40))))
    batch = Batch(2, handle.state_bytes)
    with pytest.raises(IndexError, match="has no level"):
        batch.advance_one(0, 0)
    with pytest.raises(IndexError, match="has no level"):
        batch.advance(np.zeros(2, np.uint8))
    for call in (
        batch.restart,
        lambda i: batch.set_level(i, handle),
        lambda i: batch.advance_one(i, 0),
    ):
        for i in (-1, 2, 10**9):
            with pytest.raises(IndexError):
                call(i)
    batch.set_level(0, handle)
    batch.set_level(1, handle)
    for inputs in (np.zeros(1, np.uint8), np.zeros(3, np.uint8)):
        with pytest.raises(NppError, match="inputs for 2 environments"):
            batch.advance(inputs)
    for ticks in (-1, 10**9):
        with pytest.raises(NppError, match="ticks is"):
            batch.advance_one(0, 0, ticks)
        with pytest.raises(NppError, match="ticks is"):
            batch.advance(np.zeros(2, np.uint8), ticks)
    with pytest.raises(IndexError):
        batch.advance_range(np.zeros(2, np.uint8), 0, 3)
    with pytest.raises(StateError, match="bytes"):
        Batch(1, 144).set_level(0, handle)
    for num_envs, stride in ((0, 144), (1, 100), (1, 145)):
        with pytest.raises(NppError, match="stride"):
            Batch(num_envs, stride)


def test_states_stay_small():
    assert LevelHandle(compile_level(room(*[(2, 30 + k, 78) for k in range(100)]))).state_bytes < 1024
