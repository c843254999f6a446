"""Faults planted in the reference of the frames are seen: the comparison compares."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from npp_env.sim.simulation import Simulation

from . import frames as reference
from . import tile_shapes
from .frame_scenes import Case, dead_ninja, room
from .test_frames import assert_frames, crowded


def shifted_by_a_pixel(monkeypatch):
    right = reference.Camera.place
    monkeypatch.setattr(reference.Camera, "place", lambda self, x, y: np.add(right(self, x, y), (1, 0)))


def camera_off_by_one(monkeypatch):
    right = reference.player_camera
    monkeypatch.setattr(
        reference, "player_camera", lambda scene: dataclasses.replace(right(scene), top=right(scene).top + 1)
    )


def axes_swapped(monkeypatch):
    right = reference.Camera.place
    monkeypatch.setattr(reference.Camera, "place", lambda self, x, y: right(self, y, x))


def _change(monkeypatch, **changes):
    right = reference.shapes_of

    def wrong(scene, entity, detail):
        shapes = right(scene, entity, detail)
        fields = {name: change(getattr(shapes[0], name)) for name, change in changes.items()}
        return [dataclasses.replace(shapes[0], **fields), *shapes[1:]]

    monkeypatch.setattr(reference, "shapes_of", wrong)


def radius_too_large(monkeypatch):
    _change(monkeypatch, radius=lambda radius: radius + 0.25)


def grey_off_by_one(monkeypatch):
    _change(monkeypatch, grey=lambda grey: grey + 1)


def details_below(monkeypatch):
    right = reference.shapes_of
    monkeypatch.setattr(reference, "shapes_of", lambda *arguments: right(*arguments)[::-1])


def order_reversed(monkeypatch):
    right = reference.all_shapes
    monkeypatch.setattr(reference, "all_shapes", lambda *arguments: right(*arguments)[::-1])


def movers_below(monkeypatch):
    monkeypatch.setattr(reference, "MOVERS", (1, 2, 3, 5, 6, 8, 10, 11, 21, 24))


def never_dead(monkeypatch):
    monkeypatch.setattr(reference, "DEAD", 7)


def door_lies(monkeypatch):
    right = reference.door_shape

    def wrong(entity, grey):
        box = right(entity, grey)
        return dataclasses.replace(box, half_width=box.half_height, half_height=box.half_width)

    monkeypatch.setattr(reference, "door_shape", wrong)


def beam_too_short(monkeypatch):
    right = reference.beam_length
    monkeypatch.setattr(reference, "beam_length", lambda *arguments: right(*arguments) - 2)


def tile_mirrored(monkeypatch):
    monkeypatch.setattr(
        tile_shapes, "_CORNERS", {**tile_shapes._CORNERS, 20: tile_shapes._CORNERS[21], 21: tile_shapes._CORNERS[20]}
    )


def beyond_is_empty(monkeypatch):
    right = reference.wall_shares

    def wrong(scene, camera):
        shares = right(scene, camera)
        shares[:, (camera.columns + camera.left < 0)[0]] = 0
        return shares

    monkeypatch.setattr(reference, "wall_shares", wrong)


def _sloped() -> Simulation:
    tiles = np.zeros((23, 42), np.uint8)
    tiles[11, 20:22] = 20, 21
    return Simulation(room(tiles=tiles))


DRONE, LASER, DOOR = Case(14), Case(23), Case(5, "closed")
PLANTED = [
    (shifted_by_a_pixel, DRONE.simulation),
    (camera_off_by_one, DRONE.simulation),
    (axes_swapped, DRONE.simulation),
    (radius_too_large, DRONE.simulation),
    (grey_off_by_one, DRONE.simulation),
    (details_below, DRONE.simulation),
    (order_reversed, lambda: crowded(0)),
    (movers_below, lambda: crowded(0)),
    (never_dead, dead_ninja),
    (door_lies, DOOR.simulation),
    (beam_too_short, LASER.simulation),
    (tile_mirrored, _sloped),
    (beyond_is_empty, lambda: Simulation(room(ninja=(6, 50)))),
]


@pytest.mark.parametrize(("plant", "make"), PLANTED, ids=[plant.__name__ for plant, _ in PLANTED])
def test_planted_fault_is_caught(plant, make, monkeypatch):
    simulation = make()
    assert_frames(simulation)
    tile_shapes.tile_shares.cache_clear()
    plant(monkeypatch)
    try:
        with pytest.raises(AssertionError, match="pixels differ"):
            assert_frames(simulation)
    finally:
        tile_shapes.tile_shares.cache_clear()
