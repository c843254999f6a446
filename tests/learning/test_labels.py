"""Labelled states: a ring in arrays that never grow."""

from __future__ import annotations

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from npp_env.config import EnvironmentConfig
from npp_env.learning.labels import LabelOptions, LabelStore, demonstrated


@given(st.integers(1, 12), st.lists(st.integers(0, 30), max_size=8), st.integers(0, 99))
def test_the_store_keeps_the_newest(capacity, sizes, seed):
    store, kept = LabelStore(capacity, 4, 64), []
    number = 0
    for size in sizes:
        labels = np.arange(number, number + size)
        store.add(np.repeat(labels.astype(np.uint8)[:, None], 4, axis=1), labels)
        kept = [*kept, *labels.tolist()][-capacity:]
        number += size
    assert store.count == len(kept)
    if kept:
        store.draw(np.random.default_rng(seed))
        assert set(store.labels.tolist()) <= set(kept)
        assert (store.rows == store.labels.astype(np.uint8)[:, None]).all()
        again = LabelStore(capacity, 4, 64)
        again.restore(store.arrays())
        again.draw(np.random.default_rng(seed))
        assert again.labels.tolist() == store.labels.tolist()


def test_a_draw_is_uniform_and_allocates_nothing():
    store, random = LabelStore(1000, 2000, 500), np.random.default_rng(0)
    store.add(np.zeros((1000, 2000), np.uint8), np.arange(1000))
    counts = np.zeros(1000)
    for _ in range(200):
        store.draw(random)
        np.add.at(counts, store.labels, 1)
    assert 60 < counts.min() < counts.max() < 150
    tracemalloc.start()
    try:
        store.draw(random)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for _ in range(20):
            store.draw(random)
        assert tracemalloc.get_traced_memory()[1] - before < 4096 < store.rows.nbytes / 100
    finally:
        tracemalloc.stop()


def test_demonstrations_become_labels():
    config = EnvironmentConfig(levels="shipped:first_steps", frame_skip=4)
    found = list(demonstrated(config, LabelOptions(perturbed=1, demo_levels=2), seed=0))
    assert len(found) == 4
    for rows, actions in found:
        assert len(rows) == len(actions)
        assert actions.max() < 6
    assert {int(rows[0, 4]) for rows, _ in found} == {0, 3}
