"""Rows of states in any order and place decode to what the environment returned."""

from __future__ import annotations

import numpy as np
import pytest

from . import frames as reference
from .layout_moments import KEYS, SIZES, assert_rows, decoder, moments, shuffled, stacked
from .scene import scene_of


@pytest.mark.parametrize("key", KEYS)
def test_mixed_rows_decode_to_what_the_environment_returned(key):
    wanted = shuffled(1)
    assert {moment.number for moment in wanted} == {0, 1, 2, 3}
    assert {moment.limit for moment in wanted} == {0, 90, 400}
    assert_rows(decoder((key,)).decode(stacked(wanted)), wanted, (key,))


def test_decoded_rows_are_those_of_their_states():
    # By the state alone: place, velocity, time and gold that are left, and the picture.
    wanted = shuffled(2, 40)
    decoded = decoder().decode(stacked(wanted))
    for i, moment in enumerate(wanted):
        scene = scene_of(moment.level, moment.vector[40:].tobytes())
        numbers = decoded["game_state"][i]
        assert numbers[0] == pytest.approx(scene.ninja.x / 528 - 1, abs=2**-11)
        assert numbers[1] == pytest.approx(scene.ninja.y / 300 - 1, abs=2**-11)
        assert numbers[4] == pytest.approx(scene.ninja.vx / 12, abs=2**-11)
        left = 1 - scene.ninja.frame / moment.limit if moment.limit else 1.0
        assert numbers[31] == pytest.approx(max(left, 0), abs=2**-11)
        gold = scene.of_kind(2)
        share = sum(not piece.taken for piece in gold) / len(gold) if gold else 0.0
        assert numbers[33] == pytest.approx(share, abs=2**-11)
        picture, edge = reference.player_frame(scene)
        assert (np.abs(decoded["player_frame"][i, ..., 0] - picture) <= edge).all()
        here = np.flatnonzero(decoded["graph_node_feats"][i, :, 7])
        assert len(here) <= 1
        nodes = decoded["graph_node_feats"][i].astype(float)[decoded["graph_node_mask"][i] == 1]
        assert nodes[:, 2] * 1056 == pytest.approx((nodes[:, 0] + 1) * 528 - scene.ninja.x, abs=1.5)
        assert nodes[:, 3] * 600 == pytest.approx((nodes[:, 1] + 1) * 300 - scene.ninja.y, abs=1.5)


def test_doors_and_exit_switch_were_met_in_several_configurations():
    doors = {(m.number, *m.observation["switch_states"][4::5].tolist()) for m in moments() if m.number == 0}
    assert len(doors) >= 4
    distances = {m.observation["graph_node_feats"][:, 5].tobytes() for m in moments() if m.number == 0}
    assert len(distances) >= 3


@pytest.mark.parametrize(("kept", "threads"), [(1, 1), (2, 2), (128, 1)])
def test_memory_that_is_used_again_holds_no_old_rows(kept, threads):
    reader = decoder(kept_sources=kept, num_threads=threads)
    batch = reader.allocate(24)
    for round_number, size in enumerate((24, 5, 24, 1, 17, 24)):
        wanted = shuffled(100 + round_number, size)
        assert_rows(reader.decode(stacked(wanted), out=batch), wanted)
    # The same level in other doors, and other levels, take turns in the same row.
    for first in range(6):
        wanted = list(moments())[first::7][:24]
        assert_rows(reader.decode(stacked(wanted), out=batch), wanted)
        assert_rows(reader.decode(stacked(wanted[::-1]), out=batch), wanted[::-1])


def test_own_arrays_are_written_all_over():
    reader = decoder()
    out = {key: np.full((15, *shape), 77, dtype) for key, (shape, dtype) in SIZES.items()}
    for seed in range(3):
        wanted = shuffled(200 + seed, 15)
        assert reader.decode(stacked(wanted), out=out)["game_state"] is out["game_state"]
        assert_rows(out, wanted)
        for array in out.values():
            array.fill(9)


def test_indices_choose_rows():
    rows = stacked(list(moments()))
    for seed in range(3):
        chosen = np.random.default_rng(seed).integers(0, len(rows), 20)
        chosen[7] = chosen[3]
        assert_rows(decoder().decode(rows, indices=chosen), [moments()[i] for i in chosen])
    pairs = chosen.reshape(4, 5)
    decoded = decoder(("game_state",)).decode(rows, indices=pairs)["game_state"]
    assert decoded.shape == (4, 5, 34)
    assert decoded[2, 3].tobytes() == moments()[pairs[2, 3]].observation["game_state"].tobytes()


def test_rows_wherever_they_lie_in_memory():
    wanted = shuffled(300, 12)
    rows, keys = stacked(wanted), ("game_state", "player_frame", "graph_node_feats", "reachability_features")
    wider = np.full((12, rows.shape[1] + 16), 200, np.uint8)
    wider[:, 8:-8] = rows
    odd = np.zeros(rows.size + 3, np.uint8)[3:].reshape(rows.shape)
    odd[:] = rows
    reader = decoder(keys)
    for view, order in ((wider[:, 8:-8], 1), (odd, 1), (np.asfortranarray(rows), 1), (rows[::-1], -1)):
        assert_rows(reader.decode(view), wanted[::order], keys)


def test_blank_rows_are_zeros_between_others():
    wanted = shuffled(400, 10)
    reader = decoder(blank_rows=True)
    batch = reader.allocate(10)
    for blank in ((0, 4), (4, 9), (1,)):
        rows = stacked(wanted)
        rows[list(blank)] = 0
        decoded = reader.decode(rows, out=batch)
        for key in KEYS:
            for i, moment in enumerate(wanted):
                expected = bytes(moment.observation[key].nbytes) if i in blank else moment.observation[key].tobytes()
                assert decoded[key][i].tobytes() == expected, key
