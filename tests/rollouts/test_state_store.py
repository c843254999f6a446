"""The ring of state rows returns exactly what went in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env import NppVectorEnv
from npp_env.errors import NppError
from npp_env.level.shipped import shipped_level_names
from npp_env.rollouts.state_store import StateStore, stored_bytes


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    steps=st.integers(1, 6),
    envs=st.integers(1, 4),
    length=st.sampled_from([1, 31, 32, 33, 200]),
    adds=st.integers(1, 25),
)
def test_any_vectors_come_back_around_the_ring(seed, steps, envs, length, adds):
    rng = np.random.default_rng(seed)
    store = StateStore(steps, envs, length)
    expected = np.zeros((steps, envs, length), np.uint8)
    for k in range(adds):
        rows = rng.integers(0, 256, (envs, length)).astype(np.uint8)
        for row in rows:
            row[rng.integers(0, length + 1) :] = 0
        store[k % steps] = expected[k % steps] = rows
        at, env = rng.integers(0, steps, (2, 5)), rng.integers(0, envs, (2, 5))
        assert np.array_equal(store[at, env], expected[at, env])
        assert np.array_equal(store[k % steps], rows)
    out = np.full((steps, length), 9, np.uint8)
    assert store.take(np.arange(steps), np.zeros(steps, int), out=out) is out
    assert np.array_equal(out, expected[:, 0])
    store.clear()
    assert not store[0].any()


def test_memory_does_not_grow_when_the_ring_goes_around():
    store = StateStore(50, 4, 500)
    rng = np.random.default_rng(0)
    sizes = []
    for k in range(400):
        rows = np.zeros((4, 500), np.uint8)
        rows[:, : 100 if k // 50 % 2 else 300] = rng.integers(1, 256)
        store[k % 50] = rows
        sizes.append(store.nbytes)
    assert sizes[-1] == sizes[120]


def test_vectors_take_what_their_own_level_needs():
    env = NppVectorEnv(len(shipped_level_names()), levels="shipped", observation={"layout": "state"})
    store = StateStore(20, env.num_envs, env.single_observation_space.shape[0])
    states, _ = env.reset(seed=0)
    for step in range(20):
        store[step] = states
        states = env.step(np.full(env.num_envs, 2))[0]
    assert store.nbytes < 0.6 * 20 * states.nbytes


def test_what_is_wrong_is_said():
    store = StateStore(2, 3, 10)
    with pytest.raises(NppError, match=r"\(3, 9\)"):
        store[0] = np.zeros((3, 9), np.uint8)
    with pytest.raises(NppError, match="float32"):
        store[0] = np.zeros((3, 10), np.float32)
    with pytest.raises(NppError, match="at least 1"):
        StateStore(0, 1, 1)


@pytest.mark.parametrize("in_file", [False, True])
def test_memory_does_not_add_up_over_rollouts_of_different_levels(in_file, tmp_path):
    """Each rollout has rows of another length; none keeps the memory of all that were before."""
    store = StateStore(4, 200, 4096, tmp_path if in_file else None)
    sizes = []
    for length in range(128, 4096, 128):
        rows = np.zeros((200, 4096), np.uint8)
        rows[:, :length] = 1 + np.arange(200)[:, None] % 250
        store.clear()
        for step in range(4):
            store[step] = rows
        sizes.append(store.nbytes / (4 * 200 * length))
        assert (store[3] == rows).all()
    # Two rollouts' worth at most, and some spare rows in the blocks that are not in use.
    assert max(sizes[8:]) < 3.2


def test_rows_of_every_length_share_few_blocks():
    """As those of evil ninjas, whose past grows with every tick."""
    store = StateStore(8, 250, 8000)
    rows = np.zeros((250, 8000), np.uint8)
    for step in range(8):
        for number in range(250):
            rows[number, : 32 * number + 4 * step] = 1
        store[step] = rows
        assert (store[step] == rows).all()
    assert len(store._blocks) <= 80
    lengths = [32 * number + 4 * step for step in range(8) for number in range(250)]
    held = sum(block.used_rows().nbytes for block in store._blocks.values())
    assert held == sum(min(stored_bytes(length), 8000) for length in lengths if length)
    assert held < 1.07 * sum(lengths) + 32 * len(lengths)
