"""How every kind of entity looks in the picture."""

from __future__ import annotations

import math
from collections.abc import Callable

from npp_env.errors import NppError
from npp_env.level.entity_kinds import SIMULATED_ROWS, EntityKind
from npp_env.render import palette
from npp_env.render.hunter_shapes import chaser_drone, evil_ninja
from npp_env.render.pen import Pen, Point, box_corners
from npp_env.render.shooter_shapes import chaingun_drone, gauss_turret, laser_drone, laser_turret, rocket_turret
from npp_env.render.shown import ABOVE, AMONG, BEHIND, Shown
from npp_env.sim.structs import (
    DOOR_OPEN,
    FACING_DOWN,
    FACING_RIGHT,
    MINE_ARMED,
    MINE_IDLE,
    SHOVE_LAUNCHED,
    THWUMP_RESTING,
)


def _mine(pen: Pen, shown: Shown) -> None:
    x, y = shown.place
    if shown.flag == MINE_IDLE:
        pen.disc(x, y, 4.0, palette.SHADE)
        pen.ring(x, y, 4.0, palette.MACHINE)
        pen.disc(x, y, 1.2, palette.MACHINE)
        return
    colour = palette.DANGER if shown.flag == MINE_ARMED else palette.WARNING
    for k in range(8):
        cos, sin = math.cos(k * math.pi / 4), math.sin(k * math.pi / 4)
        pen.line((x, y), (x + 6.0 * cos, y + 6.0 * sin), palette.INK, 1)
    pen.disc(x, y, 4.0, palette.INK)
    pen.disc(x, y, 2.0, colour)


def _gold(pen: Pen, shown: Shown) -> None:
    if shown.flag:
        return
    x, y = shown.place
    pen.box(x, y, 4.5, 4.5, palette.GOLD_EDGE)
    pen.box(x, y, 3.4, 3.4, palette.GOLD)
    pen.line((x - 2.0, y + 1.4), (x - 2.0, y - 2.0), palette.PAPER, 1)
    pen.line((x - 2.0, y - 2.0), (x + 1.4, y - 2.0), palette.PAPER, 1)


def _gate(x: float, y: float, half: float, foot: float, shoulder: float) -> list[Point]:
    """A box without its upper corners."""
    return [
        *((x - half, y + foot), (x - half, y - shoulder), (x - shoulder, y - half)),
        *((x + shoulder, y - half), (x + half, y - shoulder), (x + half, y + foot)),
    ]


def _exit(pen: Pen, shown: Shown) -> None:
    x, y = shown.record_place
    is_open = bool(shown.flag)
    pen.polygon(_gate(x, y, 12, 12, 6), palette.GOAL if is_open else palette.MACHINE)
    pen.polygon(_gate(x, y, 9, 10, 5), palette.GOAL_LIGHT if is_open else palette.SHADE)
    if is_open:
        pen.polygon([(x - 5, y + 10), (x - 5, y - 3), (x, y - 7), (x + 5, y - 3), (x + 5, y + 10)], palette.PAPER)
        return
    pen.line((x, y - 8), (x, y + 10), palette.MACHINE, 2)
    pen.disc(x, y + 1, 3.0, palette.MACHINE)
    pen.disc(x, y + 1, 1.4, palette.DANGER)
    switch_x, switch_y = shown.place
    pen.box(switch_x, switch_y, 6.5, 4.5, palette.MACHINE)
    pen.box(switch_x, switch_y, 4.8, 2.8, palette.GOAL)
    pen.box(switch_x, switch_y, 2.0, 1.4, palette.PAPER)


def _door_bar(pen: Pen, shown: Shown, colour: palette.Colour) -> None:
    x, y = shown.record_place
    half = (2.5, 12.0) if shown.is_upright else (12.0, 2.5)
    pen.box(x, y, *half, palette.INK)
    pen.box(x, y, half[0] - 1, half[1] - 1, colour)


def _switch(pen: Pen, x: float, y: float, colour: palette.Colour) -> None:
    pen.box(x, y, 5.0, 5.0, palette.INK)
    pen.box(x, y, 3.8, 3.8, palette.PAPER)
    pen.disc(x, y, 2.4, colour)


def _door(pen: Pen, shown: Shown) -> None:
    if not shown.flag & DOOR_OPEN:
        _door_bar(pen, shown, palette.DOOR)


def _locked_door(pen: Pen, shown: Shown) -> None:
    if shown.flag & DOOR_OPEN:
        return
    _door_bar(pen, shown, palette.LOCKED)
    x, y = shown.record_place
    pen.disc(x, y, 4.0, palette.INK)
    pen.disc(x, y, 2.2, palette.LOCKED)
    _switch(pen, *shown.place, palette.LOCKED)


def _trap_door(pen: Pen, shown: Shown) -> None:
    if not shown.flag & DOOR_OPEN:
        _door_bar(pen, shown, palette.TRAP)
        return
    # An open trap door shows only its two ends.
    x, y = shown.record_place
    tx, ty = (0.0, 11.0) if shown.is_upright else (11.0, 0.0)
    pen.disc(x - tx, y - ty, 1.5, palette.TRAP)
    pen.disc(x + tx, y + ty, 1.5, palette.TRAP)
    _switch(pen, *shown.place, palette.TRAP)


def _oriented(shown: Shown) -> Callable[[float, float], Point]:
    """Maps (along the direction, across it) to the picture."""
    (x, y), (nx, ny) = shown.place, shown.direction
    return lambda along, across: (x + along * nx - across * ny, y + along * ny + across * nx)


def _launch_pad(pen: Pen, shown: Shown) -> None:
    at = _oriented(shown)
    pen.polygon([at(-5, -7), at(-5, 7), at(-1, 7), at(-1, -7)], palette.MACHINE)
    pen.polygon([at(-1, -6), at(-1, 6), at(2, 5), at(2, -5)], palette.SPRING)
    pen.polygon([at(3, -3.5), at(3, 3.5), at(7, 0)], palette.SPRING)


def _one_way(pen: Pen, shown: Shown) -> None:
    at = _oriented(shown)
    pen.polygon([at(-3.5, -12), at(-3.5, 12), at(0, 12), at(0, -12)], palette.ONE_WAY)
    for across in (-8, 0, 8):
        pen.polygon([at(-8, across - 2), at(-8, across + 2), at(-4.5, across)], palette.ONE_WAY)


def _boost_pad(pen: Pen, shown: Shown) -> None:
    x, y = shown.place
    pen.ring(x, y, 7.0, palette.BOOST, 2)
    for dx in (-2.6, 1.0):
        pen.outline([(x + dx, y - 3), (x + dx + 2.6, y), (x + dx, y + 3)], palette.BOOST, 1, closed=False)


def _drone(pen: Pen, shown: Shown) -> None:
    x, y = shown.place
    radius = 7.5 if shown.row["kind"] == EntityKind.ZAP_DRONE else 4.5
    ux, uy = ((1, 0), (0, 1), (-1, 0), (0, -1))[int(shown.mover["turn"]) & 3]
    if radius > 5:
        pulse = radius + 1.4 + 0.8 * math.sin(0.3 * shown.frame)
        pen.ring(x, y, pulse, palette.DANGER, 1)
    pen.disc(x, y, radius, palette.MACHINE)
    eye = radius * 0.45
    pen.disc(x + eye * ux, y + eye * uy, radius * 0.42, palette.DANGER)
    pen.disc(x + eye * ux, y + eye * uy, radius * 0.18, palette.PAPER)


def _floor_guard(pen: Pen, shown: Shown) -> None:
    x, y = shown.place
    pen.polygon(
        [(x - 6, y + 6), (x - 6, y - 1), (x - 3, y - 6), (x + 3, y - 6), (x + 6, y - 1), (x + 6, y + 6)],
        palette.MACHINE,
    )
    pen.box(x, y - 0.5, 4.0, 1.7, palette.DANGER)
    pupil = x + 2.2 * int(shown.mover["phase"])
    pen.box(pupil, y - 0.5, 1.2, 1.7, palette.PAPER)


def _bounce_block(pen: Pen, shown: Shown) -> None:
    x, y = shown.place
    pen.box(x, y, 9.0, 9.0, palette.SHADE)
    pen.box(x, y, 7.5, 7.5, palette.BLOCK)
    pen.outline(
        [(x - 4, y + 2), (x - 2, y - 2), (x, y + 2), (x + 2, y - 2), (x + 4, y + 2)],
        palette.SHADE,
        1,
        closed=False,
    )


def _thwump(pen: Pen, shown: Shown) -> None:
    x, y = shown.place
    orientation = int(shown.row["orientation"])
    sign = 1 if orientation in (FACING_RIGHT, FACING_DOWN) else -1
    ux, uy = (sign, 0) if shown.is_upright else (0, sign)
    pen.box(x, y, 9.0, 9.0, palette.MACHINE)
    pen.box(x, y, 6.5, 6.5, palette.SHADE)
    pen.box(x + 9.0 * ux, y + 9.0 * uy, 2.0 if ux else 8.0, 2.0 if uy else 8.0, palette.DANGER)
    awake = int(shown.mover["phase"]) != THWUMP_RESTING
    for side in (-1, 1):
        eye_x, eye_y = x + 2.0 * ux + 3.0 * side * abs(uy), y + 2.0 * uy + 3.0 * side * abs(ux)
        pen.disc(eye_x, eye_y, 1.8, palette.DANGER if awake else palette.INK)


def _shove_thwump(pen: Pen, shown: Shown) -> None:
    x, y = shown.place
    launched = int(shown.mover["phase"]) >= SHOVE_LAUNCHED
    if not launched:
        pen.box(x, y, 12.0, 12.0, palette.MACHINE)
        pen.box(x, y, 10.0, 10.0, palette.SHADE)
    else:
        pen.outline(box_corners(x, y, 11.0, 11.0), palette.SHADE, 1)
    pen.disc(x, y, 8.0, palette.MACHINE)
    pen.disc(x, y, 5.0, palette.DANGER if launched else palette.WARNING)
    pen.disc(x, y, 2.0, palette.PAPER)


def _death_ball(pen: Pen, shown: Shown) -> None:
    x, y = shown.place
    pen.disc(x, y, 8.0, palette.DANGER_DARK)
    pen.ring(x, y, 6.0, palette.DANGER, 1)
    pen.disc(x, y, 3.0 + 0.6 * math.sin(0.2 * shown.frame), palette.DANGER)


SHAPES: dict[int, tuple[int, Callable[[Pen, Shown], None]]] = {
    EntityKind.MINE: (AMONG, _mine),
    EntityKind.GOLD: (BEHIND, _gold),
    EntityKind.EXIT: (BEHIND, _exit),
    EntityKind.DOOR: (AMONG, _door),
    EntityKind.LOCKED_DOOR: (AMONG, _locked_door),
    EntityKind.TRAP_DOOR: (AMONG, _trap_door),
    EntityKind.LAUNCH_PAD: (BEHIND, _launch_pad),
    EntityKind.ONE_WAY: (BEHIND, _one_way),
    EntityKind.CHAINGUN_DRONE: (ABOVE, chaingun_drone),
    EntityKind.CHASER_DRONE: (AMONG, chaser_drone),
    EntityKind.LASER_DRONE: (ABOVE, laser_drone),
    EntityKind.ZAP_DRONE: (AMONG, _drone),
    EntityKind.FLOOR_GUARD: (AMONG, _floor_guard),
    EntityKind.BOUNCE_BLOCK: (AMONG, _bounce_block),
    EntityKind.ROCKET_TURRET: (ABOVE, rocket_turret),
    EntityKind.GAUSS_TURRET: (ABOVE, gauss_turret),
    EntityKind.THWUMP: (AMONG, _thwump),
    EntityKind.TOGGLE_MINE: (AMONG, _mine),
    EntityKind.EVIL_NINJA: (AMONG, evil_ninja),
    EntityKind.LASER_TURRET: (ABOVE, laser_turret),
    EntityKind.BOOST_PAD: (BEHIND, _boost_pad),
    EntityKind.DEATH_BALL: (AMONG, _death_ball),
    EntityKind.MINI_DRONE: (AMONG, _drone),
    EntityKind.SHOVE_THWUMP: (AMONG, _shove_thwump),
}
"""Layer and drawing of every kind that the physics knows."""

if set(SHAPES) != set(SIMULATED_ROWS):
    raise NppError(f"kinds without a drawing, or drawings without a row: {set(SHAPES) ^ set(SIMULATED_ROWS)}")
