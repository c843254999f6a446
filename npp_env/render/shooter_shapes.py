"""How shooters look in the picture: turrets and drones with their aims, beams, bullets and rockets."""

from __future__ import annotations

import math

from npp_env.render import palette
from npp_env.render.pen import Pen, Point
from npp_env.render.shown import Shown
from npp_env.sim.structs import (
    GAUSS_IDLE,
    GAUSS_PREFIRE,
    GAUSS_TARGETING,
    GUN_FIRING,
    GUN_IDLE,
    GUN_POSTFIRE,
    ROCKET_HOMING,
    ROCKET_PREFIRE,
)

_COMPASS = ((1, 0), (0, 1), (-1, 0), (0, -1))
_PUFFS = 6
_PUFF_PX = 6.0


def _unit(a: Point, b: Point) -> Point:
    """Direction from one point to another; to the right if they are the same."""
    length = math.hypot(b[0] - a[0], b[1] - a[1])
    return ((b[0] - a[0]) / length, (b[1] - a[1]) / length) if length > 0 else (1.0, 0.0)


def _beam(pen: Pen, a: Point, b: Point, colour: palette.Colour, width: int) -> None:
    """A thick beam with a bright core, and a spark where it ends."""
    pen.line(a, b, colour, width)
    pen.line(a, b, palette.PAPER, 1)
    pen.disc(*b, 1.0 + width, colour)
    pen.disc(*b, 1.6, palette.PAPER)


def _smoke(pen: Pen, x: float, y: float, way: Point, frame: int) -> None:
    """Puffs behind a rocket, the farther the larger and the fainter."""
    for k in range(_PUFFS, 0, -1):
        back = 5.0 + _PUFF_PX * (k - 1 + (frame % 6) / 6.0)
        drift = 1.2 * math.sin(1.9 * k + 0.4 * frame)
        share = k / (_PUFFS + 1)
        near, far = palette.SMOKE, palette.EMPTY
        colour = tuple(round(a + (b - a) * share) for a, b in zip(near, far, strict=True))
        place = (x - back * way[0] - drift * way[1], y - back * way[1] + drift * way[0])
        pen.disc(*place, 2.0 + 0.6 * k, (colour[0], colour[1], colour[2]))


def _rocket(pen: Pen, shown: Shown) -> None:
    x, y = float(shown.emerged["x"]), float(shown.emerged["y"])
    nx, ny = float(shown.emerged["u"]), float(shown.emerged["v"])

    def at(along: float, across: float) -> Point:
        return x + along * nx - across * ny, y + along * ny + across * nx

    _smoke(pen, x, y, (nx, ny), shown.frame)
    pen.polygon([at(-5, -1.6), at(-5, 1.6), at(-9 - shown.frame % 3, 0)], palette.WARNING)
    pen.polygon([at(-5, -4), at(-5, 4), at(-1, 0)], palette.MACHINE)
    pen.polygon([at(-5, -2), at(-5, 2), at(3, 2), at(3, -2)], palette.INK)
    pen.polygon([at(3, -2), at(3, 2), at(7, 0)], palette.DANGER)


def rocket_turret(pen: Pen, shown: Shown) -> None:
    """A round mount with a warhead in it, which glows before it fires and is empty while the rocket flies."""
    x, y = shown.place
    pen.disc(x, y, 7.0, palette.MACHINE)
    pen.disc(x, y, 4.6, palette.SHADE)
    if shown.flag != ROCKET_HOMING:
        pen.polygon(
            [(x - 2.6, y + 3.2), (x - 2.6, y - 1), (x, y - 4.2), (x + 2.6, y - 1), (x + 2.6, y + 3.2)], palette.INK
        )
        pen.disc(x, y, 1.8, palette.DANGER)
    if shown.flag == ROCKET_PREFIRE:
        pen.ring(x, y, 9.0, palette.WARNING, 2.0)
    if shown.emerged is not None:
        _rocket(pen, shown)


def gauss_turret(pen: Pen, shown: Shown) -> None:
    """A square turret, with a cross where it aims, and its shot in the tick that it is fired."""
    x, y = shown.place
    phase = int(shown.mover["phase"])
    if shown.shot is not None:
        _beam(pen, (x, y), shown.shot, palette.GAUSS, 5)
    pen.polygon([(x, y - 8), (x + 8, y), (x, y + 8), (x - 8, y)], palette.MACHINE)
    pen.disc(x, y, 4.0, palette.SHADE if phase == GAUSS_IDLE else palette.GAUSS)
    pen.disc(x, y, 1.6, palette.PAPER)
    if shown.aim is None or phase not in (GAUSS_TARGETING, GAUSS_PREFIRE):
        return
    fixed = phase == GAUSS_PREFIRE
    colour = palette.DANGER if fixed else palette.GAUSS
    ax, ay = shown.aim
    pen.ring(ax, ay, 6.0 if fixed else 8.0, colour, 2.0 if fixed else 1.2)
    for dx, dy in _COMPASS:
        pen.line((ax + 3 * dx, ay + 3 * dy), (ax + 11 * dx, ay + 11 * dy), colour, 2 if fixed else 1)


def _drone_body(pen: Pen, shown: Shown, colour: palette.Colour) -> None:
    """A round body with two fins, and an eye towards where it flies or shoots."""
    x, y = shown.place
    target = shown.shot or shown.aim
    nx, ny = _unit((x, y), target) if target is not None else _COMPASS[int(shown.mover["turn"]) & 3]
    pen.polygon([(x - 9.5, y - 2.5), (x + 9.5, y - 2.5), (x + 7, y + 2.5), (x - 7, y + 2.5)], palette.SHADE)
    pen.disc(x, y, 7.5, palette.MACHINE)
    pen.line((x + 3 * nx, y + 3 * ny), (x + 10 * nx, y + 10 * ny), palette.INK, 3)
    pen.disc(x, y, 3.6, colour)
    pen.disc(x, y, 1.4, palette.PAPER)


def _lamp(phase: int) -> palette.Colour:
    """The eye of a drone that looks out, makes ready or fires, or recovers."""
    return {GUN_IDLE: palette.SHADE, GUN_POSTFIRE: palette.DANGER_DARK}.get(phase, palette.DANGER)


def chaingun_drone(pen: Pen, shown: Shown) -> None:
    """A drone with a double barrel; each bullet leaves a tracer in its tick."""
    x, y = shown.place
    if shown.shot is not None:
        nx, ny = _unit((x, y), shown.shot)
        pen.line((x, y), shown.shot, palette.TRACER, 2)
        pen.disc(x + 11 * nx, y + 11 * ny, 3.4, palette.TRACER)
        pen.disc(*shown.shot, 2.4, palette.WARNING)
    _drone_body(pen, shown, _lamp(int(shown.mover["phase"])))
    for across in (-4, 4):
        pen.disc(x + across, y + 6.5, 1.6, palette.INK)


def laser_drone(pen: Pen, shown: Shown) -> None:
    """A drone with a lens; a thin line shows where it will fire, a thick one that it does."""
    place = shown.place
    if shown.shot is not None:
        _beam(pen, place, shown.shot, palette.BEAM, 5)
    elif shown.aim is not None:
        pen.line(place, shown.aim, palette.BEAM_FAINT, 1)
    _drone_body(
        pen, shown, palette.BEAM if int(shown.mover["phase"]) == GUN_FIRING else _lamp(int(shown.mover["phase"]))
    )
    pen.ring(*place, 5.4, palette.BEAM, 1.0)


def laser_turret(pen: Pen, shown: Shown) -> None:
    """A turret with its beam."""
    x, y = shown.place
    if shown.shot is not None:
        pen.line((x, y), shown.shot, palette.BEAM, 1)
        pen.disc(*shown.shot, 2.2, palette.BEAM)
    angle = float(shown.mover["u"])
    cos, sin = (math.cos(angle), math.sin(angle)) if math.isfinite(angle) else (1.0, 0.0)
    pen.line((x, y), (x + 8.0 * cos, y + 8.0 * sin), palette.INK, 3)
    pen.disc(x, y, 5.9, palette.MACHINE)
    pen.disc(x, y, 2.6, palette.BEAM)
