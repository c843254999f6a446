"""The future depends on the state alone: not on earlier episodes, nor on neighbours in a batch."""

from __future__ import annotations

import numpy as np
import pytest
from golden_levels import golden
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.level import read_map
from npp_env.sim import Batch, LevelHandle, Simulation, compile_level
from sim.rooms import EVERY_TYPE, level_of_every_type, room

LEVELS = {kind: room(*rows) for kind, rows in EVERY_TYPE.items()}
LEVELS[0] = level_of_every_type()

inputs_strategy = st.lists(st.tuples(st.integers(0, 7), st.integers(1, 40)), min_size=1, max_size=8)


def states(simulation: Simulation, inputs) -> list[bytes]:
    found = [simulation.get_state()]
    for byte, ticks in inputs:
        simulation.advance(byte, ticks, stop=False)
        found.append(simulation.get_state())
    return found


@pytest.mark.parametrize("kind", LEVELS)
@given(past=inputs_strategy, future=inputs_strategy)
@settings(max_examples=12, deadline=None)
def test_reset_equals_a_fresh_load(kind, past, future):
    used = Simulation(LEVELS[kind])
    states(used, past)
    used.reset()
    assert states(used, future) == states(Simulation(LEVELS[kind]), future)


@pytest.mark.parametrize("kind", LEVELS)
def test_every_type_does_something(kind):
    """Otherwise the tests above would compare nothing with nothing."""
    level, empty = LEVELS[kind], room(ninja=(10, 78) if kind == 0 else (20, 78))
    effects = []
    for inputs in ([(2, 150)], [(2, 30), (3, 30)] * 3, [(0, 15), (1, 60), (0, 90)]):
        simulation, alone = Simulation(level), Simulation(empty)
        start = simulation.state[144:].copy()
        for byte, ticks in inputs:
            for _ in range(ticks):
                simulation.advance(byte, 1, stop=False)
                alone.advance(byte, 1, stop=False)
                effects.append(not np.array_equal(simulation.state[144:], start))
                effects.append(not np.array_equal(simulation.state[:96], alone.state[:96]))
    assert any(effects)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_environments_of_a_batch_behave_as_each_alone(seed):
    rng = np.random.default_rng(seed)
    levels = [*LEVELS.values(), *(read_map(golden()[k].map) for k in rng.integers(0, 96, 6).tolist())]
    chosen = [levels[k] for k in rng.permutation(len(levels)).tolist()]
    handles = [LevelHandle(compile_level(level)) for level in chosen]
    batch = Batch(len(handles), max(handle.state_bytes for handle in handles))
    alone = [Simulation(level) for level in chosen]
    for i, handle in enumerate(handles):
        batch.set_level(i, handle)
    for round_ in range(12):
        inputs = rng.integers(0, 8, len(handles)).astype(np.uint8)
        ticks = int(rng.integers(1, 25))
        batch.advance(inputs, ticks, True)
        for i, simulation in enumerate(alone):
            simulation.advance(int(inputs[i]), ticks)
            if round_ == 5 and i % 3 == 0:
                batch.restart(i)
                simulation.reset()
            size = handles[i].state_bytes
            assert batch.states[i, :size].tobytes() == simulation.state.tobytes(), chosen[i]
            assert not batch.states[i, size:].any()


def test_a_level_shared_by_many_is_never_written():
    geometry = compile_level(level_of_every_type())
    before = geometry.block.tobytes()
    batch = Batch(8, LevelHandle(geometry).state_bytes)
    for i in range(8):
        batch.set_level(i, LevelHandle(geometry))
    batch.advance(np.arange(8, dtype=np.uint8), 500, False)
    assert geometry.block.tobytes() == before
    assert not geometry.block.flags.writeable


def test_a_range_of_a_batch_leaves_the_rest_alone():
    handle = LevelHandle(compile_level(room()))
    batch = Batch(4, handle.state_bytes)
    for i in range(4):
        batch.set_level(i, handle)
    batch.advance_range(np.full(4, 2, np.uint8), 1, 3, 10)
    frames = batch.states[:, :144].copy().view("<i4")[:, 28]
    assert frames.tolist() == [0, 10, 10, 0]
