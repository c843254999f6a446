from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

import npp_env
from npp_env.errors import ConfigError, NppError
from npp_env.observe.spec import (
    FRAME_KEYS,
    GRAPH_KEYS,
    OBSERVATION_KEYS,
    ROWS,
    TABLE,
    Capacity,
    Varies,
    observation_spec,
)
from npp_env.observe.writer import find_writers

ALL_KEYS = {"observation": {"keys": OBSERVATION_KEYS, "max_entities": 3}}


def test_names_of_fields_fit_the_shapes():
    for row in TABLE:
        assert not row.fields or observation_spec(row.key, Capacity()).shape[-1] == len(row.fields)
        assert set(row.steadier) <= set(row.fields)
        assert {length for length in row.shape if isinstance(length, str)} <= {entry.name for entry in fields(Capacity)}
    assert [key for key in GRAPH_KEYS if not key.startswith("graph_")] == []
    assert FRAME_KEYS == ("player_frame", "global_view")


@pytest.mark.parametrize("level", ["first_steps/slope", "doors/two_keys"])
def test_keys_change_with_what_the_table_says_and_no_more(level):
    env = npp_env.NppEnv(ALL_KEYS, levels=f"shipped:{level}", max_episode_frames=600)
    first, _ = env.reset(seed=0)
    changed = {key: np.zeros(np.shape(array), np.bool_) for key, array in first.items()}
    for action in np.random.default_rng(0).integers(0, 6, 200):
        observation, _, terminated, truncated, _ = env.step(action)
        for key, array in observation.items():
            changed[key] |= array != first[key]
        if terminated or truncated:
            break
    assert env._episodes.doors_taken(0) == 0, "the test wants one door configuration"
    for key in OBSERVATION_KEYS:
        row = ROWS[key]
        if row.varies is Varies.LEVEL:
            assert not changed[key].any(), key
        elif row.steadier:
            assert not changed[key][..., row.columns(Varies.LEVEL, Varies.DOORS)].any(), key
            assert changed[key][..., row.columns(Varies.PLACE)].any(axis=0).all(), key
            assert changed[key][..., row.columns(Varies.STATE)].any(axis=0).all(), key


def test_a_row_without_a_fitting_writer_is_an_error():
    try:
        with pytest.raises(
            NppError, match=r"'toy' has no writer among the WRITERS of npp_env\.observe\.ninja_features"
        ):
            find_writers([*TABLE, replace(ROWS["game_state"], key="toy")])
        with pytest.raises(NppError, match=r"'game_state' is uint8, but its writer writes 2-byte numbers"):
            find_writers([replace(ROWS["game_state"], dtype=np.dtype(np.uint8))])
        with pytest.raises(NppError, match="at most 16"):
            find_writers([ROWS["game_state"]] * 17)
    finally:
        find_writers(TABLE)


def test_only_what_float16_holds_exactly_can_be_flat():
    for key in OBSERVATION_KEYS:
        config = {"observation": {"keys": [key], "layout": "flat"}}
        if key == "graph_edge_index":
            with pytest.raises(ConfigError, match="float16 cannot hold graph_edge_index"):
                npp_env.NppEnv(config)
        else:
            assert npp_env.NppEnv(config).observation_space.dtype == np.float16
