"""How what hunts the ninja looks in the picture: chasers, and evil ninjas on its own path."""

from __future__ import annotations

import math

import numpy as np

from npp_env.level.entity_kinds import EVIL_NINJA_DELAY_TICKS
from npp_env.render import palette
from npp_env.render.ninja_pose import draw_ninja
from npp_env.render.pen import Pen, Point
from npp_env.render.shown import Shown
from npp_env.sim.outcome import NinjaState
from npp_env.sim.structs import CHASER_CHASING, FOLLOWER_ACTIVE, FOLLOWER_ASLEEP, NINJA

_COMPASS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def chaser_drone(pen: Pen, shown: Shown) -> None:
    """A drone with jaws towards where it flies, wide open and with streaks behind it while it chases."""
    x, y = shown.place
    ux, uy = _COMPASS[int(shown.mover["turn"]) & 3]
    chasing = int(shown.mover["phase"]) == CHASER_CHASING

    def at(along: float, across: float) -> Point:
        return x + along * ux - across * uy, y + along * uy + across * ux

    if chasing:
        for across in (-5, 0, 5):
            pen.line(at(-10, across), at(-18 - shown.frame % 4, across), palette.DANGER, 1)
    pen.disc(x, y, 7.5, palette.MACHINE)
    gape = 5.0 if chasing else 2.0
    pen.polygon([at(0, 0), at(9, -gape), at(9, gape)], palette.DANGER if chasing else palette.DANGER_DARK)
    for side in (-1, 1):
        pen.disc(*at(-2, 3 * side), 1.7, palette.WARNING if chasing else palette.PAPER)


def evil_ninja(pen: Pen, shown: Shown) -> None:
    """A dark ninja; pale while it waits, and gliding to where it will start before it becomes deadly."""
    phase = int(shown.mover["phase"])
    x, y = shown.place
    if phase == FOLLOWER_ASLEEP:
        pen.ring(x, y, 10.0 + 0.8 * math.sin(0.15 * shown.frame), palette.SHADE)
        _figure(pen, shown, (x, y), palette.DANGER_DARK, palette.INK)
    elif phase == FOLLOWER_ACTIVE:
        pen.ring(x, y, 11.0, palette.DANGER, 1.5)
        _figure(pen, shown, (x, y), palette.DANGER_DARK, palette.WARNING)
    else:
        if shown.aim is not None:
            left = (float(shown.mover["v"]) - shown.frame) / EVIL_NINJA_DELAY_TICKS
            share = 1 - min(max(left, 0.0), 1.0)
            pen.ring(*shown.aim, 10.0, palette.DANGER, 1.0)
            x, y = x + share * (shown.aim[0] - x), y + share * (shown.aim[1] - y)
        _figure(pen, shown, (x, y), palette.SHADE, palette.SMOKE)


def _figure(pen: Pen, shown: Shown, place: Point, body: palette.Colour, band: palette.Colour) -> None:
    """A ninja that stands where the map puts it, and floats anywhere else."""
    figure = np.zeros((), NINJA)
    figure["x"], figure["y"] = place
    figure["fny"] = -1.0
    figure["frame"] = shown.frame
    figure["state"] = NinjaState.STANDING if int(shown.mover["phase"]) == FOLLOWER_ASLEEP else NinjaState.FALLING
    draw_ninja(pen, figure, body, band)
