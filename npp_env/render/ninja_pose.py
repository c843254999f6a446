"""How the ninja stands, runs, jumps, slides, falls dead or celebrates, as joints of a stick figure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from npp_env.render.palette import DANGER, HEADBAND, NINJA, Colour
from npp_env.render.pen import Pen, Point
from npp_env.sim.outcome import NinjaState

_UPPER_ARM, _LOWER_ARM = 4.2, 4.0
_THIGH, _SHIN = 5.0, 5.0
_TORSO = 5.4
_HEAD_RADIUS = 2.9
_STRIDE_PX = 7.0
_FAR_PX = 4000.0
_FAST_PX = 30.0
_SOLE_PX = 9.2
"""From the centre to the end of a planted leg; half a line's width is missing to the radius of 10."""


@dataclass(frozen=True, slots=True)
class Pose:
    """Angles of a figure in radians: 0 hangs down along the body, positive swings forward.

    Attributes:
        lean: Of the whole figure, forward.
        hip: Height of the hip above the centre, along the body.
        arms: Shoulder and elbow of the two arms; elbows bend forward.
        legs: Hip and knee of the two legs; knees bend backward.
        planted: Whether the figure stands on its lower foot, whatever `hip` says.
    """

    lean: float
    hip: float
    arms: tuple[tuple[float, float], tuple[float, float]]
    legs: tuple[tuple[float, float], tuple[float, float]]
    planted: bool = False


def choose_pose(ninja: Any) -> tuple[Pose, int, Point]:
    """Pose, facing (+1 right) and upward direction of a ninja (a `NINJA` scalar)."""
    state, frame = int(ninja["state"]), int(ninja["frame"])
    vx, vy = _bounded(ninja["vx"], _FAST_PX), _bounded(ninja["vy"], _FAST_PX)
    facing = _facing(ninja)
    upright = (0.0, -1.0)
    floor = (_bounded(ninja["fnx"], 1.0), _bounded(ninja["fny"], 1.0))
    grounded = floor if abs(math.hypot(*floor) - 1) < 0.01 else upright
    if state == NinjaState.RUNNING:
        return _running(_bounded(ninja["x"], _FAR_PX) * facing / _STRIDE_PX, abs(vx)), facing, grounded
    if state == NinjaState.SKIDDING:
        braking = Pose(-0.35, 0.0, ((0.9, 0.5), (-0.7, 0.3)), ((0.75, 0.25), (0.25, 0.7)), True)
        return braking, facing, grounded
    if state == NinjaState.RISING:
        tuck = min(max(-vy / 3.0, 0.0), 1.0)
        lean = 0.12 * min(abs(vx), 3.0)
        jumping = Pose(lean, 1.0, ((2.4, 0.4), (-0.9, 0.5)), ((0.3 + 0.9 * tuck, 1.5), (-0.35, 0.5)))
        return jumping, facing, upright
    if state == NinjaState.FALLING:
        spread = min(max(vy / 4.0, 0.0), 1.0)
        arm = 1.4 + 1.1 * spread
        falling = Pose(0.05 * min(abs(vx), 3.0), 0.5, ((arm, 0.5), (-arm, -0.5)), ((0.55, 0.9), (-0.25, 0.8)))
        return falling, facing, upright
    if state == NinjaState.SLIDING:
        gripping = Pose(-0.15, 0.0, ((2.3, 0.5), (1.2, 0.9)), ((1.35, 1.7), (0.45, 1.0)))
        return gripping, -1 if float(ninja["wn"]) > 0 else 1, upright
    if state in (NinjaState.DEAD, NinjaState.DOOMED):
        flung = Pose(-1.9, -1.0, ((2.6, 0.6), (-1.5, 0.8)), ((0.9, 0.4), (-0.6, 1.2)))
        return flung, facing, upright
    if state == NinjaState.CELEBRATING:
        wave = math.sin(frame * 0.25)
        bend = 0.25 + 0.25 * abs(wave)
        cheer = ((2.4 + 0.25 * wave, 0.25), (-2.4 + 0.25 * wave, -0.25))
        cheering = Pose(0.0, 0.0, cheer, ((bend, 2 * bend), (-0.1, 0.3)), planted=not ninja["air"])
        return cheering, facing, upright
    breath = 0.06 * math.sin(frame * 0.08)
    return (
        Pose(0.05, 0.0, ((0.35 + breath, 0.5), (-0.3, 0.25)), ((0.3, 0.25), (-0.25, 0.2))),
        facing,
        grounded,
    )


def _bounded(value: Any, limit: float) -> float:
    """A number that can be drawn, whatever a state holds."""
    number = float(value)
    return min(max(number, -limit), limit) if number == number else 0.0


def _facing(ninja: Any) -> int:
    vx, h = _bounded(ninja["vx"], _FAST_PX), int(ninja["h"])
    if abs(vx) > 0.05:
        return 1 if vx > 0 else -1
    return -1 if h < 0 else 1


def _running(phase: float, speed: float) -> Pose:
    swing = min(0.35 + speed * 0.22, 1.0)
    first, second = math.sin(phase), -math.sin(phase)
    lift, other_lift = math.cos(phase), -math.cos(phase)
    legs = (
        (swing * first + 0.15, 0.35 + 0.75 * max(lift, 0.0)),
        (swing * second + 0.15, 0.35 + 0.75 * max(other_lift, 0.0)),
    )
    arms = ((swing * second, 1.1), (swing * first, 1.1))
    return Pose(0.12 + 0.06 * min(speed, 4.0), 0.0, arms, legs, planted=True)


def draw_ninja(pen: Pen, ninja: Any, body_colour: Colour = NINJA, band_colour: Colour = HEADBAND) -> None:
    """Draw a ninja (a `NINJA` scalar) where it is."""
    x, y = float(ninja["x"]), float(ninja["y"])
    if not (abs(x) < _FAR_PX and abs(y) < _FAR_PX):
        return
    if int(ninja["state"]) == NinjaState.DEAD:
        _draw_burst(pen, x, y)
    figure = strokes(ninja)
    for is_band, colour in ((False, body_colour), (True, band_colour)):
        pen.brush((x, y), [(stroke.points, stroke.width) for stroke in figure if stroke.is_band is is_band], colour)


class Stroke(NamedTuple):
    """A line through points relative to the ninja's centre, in pixels."""

    points: list[Point]
    width: float
    is_band: bool = False


def strokes(ninja: Any) -> list[Stroke]:
    """The figure of a ninja as lines; the head is a very thick one."""
    pose, facing, (ux, uy) = choose_pose(ninja)

    def place(forward: float, up: float) -> Point:
        # Forward is across the body's upward direction, to the side that it faces.
        return facing * forward * -uy + ux * up, facing * forward * ux + uy * up

    def limb(start: Point, angle: float, length: float) -> Point:
        return start[0] + length * math.sin(angle), start[1] - length * math.cos(angle)

    def along_body(start: Point, length: float) -> Point:
        return start[0] + length * math.sin(pose.lean), start[1] + length * math.cos(pose.lean)

    def leg(hip: Point, angle: float, bend: float) -> tuple[Point, Point]:
        knee = limb(hip, angle - 0.5 * pose.lean, _THIGH)
        return knee, limb(knee, angle - bend - 0.5 * pose.lean, _SHIN)

    hip = (-0.5 * math.sin(pose.lean), pose.hip - 0.4)
    if pose.planted:
        lowest = min(leg(hip, *angles)[1][1] for angles in pose.legs)
        hip = (hip[0], hip[1] - lowest - _SOLE_PX)
    shoulder = along_body(hip, _TORSO)
    head = along_body(shoulder, _HEAD_RADIUS + 0.4)
    figure = []
    for angle, bend in pose.legs:
        knee, foot = leg(hip, angle, bend)
        figure.append(Stroke([place(*hip), place(*knee), place(*foot)], 1.9))
    for angle, bend in pose.arms:
        elbow = limb(shoulder, angle - pose.lean, _UPPER_ARM)
        hand = limb(elbow, angle + bend - pose.lean, _LOWER_ARM)
        figure.append(Stroke([place(*shoulder), place(*elbow), place(*hand)], 1.7))
    figure.append(Stroke([place(*hip), place(*shoulder)], 2.6))
    figure.append(Stroke([place(*head), place(*head)], 2 * _HEAD_RADIUS))
    front = (head[0] + _HEAD_RADIUS * 0.95, head[1] + 0.7)
    back = (head[0] - _HEAD_RADIUS * 0.95, head[1] + 0.7)
    tail = (back[0] - 3.0, back[1] + 0.4 + 0.8 * math.sin(0.4 * int(ninja["frame"])))
    figure.append(Stroke([place(*front), place(*back), place(*tail)], 1.2, is_band=True))
    return figure


def _draw_burst(pen: Pen, x: float, y: float) -> None:
    """Short rays around a dead ninja."""
    for k in range(10):
        angle = 2 * math.pi * (k + 0.3) / 10
        inner, outer = (11.0, 15.0) if k % 2 else (12.0, 18.0)
        cos, sin = math.cos(angle), math.sin(angle)
        pen.line((x + inner * cos, y + inner * sin), (x + outer * cos, y + outer * sin), DANGER, 1)
