"""What is not simulated, in pictures for people and in frames for policies."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from npp_env import NppEnv
from npp_env.level import Level
from npp_env.render import palette
from npp_env.render.picture import draw_rgb
from npp_env.sim import Simulation

RECORDS = [(0, 20, 82, 0, 0), (3, 150, 82, 0, 0), (4, 130, 82, 0, 0)]


def picture(*extra: tuple[int, ...]) -> np.ndarray:
    tiles = np.zeros((23, 42), np.uint8)
    tiles[20:] = 1
    simulation = Simulation(Level.from_parts(tiles, [*RECORDS, *extra]))
    return draw_rgb(simulation.level, simulation.geometry, simulation.state)


@pytest.mark.parametrize("kind", [27, 29, 255])
def test_it_is_a_dashed_box_with_its_number(kind):
    plain, drawn = picture(), picture((kind, 60, 40, 0, 0))
    different = np.argwhere((plain != drawn).any(axis=2))
    assert different.min(axis=0).tolist() == pytest.approx([240 - 11, 360 - 11], abs=1)
    assert different.max(axis=0).tolist() == pytest.approx([240 + 11, 360 + 11], abs=1)
    # Along the upper edge line and gap take turns.
    edge = np.abs(drawn[228:231, 350:371].astype(int) - plain[228:231, 350:371]).sum(axis=(0, 2)) > 100
    assert np.count_nonzero(np.diff(edge.astype(int))) >= 4
    inside = (drawn[234:247, 352:370] != plain[234:247, 352:370]).any(axis=2)
    assert np.count_nonzero(inside) > 10


def test_different_types_look_different():
    one, other = picture((29, 60, 40, 0, 0)), picture((30, 60, 40, 0, 0))
    assert (one[234:247, 349:372] != other[234:247, 349:372]).any()


def test_nothing_else_has_its_colour():
    colours = {name: value for name, value in vars(palette).items() if isinstance(value, tuple)}
    assert [name for name, value in colours.items() if value == palette.UNKNOWN] == ["UNKNOWN"]


def test_far_outside_and_in_great_numbers():
    assert (picture((200, 255, 255, 0, 0)) == picture()).all()
    picture(*[(100 + k % 100, k % 170, k // 170, 0, 0) for k in range(3000)])


def test_policies_do_not_see_it():
    frames = []
    for extra in ((), ((77, 24, 80, 0, 0),)):
        level = Level.from_parts(np.zeros((23, 42), np.uint8), [*RECORDS, *extra])
        keys = ("player_frame", "global_view", "entity_states")
        env = NppEnv(levels=[Level.from_parts(level.tiles, RECORDS)], observation={"keys": keys})
        with pytest.warns(UserWarning, match="entity 77") if extra else contextlib.nullcontext():
            frames.append(env.reset(seed=0, options={"level": level})[0])
    for key in frames[0]:
        assert (frames[0][key] == frames[1][key]).all()
