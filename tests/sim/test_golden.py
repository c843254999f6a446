"""The kernel against the golden trajectories: every tick, every bit."""

from __future__ import annotations

import numpy as np
import pytest
from golden_levels import golden

from npp_env.level import read_map
from npp_env.sim import Batch, LevelHandle, Simulation, compile_level
from npp_env.sim.views import movers_view, ninja_view

GOLDEN_IDS = [g.id for g in golden()]
MOVER_ORDER = (14, 16, 17, 20, 25, 26, 28)


def mover_slots(geometry) -> list[int]:
    entities = geometry["entities"]
    return [int(entities["slot"][e]) for kind in MOVER_ORDER for e in np.flatnonzero(entities["kind"] == kind)]


def first_difference(got: np.ndarray, want: np.ndarray) -> str | None:
    """Where two trajectories part, to the bit (only the sign of zero is free)."""
    if got.shape != want.shape:
        return f"shapes {got.shape} and {want.shape}"
    wrong = np.argwhere(~(got == want))
    if not len(wrong):
        return None
    place = tuple(int(k) for k in wrong[0])
    return f"first at [tick, ...] = {place}: got {got[place]!r}, want {want[place]!r}"


def test_golden_set_is_complete():
    assert len(GOLDEN_IDS) == 96


@pytest.mark.parametrize("index", range(96), ids=GOLDEN_IDS)
def test_trajectory_is_exact(index):
    g = golden()[index]
    simulation = Simulation(read_map(g.map))
    slots = mover_slots(simulation.geometry)
    kinds = simulation.geometry["entities"]["kind"]
    assert [k for k in MOVER_ORDER for _ in np.flatnonzero(kinds == k)] == g.mover_types.tolist()
    ninja, flags, movers = np.empty_like(g.ninja), np.empty_like(g.flags), np.empty_like(g.movers)
    for t, byte in enumerate(g.inputs.tolist()):
        # Recording goes on for some ticks after death or victory.
        assert simulation.advance(byte, 1, stop=False) == 1
        n = simulation.ninja
        ninja[t] = n["x"], n["y"], n["vx"], n["vy"]
        flags[t] = n["state"], n["gold"], n["air"], n["walled"]
        moving = simulation.movers
        movers[t, :, 0], movers[t, :, 1] = moving["x"][slots], moving["y"][slots]
    assert first_difference(ninja, g.ninja) is None
    assert first_difference(flags, g.flags) is None
    assert first_difference(movers, g.movers) is None


def test_all_levels_in_one_batch_are_exact_too():
    all_golden = golden()
    handles = [LevelHandle(compile_level(read_map(g.map))) for g in all_golden]
    batch = Batch(len(handles), max(handle.state_bytes for handle in handles))
    for i, handle in enumerate(handles):
        batch.set_level(i, handle)
    ninjas = ninja_view(batch.states)
    slots = [mover_slots(handle.geometry) for handle in handles]
    longest = max(len(g.inputs) for g in all_golden)
    inputs = np.zeros(len(handles), np.uint8)
    for t in range(longest):
        playing = [i for i, g in enumerate(all_golden) if t < len(g.inputs)]
        for i in playing:
            inputs[i] = all_golden[i].inputs[t]
        batch.advance(inputs, 1, False)
        got = np.stack([ninjas[name] for name in ("x", "y", "vx", "vy")], axis=1)
        for i in playing:
            assert np.array_equal(got[i], all_golden[i].ninja[t]), (all_golden[i].id, t)
        # Comparing all movers in each tick would only make the test slow: a mover that is wrong stays wrong.
        if t % 50 == 0:
            for i in playing:
                movers = movers_view(batch.states[i], handles[i].geometry)[slots[i]]
                assert np.array_equal(np.stack([movers["x"], movers["y"]], axis=1), all_golden[i].movers[t]), (
                    all_golden[i].id,
                    t,
                )


def test_many_ticks_in_one_call_equal_single_ticks():
    for g in golden()[::8]:
        level = read_map(g.map)
        one, many = Simulation(level), Simulation(level)
        starts = np.flatnonzero(np.diff(g.inputs, prepend=np.uint8(255)))
        lengths = np.diff(starts, append=len(g.inputs))
        for byte in g.inputs.tolist():
            one.advance(byte)
        for byte, ticks in zip(g.inputs[starts].tolist(), lengths.tolist(), strict=True):
            many.advance(byte, ticks)
        assert one.get_state() == many.get_state()
