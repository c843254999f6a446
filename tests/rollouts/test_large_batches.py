"""Batches of graphs that no cache holds, and the order that writes least of them."""

from __future__ import annotations

import numpy as np
import pytest

from npp_env.errors import NppError
from npp_env.level.level_set import LevelSet
from npp_env.observe.spec import DEFAULT_KEYS, GRAPH_KEYS
from npp_env.observe.state_row import STATE_ROW
from npp_env.rollouts.decoder import ObservationDecoder
from rollouts.test_decoder import assert_same, play


def many_states(levels: LevelSet, count: int) -> np.ndarray:
    """Rows of random play, in random order."""
    states = play(levels, 5, count // 16, num_envs=16, keys=DEFAULT_KEYS)[0].reshape(count, -1)
    return np.random.default_rng(0).permutation(states)


def test_batches_too_large_for_the_caches_are_the_same():
    levels = LevelSet.parse("shipped:long_routes")
    states = many_states(levels, 64)
    decoder = ObservationDecoder(levels=levels, keys=GRAPH_KEYS)
    one, many = decoder.allocate(1), decoder.allocate(64)
    # The caller's own arrays, none of which begins at a whole line of the cache.
    own = {}
    for key, space in decoder.space().items():
        room = np.empty(2 + 64 * int(np.prod(space.shape)) * space.dtype.itemsize, np.uint8)
        own[key] = room[2:].view(space.dtype).reshape(64, *space.shape)
    for out in (own, many, many):
        decoded = decoder.decode(states, out=out)
        for i, state in enumerate(states):
            assert_same(decoder.decode(state[None], out=one), decoded, slice(i, i + 1))


def test_arranged_batches_find_their_levels_where_they_were():
    levels = LevelSet.parse("shipped:first_steps")
    states = many_states(levels, 192)
    decoder = ObservationDecoder(levels=levels, keys=(*GRAPH_KEYS, "game_state"))
    number = states[:, : STATE_ROW.itemsize].view(STATE_ROW)["level_index"][:, 0]
    batch = decoder.allocate(64)
    held = np.full(64, -1)
    for indices in np.arange(192).reshape(3, 64):
        arranged = decoder.arranged(states, batch, indices)
        assert sorted(arranged) == indices.tolist()
        common = sum(min(np.sum(held == level), np.sum(number[indices] == level)) for level in range(len(levels)))
        assert np.sum(held == number[arranged]) == common
        assert_same(decoder.decode(states, batch, arranged), decoder.decode(states, indices=arranged))
        held = number[arranged]
    for wrong in (np.arange(65), np.arange(8).reshape(2, 4)):
        with pytest.raises(NppError, match="at most 64 in a row"):
            decoder.arranged(states, batch, wrong)
